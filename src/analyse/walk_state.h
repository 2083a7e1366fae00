/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the walk share: code whose functions and loops are learnt by running it
 * (walk.c), and fixed code (walk_fixed.c). */
#ifndef LOCI_ANALYSE_WALK_STATE_H
#define LOCI_ANALYSE_WALK_STATE_H

#include "analyse/walk.h"

/* The top frame is another. */
void loci_walk_refresh(struct loci_walk *walk);
/* Its loops are others. */
void loci_walk_refresh_loops(struct loci_walk *walk);
/* Until n are left. */
void loci_walk_cut_loops(struct loci_walk *walk, size_t n);
void loci_walk_pop_frames(struct loci_walk *walk, size_t n);
int loci_walk_push_loop(struct loci_walk *walk, uint32_t number);
int loci_walk_push_frame(struct loci_walk *walk, const struct loci_shadow_frame *frame,
	uint32_t function, uint64_t last);

/* Of fixed code. */
int loci_walk_enter_fixed(struct loci_walk *walk, uint32_t definition, uint64_t frame_address);
/* Code of this function runs, which is not the top frame's. */
int loci_walk_settle_fixed(struct loci_walk *walk, uint32_t function);
bool loci_walk_is_plain(const struct loci_walk *walk, uint32_t function);
/* A block of the top frame's function, whose loops are known. */
int loci_walk_turn_fixed(struct loci_walk *walk, struct loci_code_block *block);
bool loci_walk_turn_fixed_plainly(struct loci_walk *walk, const struct loci_code_block *block);
/* Frame i goes: a coroutine may come back to it. */
void loci_walk_leave_frame(struct loci_walk *walk, size_t i);

/* Says what the current stack of loops is like now. What the event before said of entries that are
 * gone is forgotten if no touch came between. */
static inline void loci_walk_log_loops(
	struct loci_walk *walk, uint32_t length, uint32_t loop, uint64_t time)
{
	struct loci_loop_event *event;

	if (!walk->log)
		return;
	event = &walk->log[walk->n_log];
	if (walk->n_log && event[-1].touch == walk->touch &&
		event[-1].stack == walk->level->stack && event[-1].length >= length)
		event--;
	*event = (struct loci_loop_event){ .touch = walk->touch,
		.stack = walk->level->stack,
		.length = length,
		.loop = loop,
		.time = time };
	walk->n_log = (size_t)(event - walk->log) + 1;
}

#endif
