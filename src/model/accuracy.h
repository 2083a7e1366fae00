/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How well one histogram stands for another: S = 1 - sum |B_i - B^_i| / 2 over bins of fractions of
 * finite reuses (Shen et al. 2006; RDX 2019), over several sets of bins because each hides
 * something, and the error of miss ratios. */
#ifndef LOCI_MODEL_ACCURACY_H
#define LOCI_MODEL_ACCURACY_H

#include "hist/hist.h"
#include "model/predict.h"

struct loci_accuracy {
	double s_rdx;          /* S over RDX's 20 bins of bytes: [0,4K), then doubling */
	double s_rdx_smooth;   /* S^: the same over averages of neighbouring bins */
	double s_log2;         /* S over log2 bins of blocks */
	double s_beyond;       /* S over RDX's bins after the first; NAN where nothing is there */
	double s_schuff;       /* S over 10 bins per power of two */
	double s_schuff_far;   /* the same without distance 0; NAN where nothing lies beyond */
	double worst_points;   /* miss ratio error in percentage points, over power-of-two sizes */
	uint64_t worst_blocks; /* where */
	double mean_points;
};

/* truth and other: stack histograms, or time ones with block_bytes 1: it turns blocks into bytes
 * for RDX's bins. */
void loci_accuracy(const struct loci_hist *truth, const struct loci_hist *other,
	uint64_t block_bytes, struct loci_accuracy *ret);

/* What a conversion from the profile's own time distances makes of its stack distances. */
struct loci_accuracy_row {
	enum loci_conversion conversion;
	uint64_t block_bytes;
	struct loci_accuracy accuracy;
};
#define LOCI_ACCURACY_ROWS 2 /* StatStack, Shen */
/* ret has room for LOCI_ACCURACY_ROWS. An error where the profile lacks either histogram. */
int loci_accuracy_profile(struct loci_profile *profile, uint64_t block_bytes,
	struct loci_accuracy_row *ret, size_t *ret_n, struct loci_err *err);

/* What another profile of the same program says of its distances, the first being the truth. Of
 * private distances the threads' are added up; a run of one thread has no others than stack's. */
struct loci_accuracy_pair {
	enum loci_distance distance; /* STACK, PRIVATE or TIME */
	bool converted;              /* stack distances of the other are of StatStack */
	double touches[2];           /* of truth and other; weights where sampled */
	double infinite[2];          /* of them, as a fraction: cold, last or lost to a write */
	struct loci_accuracy accuracy;
};
#define LOCI_ACCURACY_PAIRS 3
/* ret has room for LOCI_ACCURACY_PAIRS; a distance that either lacks is left out. An error where
 * that leaves none. */
int loci_accuracy_between(struct loci_profile *truth, struct loci_profile *other,
	uint64_t block_bytes, struct loci_accuracy_pair *ret, size_t *ret_n, struct loci_err *err);

#endif
