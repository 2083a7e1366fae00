/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far StatCache's random replacement lies from LRU on the same profile. Two policies do differ:
 * this is the error only for a reader who takes the one for the other, as much of the literature on
 * sampled time distances does, and an upper bound of it otherwise. */
#ifndef LOCI_MODEL_ACCURACY_RANDOM_H
#define LOCI_MODEL_ACCURACY_RANDOM_H

#include "hist/hist.h"

struct loci_accuracy_random {
	double worst_points; /* of the miss ratio, over power-of-two sizes */
	uint64_t worst_blocks;
	double mean_points;
};

void loci_accuracy_random(const struct loci_hist *stack, const struct loci_hist *time,
	double distinct_blocks, struct loci_accuracy_random *ret);

#endif
