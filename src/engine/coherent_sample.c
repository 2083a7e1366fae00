// SPDX-License-Identifier: GPL-2.0-or-later
/* Sampling of blocks where coherent stacks may not grow any more (after SHARDS, Waldspurger et al.
 * 2015): only blocks whose hash is below a threshold are followed, by all members, and the
 * threshold is halved whenever they become too many. A distance is the followed blocks and holes
 * above, times 2^shift, and weighs as much. Holes have no hash: every other one is kept.
 *
 * Touches and writes are exact, and the weights are made to add up to the touches as in SHARDS-adj:
 * what is missing or too much is mostly a matter of the most frequent blocks, whose distances are
 * short, so it is added to or taken from the shortest distances. Counts of sharing are estimates
 * with no such correction. */
#include "engine/coherent_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MAX_SHIFT 48

/* What was counted gets the weight it was counted at. */
static int settle(struct loci_coherent_tally *tally)
{
	double scale = ldexp(1, (int)tally->shift);

	if (!tally->former)
		tally->former = calloc(1, sizeof(*tally->former));
	if (!tally->former)
		return -ENOMEM;
	for (uint32_t i = 0; i < tally->n_bins; i++) {
		tally->former->weight[i] += (double)tally->count[i] * scale;
		tally->former->square[i] += (double)tally->count[i] * scale * scale;
	}
	for (unsigned i = 0; i < LOCI_COHERENT_EVENTS; i++)
		tally->former->event[i] += (double)tally->event[i] * scale;
	memset(tally->count, 0, tally->n_bins * sizeof(*tally->count));
	memset(tally->event, 0, sizeof(tally->event));
	tally->shift++;
	return 0;
}

/* The stack of a member, while its entries may be anywhere. */
struct kept {
	uint64_t *hash;
	uint8_t *is_hole;
	size_t n;
};

static void kept_free(struct kept *kept, uint32_t n)
{
	for (uint32_t i = 0; kept && i < n; i++) {
		free(kept[i].hash);
		free(kept[i].is_hole);
	}
	free(kept);
}

static int keep_stack(const struct loci_coherent *coherent,
	const struct loci_coherent_member *member, struct kept *kept)
{
	size_t n_all = member->n_deep + LOCI_STACK_TOP;
	bool keep_hole = false;
	size_t n = 0;

	kept->hash = calloc(n_all, sizeof(*kept->hash));
	kept->is_hole = calloc(n_all, 1);
	if (!kept->hash || !kept->is_hole)
		return -ENOMEM;
	n_all = loci_coherent_get_stack(coherent, member, kept->hash, kept->is_hole);
	for (size_t i = 0; i < n_all; i++) {
		if (kept->is_hole[i])
			keep_hole = !keep_hole;
		if (kept->is_hole[i] ? !keep_hole : !loci_coherent_follows(coherent, kept->hash[i]))
			continue;
		kept->hash[n] = kept->hash[i];
		kept->is_hole[n++] = kept->is_hole[i];
	}
	kept->n = n;
	return 0;
}

static bool keep_entry(void *data, uint64_t key, uint64_t stamp, uint32_t slot)
{
	struct loci_coherent *coherent = data;
	uint32_t state = slot;

	(void)stamp;
	if (loci_coherent_follows(coherent, key))
		return true;
	if (slot >= LOCI_COHERENT_RECORD) {
		state = coherent->pool.item[slot - LOCI_COHERENT_RECORD].record.state;
		loci_coherent_forget(coherent, slot - LOCI_COHERENT_RECORD);
	}
	coherent->blocks[state - LOCI_COHERENT_ALONE]--;
	return false;
}

static int follow_less(struct loci_coherent *coherent, struct kept *kept)
{
	int r = 0;

	coherent->shift++;
	for (uint32_t i = 0; r == 0 && i < coherent->n_members; i++)
		if (coherent->member[i]) {
			r = settle(coherent->tally[i]);
			if (r == 0)
				r = keep_stack(coherent, coherent->member[i], &kept[i]);
		}
	if (r < 0)
		return r;
	loci_stack_map_filter(&coherent->map, NULL, keep_entry, coherent);
	for (uint32_t i = 0; r == 0 && i < coherent->n_members; i++)
		if (coherent->member[i])
			r = loci_coherent_set_stack(coherent, coherent->member[i], kept[i].hash,
				kept[i].is_hole, kept[i].n);
	return r;
}

int loci_coherent_sample_less(struct loci_coherent *coherent, struct loci_err *err)
{
	struct kept *kept;
	int r;

	if (coherent->shift == MAX_SHIFT)
		return loci_err_set(err, EOVERFLOW, "too many blocks for the memory given");
	kept = calloc(coherent->n_members, sizeof(*kept));
	if (!kept)
		return loci_err_nomem(err);
	r = follow_less(coherent, kept);
	kept_free(kept, coherent->n_members);
	return r < 0 ? loci_err_nomem(err) : 0;
}

/* Makes the weights add up to a total, from the shortest distance on. */
static void adjust(struct loci_hist *hist, uint64_t total)
{
	double missing = (double)total - loci_hist_total(hist);

	for (uint32_t bin = 0; bin < hist->n_bins && missing != 0; bin++) {
		double weight = fmax(0, hist->weight[bin] + missing);

		missing -= weight - hist->weight[bin];
		hist->weight[bin] = weight;
	}
	hist->cold += missing; /* only infinite distances were sampled */
}

int loci_coherent_sample_result(
	const struct loci_coherent_tally *tally, struct loci_coherent_result *ret)
{
	static const struct loci_coherent_weights nothing;
	const struct loci_coherent_weights *former = tally->former ? tally->former : &nothing;
	double event[LOCI_COHERENT_EVENTS], scale = ldexp(1, (int)tally->shift);
	struct loci_hist *hist = &ret->stack;

	for (unsigned i = 0; i < LOCI_COHERENT_EVENTS; i++)
		event[i] = former->event[i] + (double)tally->event[i] * scale;
	ret->true_sharing = (uint64_t)event[LOCI_COHERENT_N_TRUE];
	ret->false_sharing = (uint64_t)event[LOCI_COHERENT_N_FALSE];
	ret->remote = (uint64_t)event[LOCI_COHERENT_N_REMOTE];
	ret->invalidated = (uint64_t)event[LOCI_COHERENT_N_TAKEN];
	hist->cold = event[LOCI_COHERENT_N_COLD];
	hist->coherence = event[LOCI_COHERENT_N_TRUE] + event[LOCI_COHERENT_N_FALSE];
	if (loci_hist_reserve(hist, LOCI_FINE_BINS) < 0)
		return -ENOMEM;
	hist->square = calloc(LOCI_FINE_BINS, sizeof(double));
	if (!hist->square)
		return -ENOMEM;
	for (uint32_t i = 0; i < LOCI_FINE_BINS; i++) {
		double count = i < tally->n_bins ? (double)tally->count[i] : 0;

		hist->weight[i] = former->weight[i] + count * scale;
		hist->square[i] = former->square[i] + count * scale * scale;
	}
	while (hist->n_bins > 1 && hist->square[hist->n_bins - 1] == 0)
		hist->n_bins--;
	adjust(hist, tally->touches);
	return 0;
}
