/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a process in an order that they may have run in. A source that yields words of
 * several threads, told apart by SWITCH, in whatever order they came to hand, becomes one in which
 *
 *   - each thread's words keep their order, and definitions stand before what uses them,
 *   - the numbered markers (SYNC by object, allocations and their like by process) stand in the
 *     order of their numbers, so that all that happens before something else stands before it,
 *   - in between threads advance by equal numbers of references, or by their time stamps (TIME, a
 *     straight line between two).
 *
 * The result depends on what the threads did and not on when their words arrived, as long as no
 * thread falls further behind than may be held. A thread that is BLOCKED and has no words is not
 * waited for in the end; when it comes back it goes on from where the others are. One that waited
 * for a number goes on from where it was, but not from before what let it go. What may be
 * held is bounded: if a thread that runs has told nothing for so long that the bound is reached,
 * the others go on without it. A number that never comes (its thread was killed) is given up when
 * nothing else is left to do, or the bound is reached. A RUN is cut where its thread's turn ends.
 *
 * A process with one thread passes through untouched, without a copy. */
#ifndef LOCI_STREAM_THREAD_ORDER_H
#define LOCI_STREAM_THREAD_ORDER_H

#include "stream/source.h"

enum loci_order {
	LOCI_ORDER_REFS,    /* by equal numbers of references */
	LOCI_ORDER_TIME,    /* by time stamps */
	LOCI_ORDER_ARRIVAL, /* as they come: nothing is held */
};

#define LOCI_ORDER_TURN         64                /* references of a turn */
#define LOCI_ORDER_HELD         ((size_t)1 << 22) /* words */
/* Where threads go on recording until it is known what came of their samples. */
#define LOCI_ORDER_HELD_SAMPLES ((size_t)1 << 16)

struct loci_order_options {
	enum loci_order order;
	uint32_t turn_refs; /* 0: LOCI_ORDER_TURN */
	size_t held_words;  /* 0: LOCI_ORDER_HELD, or LOCI_ORDER_HELD_SAMPLES */
};

/* In a stream of samples (LOCI_CAP_SAMPLES) threads are waited for within their windows only.
 *
 * Takes the source over. Its info is that of the source. */
int loci_order_new_take(struct loci_source *source, const struct loci_order_options *options,
	struct loci_source **ret, struct loci_err *err);

struct loci_order_counts {
	uint64_t given_up; /* numbers that never came */
	uint64_t went_on;  /* times the others went on without a thread that may run */
	size_t most_held;  /* words */
};
void loci_order_counts(const struct loci_source *order, struct loci_order_counts *ret);

#endif
