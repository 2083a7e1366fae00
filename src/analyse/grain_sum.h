/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engines of several processes counted at one block size, added up as if the processes ran
 * one after another: each has its own address space. */
#ifndef LOCI_ANALYSE_GRAIN_SUM_H
#define LOCI_ANALYSE_GRAIN_SUM_H

#include "base/err.h"
#include "engine/sets.h"
#include "profile/profile.h"

#include <stdbool.h>

struct loci_grain_sum {
	struct loci_grain totals;
	double error_square; /* sum of (error_points * touches)^2: engines err independently */
	bool sets;           /* every engine had per-set lists */
	struct loci_hist stack, time, dirty;
	struct loci_hist set[LOCI_SETS_MAX_BITS + 1], set_dirty[LOCI_SETS_MAX_BITS + 1],
		set_both[LOCI_SETS_MAX_BITS + 1];
};

void loci_grain_sum_init(struct loci_grain_sum *sum, uint64_t block_bytes, bool sets);
void loci_grain_sum_fini(struct loci_grain_sum *sum);
void loci_grain_sum_totals(struct loci_grain_sum *sum, const struct loci_grain *totals);
/* into += from, of the same block size. */
int loci_grain_sum_merge(
	struct loci_grain_sum *into, const struct loci_grain_sum *from, struct loci_err *err);
/* Totals and histograms into the profile. */
int loci_grain_sum_put(
	struct loci_grain_sum *sum, struct loci_profile *profile, struct loci_err *err);

#endif
