/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Touches on their way from who attributes them to who measures them. */
#ifndef LOCI_ANALYSE_BATCH_H
#define LOCI_ANALYSE_BATCH_H

#include "analyse/context.h"
#include "analyse/stage.h"
#include "analyse/walk.h"
#include "engine/recent.h"

#define LOCI_BATCH        4096
#define LOCI_BATCH_EVENTS 1024
#define LOCI_BATCH_STAGES 256
#define LOCI_BATCH_TURNS  1024
#define LOCI_BATCH_PAD    8 /* after what is read by eights */

/* What a touch is remembered by until the block's next touch: row, context, whether it wrote, and
 * the time, in loops entered and allocations made so far, of which the low bits are kept. */
#define LOCI_ROW_BITS   20
#define LOCI_CLOCK_BITS 26
#define LOCI_CLOCK_MASK ((1u << LOCI_CLOCK_BITS) - 1)
enum {
	LOCI_USE_CONTEXT = LOCI_ROW_BITS, /* where it begins */
	LOCI_USE_WRITE = LOCI_USE_CONTEXT + LOCI_CONTEXT_BITS,
	LOCI_USE_CLOCK = LOCI_USE_WRITE + 1,
};
#define LOCI_USE_WHO ((1ull << LOCI_USE_CLOCK) - 1) /* row, context, write */
_Static_assert(LOCI_USE_CLOCK + LOCI_CLOCK_BITS == 64, "a use is one word");

static inline uint32_t loci_use_row(uint64_t use)
{
	return (uint32_t)use & ((1u << LOCI_ROW_BITS) - 1);
}

static inline uint32_t loci_use_context(uint64_t use)
{
	return (uint32_t)(use >> LOCI_USE_CONTEXT) & ((1u << LOCI_CONTEXT_BITS) - 1);
}

static inline unsigned loci_use_write(uint64_t use)
{
	return use >> LOCI_USE_WRITE & 1;
}

/* Of a process with several threads: from this touch on they are this member's, which is a thread
 * from its first touch to its end. */
struct loci_turn {
	uint32_t touch, member;
};

/* Touches, or what enters and leaves the most recent blocks (engine/recent.h): then nothing more
 * follows, left and bytes are of who leaves, and the last five arrays mean something. */
struct loci_batch {
	size_t n, n_events, n_seconds;
	size_t n_rows, n_contexts, n_stages; /* numbers in use so far */
	uint64_t block[LOCI_BATCH];
	uint64_t use[LOCI_BATCH];
	uint8_t is_write[LOCI_BATCH];
	uint32_t born[LOCI_BATCH]; /* the time its memory was allocated; 0: long ago, or never */
	/* Touches of the same block that followed at once: of no pair, no miss, and nothing that
	 * was not dirty before. left is the use of the last, the touch's own where there are none.
	 */
	uint32_t more[LOCI_BATCH];
	uint32_t more_writes[LOCI_BATCH]; /* of more */
	uint64_t left[LOCI_BATCH];
	/* Bytes of the block, a bit each; of smaller or larger blocks, the 64ths. Of all of them.
	 */
	uint64_t bytes[LOCI_BATCH];
	uint64_t time[LOCI_BATCH], left_time[LOCI_BATCH];
	uint8_t place[LOCI_BATCH], rank[LOCI_BATCH], farthest[LOCI_BATCH];
	/* Where there are turns, which joined touches do not cross: bytes of the touch alone, and
	 * those that it or the joined ones wrote, which have its use if they write. */
	uint64_t own[LOCI_BATCH], written[LOCI_BATCH];
	size_t n_turns; /* the first for the batch's first touch; none: all are of one thread */
	struct loci_turn turn[LOCI_BATCH_TURNS];
	size_t n_ended, n_members;                /* members so far */
	struct loci_turn ended[LOCI_BATCH_TURNS]; /* who touches nothing more, from this touch on */
	uint8_t missed[LOCI_BATCH + LOCI_BATCH_PAD]; /* levels; of who simulates them */
	uint32_t second[LOCI_BATCH]; /* which are the second halves of references over two blocks */
	struct loci_loop_event event[LOCI_BATCH_EVENTS];
	/* Stages, ascending, the first for the batch's first touch; none: all are of stage 0. */
	size_t n_stage_events;
	struct loci_stage_event stage[LOCI_BATCH_STAGES];
	/* Where pieces of arrays are asked for: the cells of each touch, and how many there are. */
	uint32_t n_cells;
	uint32_t cell[LOCI_BATCH][2];
};

#endif
