/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where control goes between references. Most blocks only follow the one before, or start the
 * innermost loop's next iteration: that is inline. For the attribution's own files. */
#ifndef LOCI_ANALYSE_ATTRIBUTE_FLOW_H
#define LOCI_ANALYSE_ATTRIBUTE_FLOW_H

#include "analyse/attribute_touch.h"

/* Where the flow of control goes must be told before the next touch: makes room to tell it. */
int loci_flow_prepare(struct loci_attribution *a, struct loci_err *err);
/* The context, the thread or the time is another. */
void loci_flow_refresh(struct loci_attribution *a);
/* The stage may be another. */
int loci_flow_stage(struct loci_attribution *a, struct loci_err *err);
/* References counted so far go where they belong. */
void loci_flow_count(struct loci_attribution *a);

/* Before a reference whose kind is LOCI_CODE_SPECIAL. 1: it is none that counts. */
int loci_flow_special(
	struct loci_attribution *a, uint32_t definition, uint64_t address, struct loci_err *err);
/* A load that may have been a return. */
int loci_flow_return(struct loci_attribution *a, uint64_t address, struct loci_err *err);

/* A block without references ran so many times, by the number of its definition. */
int loci_flow_plain(
	struct loci_attribution *a, uint32_t definition, uint64_t times, struct loci_err *err);
/* Threads tell how often they ran a block. */
int loci_flow_told(
	struct loci_attribution *a, const struct loci_event *event, struct loci_err *err);
/* Who counts the executions of a block. */
int loci_flow_ask_ran(struct loci_attribution *a, struct loci_code_block *block,
	uint32_t definition, struct loci_err *err);

/* The region of the current thread; 0: none. */
LOCI_HOT uint32_t loci_flow_region(const struct loci_attribution *a)
{
	return a->region;
}

/* Whoever ran, so many times, in the current context. */
LOCI_HOT int loci_flow_count_ran(
	struct loci_attribution *a, uint32_t ran, uint64_t times, struct loci_err *err)
{
	if (!ran || a->paused)
		return 0;
	return loci_executed_count(&a->executed, ran, a->walk.context, loci_flow_region(a), times) <
			0
		? loci_err_nomem(err)
		: 0;
}

/* The block has run to its end, so many times; its last reference was of this definition. */
LOCI_HOT int loci_flow_ran(struct loci_attribution *a, struct loci_code_block *block,
	uint32_t definition, uint64_t times, struct loci_err *err)
{
	int r = 0;

	if (__builtin_expect(!block->ran, 1))
		return 0;
	if (__builtin_expect(block->ran == LOCI_RAN_UNASKED, 0))
		r = loci_flow_ask_ran(a, block, definition, err);
	return r < 0 ? r : loci_flow_count_ran(a, block->ran, times, err);
}

LOCI_HOT bool loci_flow_in_kernel(const struct loci_attribution *a, uint32_t definition)
{
	return a->code.blocks[a->code.block[definition]].flags & LOCI_CODE_KERNEL;
}

/* What touches from now on are remembered by. */
LOCI_HOT void loci_flow_mark(struct loci_attribution *a)
{
	a->use = (uint64_t)a->walk.context << LOCI_USE_CONTEXT | a->walk.clock << LOCI_USE_CLOCK;
}

/* Whether a special reference, which stands in the block, needs no more than what is done here. Its
 * stream tells code addresses. */
LOCI_HOT bool loci_flow_passes(struct loci_attribution *a, const struct loci_code_ref *ref,
	const struct loci_code_block *block)
{
	struct loci_walk *walk = &a->walk;

	if ((ref->kind & LOCI_CODE_SPECIAL) != LOCI_CODE_FIRST || block->flags ||
		block->function != walk->frame->function)
		return false;
	if (loci_walk_passes(walk, block))
		return true;
	if (walk->n_log + LOCI_LOOP_EVENTS > LOCI_BATCH_EVENTS)
		return false;
	walk->touch = (uint32_t)a->batch->n;
	if (!loci_walk_turn_plainly(walk, block))
		return false;
	loci_flow_mark(a);
	return true;
}

/* The last reference seen was this one. */
LOCI_HOT void loci_flow_leave(struct loci_attribution *a, const struct loci_code_ref *ref,
	const struct loci_code_block *block, uint32_t definition)
{
	a->walk.level->last = definition;
	if (__builtin_expect(!(block->flags & LOCI_CODE_OUTSIDE), 1))
		a->walk.frame->last = ref->address;
}

/* Whether the last reference of a run was a load of what could be a return address. */
LOCI_HOT bool loci_flow_may_return(
	const struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address)
{
	return ref->kind & LOCI_CODE_RETURN && address >= a->walk.base[1] &&
		a->walk.level->shadow.n;
}

/* After the last reference of a run, which stands in the block. */
LOCI_HOT int loci_flow_end(struct loci_attribution *a, const struct loci_code_ref *ref,
	const struct loci_code_block *block, uint32_t definition, uint64_t address,
	struct loci_err *err)
{
	if (__builtin_expect(!block->flags, 1)) {
		a->walk.level->last = definition;
		a->walk.frame->last = ref->address;
	} else if (block->flags & LOCI_CODE_KERNEL) {
		return 0;
	} else {
		loci_flow_leave(a, ref, block, definition);
	}
	return loci_flow_may_return(a, ref, address) ? loci_flow_return(a, address, err) : 0;
}

#endif
