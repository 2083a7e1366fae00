/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coarse histograms of very many owners: near distances in two cache lines each, the far ones, of
 * which most owners have few, in a list; those who have many get an array for them. */
#ifndef LOCI_ANALYSE_SPREAD_H
#define LOCI_ANALYSE_SPREAD_H

#include "hist/hist.h"

#include <stddef.h>
#include <stdint.h>

#define LOCI_SPREAD_NEAR 32 /* bins: distances below 256 */
_Static_assert(LOCI_COARSE_BINS < UINT8_MAX + 2, "a bin and what is no bin fit in a byte");

/* Beside the bins, which end at 2^63. */
#define LOCI_SPREAD_COLD      255u
#define LOCI_SPREAD_UNSAMPLED 254u

/* Bins of an array: from the nearest of pairs on (LOCI_PAIRS_FAR_BLOCKS), distances below 2^24. */
#define LOCI_SPREAD_FLAT_FROM 24
#define LOCI_SPREAD_FLAT      72

/* (bin, count) in one word each: bin << 56 | count. Counts in the array, if there is one, add to
 * them. */
#define LOCI_SPREAD_BIN_SHIFT 56
struct loci_spread_far {
	uint64_t *slot;
	uint32_t *flat;
	uint16_t n, cap;
	uint32_t sought; /* times that the list was searched, until there is an array */
};

struct loci_spread {
	uint32_t (*near)[LOCI_SPREAD_NEAR];
	struct loci_spread_far *far;
	size_t near_cap, far_cap;
};

void loci_spread_fini(struct loci_spread *spread);
/* Room for owners 0..n-1. 0 or -ENOMEM. */
int loci_spread_reserve(struct loci_spread *spread, size_t n);

int loci_spread_far_add(struct loci_spread_far *far, unsigned bin, uint64_t count);
void loci_spread_far_fini(struct loci_spread_far *far);

/* Counts n where there is no array, or none for the bin; now and then makes one. */
int loci_spread_far_seek(struct loci_spread_far *far, unsigned bin, uint32_t n);

/* Counts n in any bin; those of the array are the quickest. 0 or -ENOMEM. */
static inline int loci_spread_far_count(struct loci_spread_far *far, unsigned bin, uint32_t n)
{
	unsigned at = bin - LOCI_SPREAD_FLAT_FROM;

	if (far->flat && at < LOCI_SPREAD_FLAT) {
		far->flat[at] += n;
		if (__builtin_expect(far->flat[at] < n, 0))
			return loci_spread_far_add(far, bin, 1ull << 32);
		return 0;
	}
	if (__builtin_expect(!far->n || far->slot[0] >> LOCI_SPREAD_BIN_SHIFT != bin, 0))
		return loci_spread_far_seek(far, bin, n);
	far->slot[0] += n;
	return 0;
}

/* Room for so many more counts of any near bin, on which who counts keeps an eye. */
#define LOCI_SPREAD_NEAR_COUNTS (UINT32_MAX / 2)
/* Makes it. 0 or -ENOMEM. */
int loci_spread_near_clear(struct loci_spread *spread);

/* Counts one if the bin is near, nothing else. */
static inline void loci_spread_near_count(struct loci_spread *spread, uint32_t owner, unsigned bin)
{
	/* never a branch: how far a reuse is is hard to predict */
	spread->near[owner][bin % LOCI_SPREAD_NEAR] += bin < LOCI_SPREAD_NEAR;
}

/* The bin of a distance as the stack engine gives it. LOCI_UNSAMPLED is one less than infinite. */
static inline unsigned loci_spread_bin(uint64_t distance)
{
	if (__builtin_expect(distance < LOCI_COARSE_LINEAR, 1))
		return (unsigned)distance;
	if (__builtin_expect(distance >= LOCI_INFINITE - 1, 0))
		return LOCI_SPREAD_COLD - (distance != LOCI_INFINITE);
	return loci_bin_coarse(distance);
}

/* Any bin, any count. 0 or -ENOMEM. */
int loci_spread_add(struct loci_spread *spread, uint32_t owner, unsigned bin, uint64_t count);

/* Adds an owner's counts, bins[256], cold and unsampled among them. */
void loci_spread_collect(const struct loci_spread *spread, uint32_t owner, uint64_t *bins);
void loci_spread_far_collect(const struct loci_spread_far *far, uint64_t *bins);

/* Such counts as a histogram, uninitialised before. What sampling did not follow is shared out like
 * what it did, among the infinite distances and the bins from this one on: the nearer ones are all
 * known. 0 or -ENOMEM. */
int loci_spread_hist(const uint64_t *bins, uint32_t unknown_from, struct loci_hist *hist);

#endif
