// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples whose distance is known are added up by what they say, as the program runs: there are as
 * many sums as different answers, however long it takes. */
#include "analyse/sampler_state.h"

#include "analyse/digest.h"
#include "analyse/grow.h"

#include <errno.h>
#include <stdlib.h>

#define HELD (1u << 10) /* samples, before those that are known are added up */

/* A distance is the reuse's, as where all are measured; what is never reused is the sample's. */
static bool is_by(const struct loci_windowed_answer *answer)
{
	return answer->kind == LOCI_WINDOWED_REUSE || answer->kind == LOCI_WINDOWED_LOST;
}

/* What is the same of all distances of a bin. */
static struct loci_windowed_answer in_bins(struct loci_windowed_answer answer)
{
	answer.distance = loci_bin_low(LOCI_SCHEME_FINE, loci_bin_fine(answer.distance));
	answer.by = 0;
	return answer;
}

static struct loci_digest digest(const struct loci_sampler_part *part)
{
	struct loci_digest d = { 0 };

	d = loci_digest_word(d, (uint64_t)part->row << 32 | part->context);
	d = loci_digest_word(d, (uint64_t)part->by_row << 32 | part->by_context);
	d = loci_digest_word(d, part->answer.distance);
	return loci_digest_word(d,
		(uint64_t)part->member << 32 | (uint64_t)part->answer.stayed << 8 |
			(uint64_t)part->answer.kind << 2 | (uint64_t)part->answer.is_false << 1 |
			part->is_private);
}

static int add(struct loci_sampler_parts *parts, const struct loci_sampler_part *part)
{
	struct loci_digest d = digest(part);
	uint32_t i = loci_keymap_get(&parts->ids, d.a, d.b);

	if (i == LOCI_KEYMAP_NONE) {
		i = (uint32_t)parts->n;
		if (loci_grow(&parts->part, &parts->cap, parts->n + 1, sizeof(*part)) < 0 ||
			loci_keymap_put(&parts->ids, d.a, d.b, i) < 0)
			return -ENOMEM;
		parts->part[parts->n++] = *part;
		return 0;
	}
	parts->part[i].refs += part->refs;
	parts->part[i].touches += part->touches;
	parts->part[i].square += part->square;
	parts->part[i].n += part->n;
	return 0;
}

static int add_answer(struct loci_sampler_parts *parts, const struct loci_sampler_taken *taken,
	const struct loci_windowed_outcome *outcome, bool is_private)
{
	const struct loci_windowed_answer *answer =
		is_private ? &outcome->private_ : &outcome->shared;
	double refs = (double)taken->mean, touches = refs * (double)taken->blocks;

	return add(parts,
		&(struct loci_sampler_part){ .answer = in_bins(*answer),
			.row = taken->row,
			.context = taken->context,
			.by_row = is_by(answer) ? loci_use_row(answer->by) : taken->row,
			.by_context = is_by(answer) ? loci_use_context(answer->by) : taken->context,
			.member = outcome->member,
			.is_private = is_private,
			.refs = refs,
			.touches = touches,
			.square = touches * touches,
			.n = 1 });
}

static int fold(void *data, const struct loci_windowed_outcome *outcome)
{
	struct loci_sampler *s = data;
	struct loci_sampler_parts *parts = &s->parts;
	struct loci_sampler_taken *taken = &s->taken[outcome->tag];
	double refs = (double)taken->mean, touches = refs * (double)taken->blocks;

	parts->samples++;
	parts->pruned += outcome->shared.kind == LOCI_WINDOWED_AT_LEAST ||
		outcome->private_.kind == LOCI_WINDOWED_AT_LEAST;
	if (parts->last_mean < taken->mean)
		parts->last_mean = taken->mean;
	parts->refs += refs;
	parts->touches += touches;
	parts->writes += taken->is_write ? touches : 0;
	parts->straddles += taken->straddles ? refs : 0;
	if (add_answer(parts, taken, outcome, false) < 0 ||
		add_answer(parts, taken, outcome, true) < 0)
		return -ENOMEM;
	taken->mean = s->free_taken; /* its place is free */
	s->free_taken = outcome->tag + 1;
	return 0;
}

int loci_sampler_fold(struct loci_sampler *s)
{
	int r = loci_windowed_take(s->windowed, fold, s);

	s->fold_at = HELD + 2 * loci_windowed_n_untaken(s->windowed);
	return r;
}

int loci_sampler_take(struct loci_sampler *s, const struct loci_sampler_taken *taken)
{
	size_t tag = s->n_taken;
	int r;

	if (loci_windowed_n_untaken(s->windowed) >= s->fold_at && loci_sampler_fold(s) < 0)
		return -ENOMEM;
	if (s->free_taken)
		tag = s->free_taken - 1;
	else if (loci_grow(&s->taken, &s->taken_cap, tag + 1, sizeof(*s->taken)) < 0)
		return -ENOMEM;
	r = loci_windowed_open(s->windowed, tag);
	if (r < 0)
		return r;
	if (s->free_taken)
		s->free_taken = s->taken[tag].mean;
	else
		s->n_taken++;
	s->taken[tag] = *taken;
	return 0;
}

void loci_sampler_parts_fini(struct loci_sampler_parts *parts)
{
	loci_keymap_fini(&parts->ids);
	free(parts->part);
}
