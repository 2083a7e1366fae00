/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack distances of some touches only (Schuff et al. 2010): from a touch that is a sample to the
 * next touch of its block, in the stack of all members together (shared) and in its own member's,
 * from which others' writes take blocks (private: coherent.h). Touches need to be fed only while a
 * sample is open: a distance counts what was touched since the sample, and what was touched before
 * is alike to it. So it equals what an engine would say that was fed everything.
 *
 * A sample looks forward, an engine that is fed everything looks back: where that one sees a first
 * touch this one sees a last touch. Only their numbers compare.
 *
 * Samples that stay open for long are given up: what is known then is that the distance is at least
 * what has been touched so far. */
#ifndef LOCI_ENGINE_WINDOWED_H
#define LOCI_ENGINE_WINDOWED_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loci_windowed;

struct loci_windowed_options {
	uint64_t limit_touches; /* older samples are given up; 0: none are */
	/* Once so many are known, a sample that opens has the oldest given up if its distance so
	 * far is beyond the 99th percentile of those, and no more than one in a hundred was so
	 * far; 0: never. */
	uint64_t prune_from;
	uint64_t max_bytes; /* of each engine; above it starts anew. 0: no limit */
};

int loci_windowed_new(const struct loci_windowed_options *options, struct loci_windowed **ret,
	struct loci_err *err);
void loci_windowed_free(struct loci_windowed *windowed); /* NULL allowed */

enum loci_windowed_kind {
	LOCI_WINDOWED_OPEN = 0,
	LOCI_WINDOWED_REUSE,
	LOCI_WINDOWED_LOST,     /* another member wrote it; this one touched it again after that */
	LOCI_WINDOWED_LAST,     /* never touched again, as far as is known */
	LOCI_WINDOWED_AT_LEAST, /* given up: the distance is this or more */
};

struct loci_windowed_answer {
	enum loci_windowed_kind kind;
	uint64_t distance; /* of REUSE and AT_LEAST */
	bool is_false;     /* of LOST: others wrote other bytes than those touched again */
	uint64_t by;       /* of REUSE and LOST: the use of the touch that answered */
};

struct loci_windowed_outcome {
	uint64_t tag;
	uint32_t member;
	struct loci_windowed_answer private_, shared;
};

/* Touches in their order, all of one member between two turns, as coherent.h has them. */
struct loci_windowed_touches {
	const uint64_t *block;
	const uint8_t *is_write; /* 0 or 1 each */
	const uint64_t *bytes;   /* touched, a bit each */
	const uint64_t *use;     /* any word of each touch; may be NULL */
	size_t n;
	const uint32_t *turn_touch, *turn_member;
	size_t n_turns;
	/* Samples: touches, ascending, and the caller's word for each. */
	const uint32_t *sample_touch;
	const uint64_t *sample_tag;
	size_t n_samples;
};
int loci_windowed_feed(struct loci_windowed *windowed, const struct loci_windowed_touches *touches,
	struct loci_err *err);

/* The member touches nothing more. */
int loci_windowed_end(struct loci_windowed *windowed, uint32_t member, struct loci_err *err);
/* Touches of the member follow that are not fed: its open samples are given up. */
int loci_windowed_interrupt(struct loci_windowed *windowed, uint32_t member, struct loci_err *err);
/* There are no more touches. */
int loci_windowed_finish(struct loci_windowed *windowed, struct loci_err *err);

/* Samples whose distance may yet come. */
size_t loci_windowed_n_open(const struct loci_windowed *windowed);
/* By sample, in the order in which they opened; LOST is LAST until the member touches it again.
 * Good until the next call. */
const struct loci_windowed_outcome *loci_windowed_outcomes(
	const struct loci_windowed *windowed, size_t *ret_n);
uint64_t loci_windowed_touches_fed(const struct loci_windowed *windowed);

#endif
