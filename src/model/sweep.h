/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One cache at many sizes, or all at many line sizes. */
#ifndef LOCI_MODEL_SWEEP_H
#define LOCI_MODEL_SWEEP_H

#include "model/predict.h"

#define LOCI_SWEEP_LINES 22 /* powers of two up to LOCI_LINE_MAX */

struct loci_sweep {
	struct loci_prediction *row;
	size_t n;
	bool lost_ways; /* a size that is no whole sets of the ways given is fully associative */
	uint64_t missing[LOCI_SWEEP_LINES]; /* line sizes asked for and not recorded */
	unsigned n_missing;
};
void loci_sweep_fini(struct loci_sweep *sweep);

/* The level's size doubled from `from` while at most `to`, ways kept where that makes whole sets;
 * the other levels as they are. A row per size. */
int loci_sweep_size(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	unsigned level, uint64_t from, uint64_t to, const struct loci_predict_options *options,
	struct loci_sweep *ret, struct loci_err *err);
/* All caches (TLBs left out) at each line size recorded between the two; level by level, a row per
 * line size. */
int loci_sweep_line(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	uint64_t from, uint64_t to, const struct loci_predict_options *options,
	struct loci_sweep *ret, struct loci_err *err);

#endif
