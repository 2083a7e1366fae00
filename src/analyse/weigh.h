/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the samples of a watching collector stand for. Few samples can be watched at once, so most
 * are given up before their reuse comes, and long reuses more often than short ones. The collector
 * tells what happened to each (OPEN, EVICT, FIRE); here each outcome gets its weight, so that their
 * sum is what all samples stand for and every reuse counts for as much as was sampled of it.
 *
 * Inverse: what the sample stands for by the way it was drawn (its base: the gap before it, times
 * the blocks that it touched), over the probability that it was watched until its outcome, which
 * follows from the rule of collect/runtime/reservoir.h (Horvitz and Thompson 1952): 1 of a free
 * watch, 1 - prod(1 - 1/k) of one taken, and times 1 - q at every later sample that it survived, q
 * being its share of the odds then. Then samples of each context of use that were drawn for watches
 * are scaled to what all of these stand for, apart from those that found their reuse at once
 * (weigh_strata.c; Holt and Smith 1979), and both together to the touches made there, which samples
 * and references before them tell. Where few of a context have an outcome, those of several tell
 * together.
 *
 * Proportional (RDX): a reuse counts for all samples taken in its context of use since it was
 * watched. Kaplan-Meier: survival by context, what was given up being censored then. Plain: every
 * outcome for its own sample.
 *
 * A watch that costs much, its page being hot, goes on by lot: one in so many does, and counts for
 * as many.
 *
 * A watch that is given up and not taken by another sample (its page cannot be watched any more) is
 * free. What its sample stood for goes to those that were watched for longer (Efron 1967): that is
 * Kaplan-Meier's estimate where all weigh alike. */
#ifndef LOCI_ANALYSE_WEIGH_H
#define LOCI_ANALYSE_WEIGH_H

#include "analyse/touch_clock.h"
#include "base/err.h"
#include "stream/stream.h"

#include <stdbool.h>
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

/* burst_refs: for so many references samples are followed, all but those that are watched at once;
 * 0: that is not known. */
int loci_weigh_new(enum loci_weighting weighting, uint64_t burst_refs, struct loci_weigh **ret,
	struct loci_err *err);
void loci_weigh_free(struct loci_weigh *weigh); /* NULL allowed */

/* Touches that are made in a context, of those that a sample stands for. */
struct loci_weigh_share {
	uint64_t context;
	double base;
};

struct loci_weigh_sample {
	uint64_t id;      /* ascending */
	uint64_t count;   /* references of its thread so far */
	uint64_t context; /* of the use, any number */
	uint32_t watch;   /* below LOCI_WATCHES, LOCI_WATCH_NONE or LOCI_WATCH_BURST */
	uint32_t thread;
	double base;  /* touches that it stands for, more than 0 */
	uint64_t use; /* any number, for the caller */
	uint64_t
		followed; /* touches, itself left out, among which it was not reused; 0: not told */
	bool at_once;     /* it was watched at once, and not followed before */
	/* Where what it stands for was done, as references around it tell; 0 of them: all in its
	 * context. */
	const struct loci_weigh_share *share;
	size_t n_shares;
};
/* A sample, in the order of the lotteries. If its watch was armed the sample there is given up.
 * Without a watch while none is armed it could not be watched, and is given up itself. */
int loci_weigh_open(
	struct loci_weigh *weigh, const struct loci_weigh_sample *sample, struct loci_err *err);

struct loci_weigh_reuse {
	uint64_t count;    /* references of the sample's thread so far */
	uint64_t touches;  /* since the sample, itself included; 0: not known, .. */
	uint64_t in_parts; /* .. and these, by large references, are beside the others */
	uint64_t distinct; /* its stack distance and 1; 0: not known */
	uint32_t thread;   /* whose it is */
	uint64_t reuse;    /* any number, for the caller */
	uint64_t off;      /* by how much the count may be off */
};
/* Of a sample that is watched or in a burst; others are passed over. */
int loci_weigh_fire(struct loci_weigh *weigh, uint64_t id, const struct loci_weigh_reuse *reuse,
	struct loci_err *err);
/* What is known better of reuses: counts, by reuse ascending, as their fires were. */
struct loci_weigh_count {
	uint64_t reuse, count;
};
void loci_weigh_recount(struct loci_weigh *weigh, const struct loci_weigh_count *counts, size_t n);
/* A sample is watched no more, when its thread has so many references: another, which is opened
 * next, takes its watch, or, 0, none does. */
int loci_weigh_evict(
	struct loci_weigh *weigh, uint64_t id, uint64_t count, uint64_t by, struct loci_err *err);
/* Likewise, but a lot decided, by which one in so many is kept: this one, or not. */
int loci_weigh_lot(struct loci_weigh *weigh, uint64_t id, uint64_t count, uint64_t one_in,
	bool is_kept, struct loci_err *err);

struct loci_weigh_outcome {
	uint64_t context, use, reuse;
	uint64_t distance; /* touches; LOCI_INFINITE: never reused, reuse is 0 */
	uint64_t distinct; /* stack distance and 1; 0: not known */
	double weight;
	uint32_t thread;   /* of the use .. */
	uint64_t from, to; /* .. and its references then and at the reuse, if there is one */
	bool in_burst;
	bool remote;      /* reused by another thread: the distance is in touches of the sample's */
	bool is_rough;    /* its count may be off by more than a bin is wide */
	bool is_borrowed; /* of a sample that was given up: another's, which is an outcome, too */
};
struct loci_weigh_result {
	struct loci_weigh_outcome *outcome; /* the weigher's; of Kaplan-Meier in any order */
	size_t n;
	uint64_t samples;
	uint64_t pooled;    /* samples of contexts without outcome */
	uint64_t abandoned; /* watches given up that no other sample took */
	double base;        /* of all samples */
	double touches;     /* the same, by their shares */
	double effective; /* sample size: (sum w)^2 / sum w^2, what is borrowed with its owner's */
	double unknown;   /* share of the touches that stand for no outcome: their samples were not
			     reused while followed, and none that was watched for longer was */
};
/* After the last reference: what is still watched is never reused. Once. clock: what references are
 * in touches, settled; NULL: one each. */
int loci_weigh_finish(struct loci_weigh *weigh, const struct loci_touch_clock *clock,
	struct loci_weigh_result *ret, struct loci_err *err);

#endif
