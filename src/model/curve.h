/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The miss-ratio curve of a stack histogram, fully associative LRU, and its knees. */
#ifndef LOCI_MODEL_CURVE_H
#define LOCI_MODEL_CURVE_H

#include "hist/hist.h"

#include <stddef.h>

/* Misses of a cache of this many blocks, as a fraction of all touches. */
double loci_curve_ratio(const struct loci_hist *stack, uint64_t blocks);

/* An effective cache size: the miss ratio falls by at least a point of all touches while the size
 * doubles, from 2^k to 2^(k+1) blocks (or from nothing to one block); adjacent doublings that do
 * are one knee. */
struct loci_knee {
	uint64_t blocks; /* the smallest bin edge that leaves at most 1/100 of the fall to come */
	double fall;     /* of the miss ratio, as a fraction of all touches */
};
/* Ascending; at most cap. Returns how many. */
size_t loci_curve_knees(const struct loci_hist *stack, struct loci_knee *ret, size_t cap);

#endif
