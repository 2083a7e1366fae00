/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coarse histograms of very many owners: near distances in one cache line each, the far ones, of
 * which most owners have few, in a list. */
#ifndef LOCI_ANALYSE_SPREAD_H
#define LOCI_ANALYSE_SPREAD_H

#include "hist/hist.h"

#include <stddef.h>
#include <stdint.h>

#define LOCI_SPREAD_NEAR LOCI_COARSE_LINEAR
_Static_assert(LOCI_COARSE_BINS < UINT8_MAX + 2, "a bin and what is no bin fit in a byte");

/* Beside the bins, which end at 2^63. */
#define LOCI_SPREAD_COLD      255u
#define LOCI_SPREAD_UNSAMPLED 254u

/* (bin, count) in one word each: bin << 56 | count. */
struct loci_spread_far {
	uint64_t *slot;
	uint16_t n, cap;
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

/* distance as the stack engine gives it, below LOCI_SPREAD_NEAR. */
static inline int loci_spread_near_add(struct loci_spread *spread, uint32_t owner, uint64_t near)
{
	if (__builtin_expect(++spread->near[owner][near] == 0, 0))
		return loci_spread_far_add(&spread->far[owner], (unsigned)near, 1ull << 32);
	return 0;
}

/* The bin of a distance of LOCI_SPREAD_NEAR or more, infinite or unsampled. */
unsigned loci_spread_bin(uint64_t distance);

/* Any bin, any count. 0 or -ENOMEM. */
int loci_spread_add(struct loci_spread *spread, uint32_t owner, unsigned bin, uint64_t count);

/* Adds an owner's counts, bins[256], cold and unsampled among them. */
void loci_spread_collect(const struct loci_spread *spread, uint32_t owner, uint64_t *bins);
void loci_spread_far_collect(const struct loci_spread_far *far, uint64_t *bins);

#endif
