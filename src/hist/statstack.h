/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack distances that are expected of time distances (StatStack, Eklov and Hagersten 2010):
 *
 *	F(r) = sum over j = 1 .. r-1 of P(time distance > j),
 *
 * the expected number of distinct blocks touched in between if the run were stationary: a touch j
 * steps before the reuse is the last of its block exactly if that block's next use is more than j
 * away. Wrong where neighbouring reuses are not alike: reversals, phases. */
#ifndef LOCI_HIST_STATSTACK_H
#define LOCI_HIST_STATSTACK_H

#include "hist/hist.h"

struct loci_statstack {
	enum loci_scheme scheme;
	uint32_t n_bins;
	double *expected; /* F where each bin begins, and where the last ends */
	double beyond;    /* P of what is beyond: by how much F rises from there on */
};

/* time: cold counts as never reused; the values of a bin are spread evenly. 0 or -ENOMEM. */
int loci_statstack_init(struct loci_statstack *statstack, const struct loci_hist *time);
void loci_statstack_fini(struct loci_statstack *statstack);
/* Rounded. */
uint64_t loci_statstack_distance(const struct loci_statstack *statstack, uint64_t time);

#endif
