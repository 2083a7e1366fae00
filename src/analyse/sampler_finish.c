// SPDX-License-Identifier: GPL-2.0-or-later
/* What samples stand for, added up. */
#include "analyse/sampler_state.h"

#include "analyse/attribute.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int add_answer(
	struct loci_sample_hists *hists, const struct loci_sampler_part *part, double scale)
{
	const struct loci_windowed_answer *answer = &part->answer;
	double weight = scale * part->touches, square = scale * scale * part->square;

	switch (answer->kind) {
	case LOCI_WINDOWED_REUSE:
		return loci_hist_add_several(&hists->distance, answer->distance, weight, square);
	case LOCI_WINDOWED_LOST:
		hists->distance.coherence += weight;
		return 0;
	case LOCI_WINDOWED_AT_LEAST:
		hists->distance.cold += weight;
		return loci_hist_add_several(&hists->at_least, answer->distance, weight, square);
	default:
		hists->distance.cold += weight;
		return 0;
	}
}

static unsigned bin_of(const struct loci_windowed_answer *answer)
{
	return answer->kind == LOCI_WINDOWED_REUSE ? loci_spread_bin(answer->distance)
						   : LOCI_SPREAD_COLD;
}

static int credit(struct loci_attribution *a, const struct loci_sampler_part *part, uint64_t refs,
	uint64_t touches)
{
	unsigned bin = bin_of(&part->answer);

	a->rows.row[part->row].refs += refs;
	a->walk.contexts.node[part->context].refs += refs;
	if (loci_spread_add(&a->measure.rows, part->by_row, bin, touches) < 0)
		return -ENOMEM;
	return loci_spread_add(&a->measure.contexts, part->by_context, bin, touches);
}

static int credit_private(
	struct loci_sampler_private *p, const struct loci_sampler_part *part, uint64_t touches)
{
	uint32_t row = part->by_row;

	if (!p->met)
		return 0;
	if (part->answer.kind != LOCI_WINDOWED_LOST)
		return loci_spread_add(&p->rows, row, bin_of(&part->answer), touches);
	*(part->answer.is_false ? &p->met[row].false_sharing : &p->met[row].true_sharing) +=
		touches;
	return 0;
}

static int add_part(struct loci_sampler *s, struct loci_attribution *a,
	const struct loci_sampler_part *part, double scale, struct loci_sample_sum *sum)
{
	uint64_t touches = (uint64_t)llround(scale * part->touches);

	if (!part->is_private) {
		if (add_answer(&sum->shared, part, scale) < 0)
			return -ENOMEM;
		return credit(a, part, (uint64_t)llround(scale * part->refs), touches);
	}
	if (add_answer(&sum->private_, part, scale) < 0 ||
		add_answer(&sum->thread[part->member].private_, part, scale) < 0)
		return -ENOMEM;
	return credit_private(&s->private_, part, touches);
}

static void add_all(
	const struct loci_sampler_parts *parts, double scale, struct loci_sample_sum *sum)
{
	sum->samples += parts->samples;
	sum->pruned += parts->pruned;
	if (sum->last_mean < parts->last_mean)
		sum->last_mean = parts->last_mean;
	sum->weight += scale * parts->touches;
	sum->square += scale * scale * parts->square;
	sum->touches += scale * parts->touches;
	sum->writes += scale * parts->writes;
	sum->straddles += scale * parts->straddles;
}

/* A row's references are those that its samples stand for, and as many of them are regular as were
 * among those seen. */
static double *forget_seen(struct loci_rows *rows)
{
	double *regular = calloc(rows->n ? rows->n : 1, sizeof(*regular));

	for (size_t i = 0; regular && i < rows->n; i++) {
		struct loci_row *row = &rows->row[i];

		if (row->refs)
			regular[i] = (double)row->regular / (double)row->refs;
		row->refs = row->regular = 0;
	}
	return regular;
}

static int add_up(struct loci_sampler *s, struct loci_attribution *a, struct loci_sample_sum *sum)
{
	loci_autofree double *regular = forget_seen(&a->rows);
	const struct loci_sampler_parts *parts = &s->parts;
	double scale;

	if (!regular || loci_sampler_fold(s) < 0)
		return -ENOMEM;
	scale = parts->refs > 0 ? (double)sum->references / parts->refs : 0;
	if (loci_spread_reserve(&a->measure.rows, a->rows.n) < 0 ||
		loci_spread_reserve(&a->measure.contexts, a->walk.contexts.n) < 0 ||
		loci_sample_sum_add_threads(sum, a->walk.n_threads) < 0)
		return -ENOMEM;
	if (sum->threads) {
		s->private_.met = calloc(a->rows.n, sizeof(*s->private_.met));
		if (!s->private_.met || loci_spread_reserve(&s->private_.rows, a->rows.n) < 0)
			return -ENOMEM;
		a->private_ = &s->private_;
	}
	for (size_t i = 0; i < sum->n_threads; i++)
		sum->thread[i].thread = a->walk.thread[i].id;
	add_all(parts, scale, sum);
	for (size_t i = 0; i < parts->n; i++)
		if (add_part(s, a, &parts->part[i], scale, sum) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < a->rows.n; i++)
		a->rows.row[i].regular = (uint64_t)(regular[i] * (double)a->rows.row[i].refs);
	return 0;
}

int loci_sampler_finish(struct loci_sampler *s, struct loci_attribution *a,
	struct loci_sample_sum *sum, struct loci_err *err)
{
	size_t n_threads = 0;

	loci_windowed_finish(s->windowed);
	for (size_t i = 0; i < s->thread_cap; i++) {
		struct loci_sampler_thread *t = &s->thread[i];

		if (t->refs < t->count) /* it was killed before it could say */
			t->refs = t->count;
		sum->references += t->refs;
		n_threads += t->refs > 0;
		loci_sampler_end_window(s, t);
		loci_sampler_forget(s, t);
	}
	loci_sampler_tell_closed(s);
	sum->analysed = s->analysed;
	sum->lost = s->lost;
	sum->unseen = s->unseen;
	sum->threads = n_threads > 1;
	return add_up(s, a, sum) < 0 ? loci_err_nomem(err) : 0;
}

uint64_t loci_sampler_thread_refs(const struct loci_sampler *s, size_t thread)
{
	return thread < s->thread_cap ? s->thread[thread].refs : 0;
}
