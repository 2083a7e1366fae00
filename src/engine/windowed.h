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
 * what has been touched so far.
 *
 * Or chance decides (Russian roulette; Kahn 1956): of the samples that are still open at an age,
 * and at four and sixteen times that age, and so on, every second one is dropped at each, chosen at
 * random and whatever its distance will be; those that stay stand for it. So what a sample costs
 * grows with the square root of its reuse's age, and so does what the reuse's weight may become.
 * (Where as many reuses are between ages a and 2 a as between 2 a and 4 a that has the least
 * variance for its cost.) An answer says how often its sample has stayed. */
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
	uint64_t gamble_touches; /* the first age at which chance decides; 0: it never does */
	uint64_t seed;           /* of that */
	uint64_t max_bytes;      /* above it what is not wanted is forgotten; 0: no limit */
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
	LOCI_WINDOWED_DROPPED,  /* by chance, as far as that: others stand for it */
};

/* Ages at which chance decides, at most. */
#define LOCI_WINDOWED_AGES 24

struct loci_windowed_answer {
	enum loci_windowed_kind kind;
	uint64_t distance; /* of REUSE, AT_LEAST and DROPPED */
	uint32_t stayed;   /* ages at which its sample might have been dropped, and was not */
	bool is_false;     /* of LOST: others wrote other bytes than those touched again */
	uint64_t by;       /* of REUSE and LOST: the use of the touch that answered */
};

struct loci_windowed_outcome {
	uint64_t tag;
	uint32_t member;
	struct loci_windowed_answer private_, shared;
};

/* Most touches change nothing: who makes them may look there (loci_epochs_here) first. */
struct loci_epochs;
struct loci_epochs *loci_windowed_epochs(struct loci_windowed *windowed);

struct loci_windowed_touch {
	uint64_t block;
	uint64_t bytes; /* touched, a bit each */
	uint64_t use;   /* any word; of a block that is kept (engine/epochs.h) */
	uint32_t member;
	bool is_write;
};
/* 0 or -ENOMEM, as the next. */
int loci_windowed_touch(struct loci_windowed *windowed, const struct loci_windowed_touch *touch);
/* The same of a block that has been looked for there, and is not kept: no sample is of it. */
struct loci_epochs_block;
int loci_windowed_touch_found(struct loci_windowed *windowed, struct loci_epochs_block *found,
	uint64_t block, uint32_t member, bool is_write);
/* The last touch is a sample. Also -EOVERFLOW: there have been 2^32. */
int loci_windowed_open(struct loci_windowed *windowed, uint64_t tag);
/* Gives up samples that are too old, and lets chance decide; to be called now and then. */
void loci_windowed_prune(struct loci_windowed *windowed);

/* The member touches nothing more. */
void loci_windowed_end(struct loci_windowed *windowed, uint32_t member);
/* Touches of the member follow that are not fed: its open samples are given up. */
void loci_windowed_interrupt(struct loci_windowed *windowed, uint32_t member);
/* There are no more touches. */
void loci_windowed_finish(struct loci_windowed *windowed);

/* Samples whose distance may yet come. */
size_t loci_windowed_n_open(const struct loci_windowed *windowed);
/* Gives the outcomes of samples that nothing more will be known of, in the order in which they
 * opened, and forgets them; what is LAST may be LOST until the member touches the block again, or
 * all is finished. Stops at an error of the taker. */
typedef int loci_windowed_taker(void *data, const struct loci_windowed_outcome *outcome);
int loci_windowed_take(struct loci_windowed *windowed, loci_windowed_taker *taker, void *data);
/* Those that are held, open ones among them. */
size_t loci_windowed_n_untaken(const struct loci_windowed *windowed);

#endif
