// SPDX-License-Identifier: GPL-2.0-or-later
/* What samples stand for, added up. */
#include "analyse/sampler_state.h"

#include "analyse/attribute.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* How much those stand for that chance kept, by the ages at which it did: at each they take over,
 * in equal parts, what those stood for who were dropped there. So all still adds up; in the mean
 * it is twice as much at each age (Kaplan and Meier's estimate, where who is dropped is chance). */
struct standing {
	double factor[LOCI_WINDOWED_AGES + 1];
	bool has_heirs[LOCI_WINDOWED_AGES + 1]; /* otherwise nobody was kept at that age */
};

static void find_standing(
	const struct loci_sampler_parts *parts, bool is_private, struct standing *ret)
{
	double came[LOCI_WINDOWED_AGES + 1] = { 0 }, stayed[LOCI_WINDOWED_AGES + 1] = { 0 };

	for (size_t i = 0; i < parts->n; i++) {
		const struct loci_sampler_part *part = &parts->part[i];
		const struct loci_windowed_answer *answer = &part->answer;

		if (part->is_private != is_private)
			continue;
		for (uint32_t age = 0; age < answer->stayed; age++) {
			came[age] += part->touches;
			stayed[age] += part->touches;
		}
		if (answer->kind == LOCI_WINDOWED_DROPPED)
			came[answer->stayed] += part->touches;
	}
	ret->factor[0] = 1;
	for (uint32_t age = 0; age <= LOCI_WINDOWED_AGES; age++) {
		ret->has_heirs[age] = stayed[age] > 0;
		if (age < LOCI_WINDOWED_AGES)
			ret->factor[age + 1] =
				ret->factor[age] * (stayed[age] > 0 ? came[age] / stayed[age] : 1);
	}
}

/* What a part says, and how much it stands for. */
struct said {
	const struct loci_sampler_part *part;
	enum loci_windowed_kind kind;
	double weight, square;
	uint64_t touches; /* the weight, rounded */
};

static struct said said_by(
	const struct loci_sampler_part *part, const struct standing *standing, double scale)
{
	uint32_t stayed = part->answer.stayed;
	enum loci_windowed_kind kind = part->answer.kind;
	double factor = scale * standing->factor[stayed];

	if (kind == LOCI_WINDOWED_DROPPED) {
		kind = LOCI_WINDOWED_AT_LEAST;
		if (standing->has_heirs[stayed])
			factor = 0;
	}
	return (struct said){ .part = part,
		.kind = kind,
		.weight = factor * part->touches,
		.square = factor * factor * part->square,
		.touches = (uint64_t)llround(factor * part->touches) };
}

static int add_answer(struct loci_sample_hists *hists, const struct said *said)
{
	uint64_t distance = said->part->answer.distance;

	switch (said->kind) {
	case LOCI_WINDOWED_REUSE:
		return loci_hist_add_several(
			&hists->distance, distance, said->weight, said->square);
	case LOCI_WINDOWED_LOST:
		hists->distance.coherence += said->weight;
		return 0;
	case LOCI_WINDOWED_AT_LEAST:
		hists->distance.cold += said->weight;
		return loci_hist_add_several(
			&hists->at_least, distance, said->weight, said->square);
	default:
		hists->distance.cold += said->weight;
		return 0;
	}
}

static unsigned bin_of(const struct said *said)
{
	return said->kind == LOCI_WINDOWED_REUSE ? loci_spread_bin(said->part->answer.distance)
						 : LOCI_SPREAD_COLD;
}

/* Whose references they are is known of those that were dropped, too. */
static int credit(struct loci_attribution *a, const struct said *said, double scale)
{
	const struct loci_sampler_part *part = said->part;
	uint64_t refs = (uint64_t)llround(scale * part->refs);
	unsigned bin = bin_of(said);

	a->rows.row[part->row].refs += refs;
	a->walk.contexts.node[part->context].refs += refs;
	if (loci_spread_add(&a->measure.rows, part->by_row, bin, said->touches) < 0)
		return -ENOMEM;
	return loci_spread_add(&a->measure.contexts, part->by_context, bin, said->touches);
}

static int credit_private(struct loci_sampler_private *p, const struct said *said)
{
	uint32_t row = said->part->by_row;

	if (!p->met)
		return 0;
	if (said->kind != LOCI_WINDOWED_LOST)
		return loci_spread_add(&p->rows, row, bin_of(said), said->touches);
	*(said->part->answer.is_false ? &p->met[row].false_sharing : &p->met[row].true_sharing) +=
		said->touches;
	return 0;
}

static int add_part(struct loci_sampler *s, struct loci_attribution *a, const struct said *said,
	double scale, struct loci_sample_sum *sum)
{
	const struct loci_sampler_part *part = said->part;
	bool dropped = part->answer.kind == LOCI_WINDOWED_DROPPED;
	bool counts = !dropped || said->weight > 0;

	if (!part->is_private) {
		sum->square += said->square;
		sum->pruned += dropped && counts ? part->n : 0;
		if (counts && add_answer(&sum->shared, said) < 0)
			return -ENOMEM;
		return credit(a, said, scale);
	}
	if (!counts)
		return 0;
	if (add_answer(&sum->private_, said) < 0 ||
		add_answer(&sum->thread[part->member].private_, said) < 0)
		return -ENOMEM;
	return credit_private(&s->private_, said);
}

static void add_all(
	const struct loci_sampler_parts *parts, double scale, struct loci_sample_sum *sum)
{
	sum->samples += parts->samples;
	sum->pruned += parts->pruned;
	if (sum->last_mean < parts->last_mean)
		sum->last_mean = parts->last_mean;
	sum->weight += scale * parts->touches;
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
	struct standing standing[2];
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
	find_standing(parts, false, &standing[false]);
	find_standing(parts, true, &standing[true]);
	for (size_t i = 0; i < parts->n; i++) {
		const struct loci_sampler_part *part = &parts->part[i];
		struct said said = said_by(part, &standing[part->is_private], scale);

		if (add_part(s, a, &said, scale, sum) < 0)
			return -ENOMEM;
	}
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
