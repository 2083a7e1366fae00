/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A histogram of stack distances cut for the eye: an edge at every power of two and at the size of
 * every cache of interest, quiet stretches merged into the row that follows them. One histogram, or
 * two over the same rows. */
#ifndef LOCI_MODEL_BINS_H
#define LOCI_MODEL_BINS_H

#include "hist/hist.h"

#define LOCI_BINS_ROWS 80

struct loci_bins_row {
	/* blocks: low <= distance < high, so that a cache of `high` blocks holds the row */
	uint64_t low, high;
	double share[2]; /* of all touches, infinite distances included in the whole */
};

struct loci_bins {
	struct loci_bins_row row[LOCI_BINS_ROWS];
	unsigned n_rows;
};

/* second may be NULL. No row straddles an edge (ascending, at most 8). Rows of less than a
 * 2000th of the touches are merged (before an edge, those of less than a 20000th are dropped); if
 * more than max_rows remain, ever louder ones are merged. */
void loci_bins_cut(const struct loci_hist *first, const struct loci_hist *second,
	const uint64_t *edge, unsigned n_edges, unsigned max_rows, struct loci_bins *ret);
/* Every power of two up to the longest reuse, quiet ones too. */
void loci_bins_log2(const struct loci_hist *hist, struct loci_bins *ret);

#endif
