/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two runs side by side: what moved, for better or worse. Ding and Zhong (2001) judge a change by
 * both ends: long reuses should shrink, and short ones must not lengthen to pay for it. The reuses
 * of the two runs are matched by rank, the k-th shortest share of one with that of the other. */
#ifndef LOCI_MODEL_COMPARE_H
#define LOCI_MODEL_COMPARE_H

#include "model/bins.h"
#include "model/subject.h"

struct loci_change {
	double before, after; /* INFINITY: a percentile that no cache size reaches */
};

/* After relative to before, less one: 0.05 is 5 % more; 0 where both are nothing or infinite. */
double loci_change_relative(struct loci_change change);

struct loci_compare_level {
	struct loci_cache cache;
	struct loci_change misses, accesses, moved_bytes, writebacks;
	bool has_writebacks;
	double error_points; /* of the difference of the two miss ratios */
};

/* Reuses on one side of the boundary, by their distance before. */
struct loci_compare_group {
	double share;              /* of the reuses before */
	struct loci_change median; /* blocks that a cache needs for the group's median */
	double shorter, longer; /* share of the group whose distance halved, or doubled, at least */
};

#define LOCI_COMPARE_PERCENTILES 5
extern const unsigned loci_compare_percents[LOCI_COMPARE_PERCENTILES]; /* 50, 70, 80, 90, 95 */

struct loci_compare {
	const struct loci_subject *subject[2]; /* before, after; borrowed */
	uint64_t block_bytes;
	bool is_object;
	double error_points; /* of sampling, both together; 0: exact */
	struct loci_change references, touches, blocks, cold;
	struct loci_change percentile[LOCI_COMPARE_PERCENTILES]; /* cache size needed, blocks */
	struct loci_compare_level level[LOCI_LEVELS_MAX];
	unsigned n_levels;
	uint64_t boundary_blocks; /* between short and long: the first level, or what half of the
				     touches before need */
	char boundary_name[16];   /* of that level, or "" */
	struct loci_compare_group near, far;
	struct loci_bins bins;
};

/* A block size both profiles have: block_bytes, or 64, or the largest below, or the smallest. Says
 * what is wrong where units differ or no block size is shared. */
int loci_compare_block(const struct loci_profile *before, const struct loci_profile *after,
	uint64_t block_bytes, uint64_t *ret, struct loci_err *err);
/* Both subjects at that block size and against the same machine. */
void loci_compare(const struct loci_subject *before, const struct loci_subject *after,
	unsigned max_rows, struct loci_compare *ret);

enum loci_trend { LOCI_TREND_SAME, LOCI_TREND_BETTER, LOCI_TREND_WORSE };
/* Of a count of which fewer is better: the same if it moved by less than a thousandth, or less than
 * error_points of whole. */
enum loci_trend loci_change_trend(struct loci_change change, double whole, double error_points);

#endif
