/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the samples of a watching collector stand for. Few samples can be watched at once, so most
 * are given up before their reuse comes, and long reuses more often than short ones. The collector
 * tells what happened to each (OPEN, EVICT, FIRE); here each outcome gets its weight, so that their
 * sum is the number of samples and every reuse counts as often as it was sampled.
 *
 * Inverse: one over the probability that the sample was watched until its outcome, which follows
 * from the rule of collect/runtime/reservoir.h (Horvitz and Thompson 1952): 1 of a free watch, 1 /
 * (1
 * - prod(1 - 1/k)) of one taken, and divided by 1 - q at every later sample that it survived, q
 * being its share of the odds then. Then the weights of each context of use are scaled to its
 * samples; a context none of whose samples has an outcome takes the distribution of all.
 *
 * Proportional (RDX): a reuse counts as many times as samples were taken in its context of use
 * since it was watched. Kaplan-Meier: survival by context, what was given up being censored then.
 * Plain: every outcome once. */
#ifndef LOCI_ANALYSE_WEIGH_H
#define LOCI_ANALYSE_WEIGH_H

#include "base/err.h"
#include "stream/stream.h"

#include <stddef.h>
#include <stdint.h>

enum loci_weighting {
	LOCI_WEIGH_INVERSE,
	LOCI_WEIGH_UNSCALED, /* the same, not scaled by context: unbiased, and more scattered */
	LOCI_WEIGH_PROPORTIONAL,
	LOCI_WEIGH_KAPLAN_MEIER,
	LOCI_WEIGH_PLAIN,
};

struct loci_weigh;

int loci_weigh_new(enum loci_weighting weighting, struct loci_weigh **ret, struct loci_err *err);
void loci_weigh_free(struct loci_weigh *weigh); /* NULL allowed */

struct loci_weigh_sample {
	uint64_t id;      /* ascending */
	uint64_t count;   /* references so far */
	uint64_t context; /* of the use, any number */
	uint32_t watch;   /* below LOCI_WATCHES, LOCI_WATCH_NONE or LOCI_WATCH_BURST */
};
/* A sample, in the order of the lotteries. If its watch was armed the sample there is given up. */
int loci_weigh_open(
	struct loci_weigh *weigh, const struct loci_weigh_sample *sample, struct loci_err *err);
/* Its reuse, of a sample that is watched or in a burst; others are passed over. reuse: any number,
 * for the caller. */
int loci_weigh_fire(struct loci_weigh *weigh, uint64_t id, uint64_t count, uint64_t reuse,
	struct loci_err *err);

struct loci_weigh_outcome {
	uint64_t context, reuse;
	uint64_t distance; /* references; LOCI_INFINITE: never reused, reuse is 0 */
	double weight;
};
struct loci_weigh_result {
	const struct loci_weigh_outcome *outcome; /* the weigher's; of Kaplan-Meier in any order */
	size_t n;
	uint64_t samples;
	uint64_t pooled;  /* samples of contexts without outcome */
	double effective; /* sample size: (sum w)^2 / sum w^2 */
};
/* After the last reference: what is still watched is never reused. Once. */
int loci_weigh_finish(
	struct loci_weigh *weigh, struct loci_weigh_result *ret, struct loci_err *err);

#endif
