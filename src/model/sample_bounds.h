/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples it takes for a histogram to err by no more than so much, with a confidence of
 * 95 % (Schuff et al. 2010, appendix A). */
#ifndef LOCI_MODEL_SAMPLE_BOUNDS_H
#define LOCI_MODEL_SAMPLE_BOUNDS_H

#include <stdint.h>

#define LOCI_SAMPLE_BINS  200  /* 10 per power of two of distances below 2^20 */
#define LOCI_SAMPLE_SHARE 0.01 /* the smallest share of a bin that matters */

struct loci_sample_bounds {
	uint64_t absolute;  /* no bin's share errs by more than error */
	uint64_t relative;  /* .. nor by more than error times that share, from LOCI_SAMPLE_SHARE */
	uint64_t aggregate; /* the shares of LOCI_SAMPLE_BINS agree to 1 - error */
};

/* error: above 0, at most 1. Returns the largest of the three. */
uint64_t loci_sample_bounds(double error, struct loci_sample_bounds *ret);

#endif
