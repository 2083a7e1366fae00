// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/verdict.h"

#include <math.h>

#define MOST           0.5
#define MINOR          0.01 /* of all touches: not worth a step */
#define CONFLICT_SHARE 0.01 /* of all touches: worth a sentence */

static double fits(const struct loci_hist *stack, uint64_t blocks)
{
	return 1 - loci_curve_ratio(stack, blocks);
}

static double farther(const struct loci_hist *stack, uint64_t blocks)
{
	return loci_hist_at_least(stack, blocks, NULL) / loci_hist_total(stack);
}

static struct loci_verdict_size size_of(const struct loci_verdict *v, uint64_t blocks, double share)
{
	struct loci_verdict_size size = {
		.blocks = blocks, .level = -1, .holder = -1, .share = share
	};

	for (unsigned i = v->n_levels; i-- > 0;) {
		if (loci_cache_blocks(&v->level[i]) >= blocks)
			size.holder = (int)i;
		if (loci_cache_blocks(&v->level[i]) == blocks)
			size.level = (int)i;
	}
	return size;
}

/* A step that sampling alone could have made is none. */
static void find_knees(struct loci_verdict *v, const struct loci_subject *subject)
{
	struct loci_knee all[LOCI_VERDICT_KNEES];
	size_t n = loci_curve_knees(subject->stack, all, LOCI_VERDICT_KNEES);

	for (size_t i = 0; i < n; i++)
		if (all[i].fall * 100 > subject->grain->error_points)
			v->knee[v->n_knees++] = all[i];
}

/* Just enough to hold every reuse. */
static uint64_t longest(const struct loci_hist *stack)
{
	for (uint32_t i = stack->n_bins; i-- > 0;)
		if (stack->weight[i] > 0)
			return loci_bin_high(stack->scheme, i);
	return 1;
}

/* Without a machine: the first effective size that holds most touches, or the last one; all of
 * them, where little is missing. */
static uint64_t near_blocks(const struct loci_verdict *v, const struct loci_hist *stack)
{
	uint64_t blocks = 0;

	if (v->n_levels)
		return loci_cache_blocks(&v->level[0]);
	for (size_t i = 0; !blocks && i < v->n_knees; i++)
		if (i + 1 == v->n_knees || fits(stack, v->knee[i].blocks) >= MOST)
			blocks = v->knee[i].blocks;
	if (!blocks)
		blocks = loci_hist_percentile(stack, MOST);
	return farther(stack, blocks) < MINOR ? longest(stack) : blocks;
}

static void find_steps(struct loci_verdict *v, const struct loci_hist *stack)
{
	const struct loci_knee *last = NULL;
	double share;

	for (size_t i = 0; i < v->n_knees; i++) {
		const struct loci_knee *knee = &v->knee[i];

		if (knee->blocks <= v->near.blocks || fits(stack, knee->blocks) <= v->near.share)
			continue;
		/* a step that begins below near counts from there */
		share = fmin(knee->fall, fits(stack, knee->blocks) - v->near.share);
		if (!v->next.blocks)
			v->next = size_of(v, knee->blocks, share);
		else if (share > fmax(v->next.share, v->largest.share))
			v->largest = size_of(v, knee->blocks, share);
		last = knee;
	}
	v->enough = last ? size_of(v, last->blocks, fits(stack, last->blocks))
			 : size_of(v, longest(stack), fits(stack, longest(stack)));
}

static void find_conflicts(
	struct loci_verdict *v, const struct loci_subject *subject, const unsigned *index)
{
	v->conflict_level = -1;
	v->conflict = CONFLICT_SHARE;
	for (unsigned i = 0; i < v->n_levels; i++) {
		const struct loci_prediction *level = &subject->level[index[i]];
		double share = level->accesses > 0 ? level->conflict / level->accesses : 0;

		if (share > v->conflict && share * 100 > level->error_points) {
			v->conflict = share;
			v->conflict_level = (int)i;
		}
	}
}

/* What threads take from each other. */
static void find_sharing(struct loci_verdict *v, const struct loci_subject *subject)
{
	struct loci_sharing *sharing = &v->sharing;
	const struct loci_coherence_row *whole;

	if (!subject->profile ||
		loci_sharing_new(subject->profile, subject->grain->block_bytes, sharing, NULL) < 0)
		return; /* the rest of the verdict stands */
	whole = sharing->whole;
	if (whole && whole->touches) {
		v->lost = (double)(whole->true_sharing + whole->false_sharing) /
			(double)whole->touches;
		v->lost_false = (double)whole->false_sharing / (double)whole->touches;
	}
	v->has_worst = sharing->n_rows > 0;
	if (v->has_worst)
		v->worst = sharing->row[0];
	loci_sharing_fini(sharing);
}

/* Of the touches in all runs. Returns whether that matters, and no sample at all was seen to a far
 * reuse, or to the end. */
static bool find_unknown(struct loci_verdict *v, const struct loci_subject *subject)
{
	struct loci_profile *profile = subject->profile;
	const struct loci_sampling_row *row;
	double refs = 0, unknown = 0;
	uint64_t known = 0;
	size_t n;

	if (!profile || loci_profile_samplings(profile, &row, &n, NULL) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		refs += (double)row[i].refs;
		unknown += (double)row[i].refs * row[i].unknown;
		known += row[i].by_watch + row[i].never;
	}
	if (n && subject->run) /* some of which may not have been sampled */
		refs = fmax(refs, (double)subject->run->references);
	v->unknown = refs > 0 ? unknown / refs : 0;
	return v->unknown >= MINOR && !known;
}

void loci_verdict(const struct loci_subject *subject, struct loci_verdict *ret)
{
	const struct loci_hist *stack = subject->stack, *near = stack;
	uint64_t edge[LOCI_LEVELS_MAX];
	unsigned index[LOCI_LEVELS_MAX];
	struct loci_verdict *v = ret;

	*v = (struct loci_verdict){ .conflict_level = -1 };
	v->touches = loci_hist_total(stack);
	if (find_unknown(v, subject)) {
		v->kind = LOCI_VERDICT_UNKNOWN;
		return;
	}
	if (!(v->touches > 0)) {
		v->kind = LOCI_VERDICT_NOTHING;
		return;
	}
	v->cold = (stack->cold + stack->coherence) / v->touches;
	if (!(loci_hist_finite(stack) > 0)) {
		v->kind = LOCI_VERDICT_ALL_NEW;
		return;
	}
	v->n_levels = loci_subject_edges(subject, edge, index);
	for (unsigned i = 0; i < v->n_levels; i++)
		v->level[i] = subject->level[index[i]].cache;
	find_knees(v, subject);
	v->near = size_of(v, near_blocks(v, stack), 0);
	if (subject->own && v->n_levels && v->level[0].share == LOCI_SHARE_PRIVATE)
		near = subject->own;
	v->near.share = fits(near, v->near.blocks);
	v->far = farther(near, v->near.blocks);
	v->beyond = v->n_levels ? farther(stack, edge[v->n_levels - 1]) : 0;
	find_steps(v, stack);
	find_conflicts(v, subject, index);
	find_sharing(v, subject);
	if (loci_culprit_find(subject, &v->culprit, NULL) < 0)
		v->culprit.is_known = false; /* the rest of the verdict stands */
	v->kind = longest(stack) == 1 && stack->cold <= 1 && v->unknown < MINOR
		? LOCI_VERDICT_ONE_BLOCK
		: v->cold >= MOST       ? LOCI_VERDICT_NEW
		: !(v->far > 0)         ? LOCI_VERDICT_FITS
		: v->near.share >= MOST ? LOCI_VERDICT_NEAR
					: LOCI_VERDICT_FAR;
}
