// SPDX-License-Identifier: GPL-2.0-or-later
/* What samples stand for, added up. */
#include "analyse/sampler_state.h"

#include "analyse/attribute.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int add_answer(
	struct loci_sample_hists *hists, const struct loci_windowed_answer *answer, double weight)
{
	switch (answer->kind) {
	case LOCI_WINDOWED_REUSE:
		return loci_hist_add(&hists->distance, answer->distance, weight);
	case LOCI_WINDOWED_LOST:
		hists->distance.coherence += weight;
		return 0;
	case LOCI_WINDOWED_AT_LEAST:
		hists->distance.cold += weight;
		return loci_hist_add(&hists->at_least, answer->distance, weight);
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

/* A distance is the reuse's, as where all are measured; what is never reused is the sample's. */
static bool is_by(const struct loci_windowed_answer *answer)
{
	return answer->kind == LOCI_WINDOWED_REUSE || answer->kind == LOCI_WINDOWED_LOST;
}

static int credit(struct loci_attribution *a, const struct loci_sampler_taken *taken,
	const struct loci_windowed_answer *answer, uint64_t refs, uint64_t touches)
{
	uint32_t row = is_by(answer) ? loci_use_row(answer->by) : taken->row;
	uint32_t context = is_by(answer) ? loci_use_context(answer->by) : taken->context;
	unsigned bin = bin_of(answer);

	a->rows.row[taken->row].refs += refs;
	a->walk.contexts.node[taken->context].refs += refs;
	if (loci_spread_add(&a->measure.rows, row, bin, touches) < 0)
		return -ENOMEM;
	return loci_spread_add(&a->measure.contexts, context, bin, touches);
}

static int credit_private(struct loci_sampler_private *p, const struct loci_sampler_taken *taken,
	const struct loci_windowed_answer *answer, uint64_t touches)
{
	uint32_t row = is_by(answer) ? loci_use_row(answer->by) : taken->row;

	if (!p->met)
		return 0;
	if (answer->kind != LOCI_WINDOWED_LOST)
		return loci_spread_add(&p->rows, row, bin_of(answer), touches);
	*(answer->is_false ? &p->met[row].false_sharing : &p->met[row].true_sharing) += touches;
	return 0;
}

static int add_outcome(struct loci_sampler *s, struct loci_attribution *a,
	const struct loci_windowed_outcome *outcome, double scale, struct loci_sample_sum *sum)
{
	const struct loci_sampler_taken *taken = &s->taken[outcome->tag];
	double refs = scale * (double)taken->mean, weight = refs * (double)taken->blocks;

	sum->samples++;
	if (sum->last_mean < taken->mean)
		sum->last_mean = taken->mean;
	sum->pruned += outcome->shared.kind == LOCI_WINDOWED_AT_LEAST ||
		outcome->private_.kind == LOCI_WINDOWED_AT_LEAST;
	sum->weight += weight;
	sum->square += weight * weight;
	sum->touches += weight;
	sum->writes += taken->is_write ? weight : 0;
	sum->straddles += taken->straddles ? refs : 0;
	if (add_answer(&sum->shared, &outcome->shared, weight) < 0 ||
		add_answer(&sum->private_, &outcome->private_, weight) < 0 ||
		add_answer(&sum->thread[outcome->member].private_, &outcome->private_, weight) <
			0 ||
		credit_private(&s->private_, taken, &outcome->private_, (uint64_t)llround(weight)) <
			0)
		return -ENOMEM;
	return credit(
		a, taken, &outcome->shared, (uint64_t)llround(refs), (uint64_t)llround(weight));
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
	const struct loci_windowed_outcome *outcome;
	double all = 0, scale;
	size_t n;

	if (!regular)
		return -ENOMEM;

	outcome = loci_windowed_outcomes(s->windowed, &n);
	for (size_t i = 0; i < n; i++)
		all += (double)s->taken[outcome[i].tag].mean;
	scale = all > 0 ? (double)sum->references / all : 0;
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
	for (size_t i = 0; i < n; i++)
		if (add_outcome(s, a, &outcome[i], scale, sum) < 0)
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
