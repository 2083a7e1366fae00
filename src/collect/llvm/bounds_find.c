/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which loops are bounded. */
#include "collect/llvm/bounds.h"

#include "collect/llvm/loops.h"

#include <stdlib.h>

/* A test each turn is little in a longer loop, and it stands there twice. */
#define INSTRUCTIONS_MAX 32

static bool is_run(const struct loci_plan *plan, uint32_t loop)
{
	for (size_t i = 0; i < plan->n_runs; i++)
		if (plan->run[i].loop == loop)
			return true;
	return false;
}

/* All references of the loop execute each turn, and none may be large; how many they are, or 0. */
static uint32_t counted_each(
	const struct loci_plan *plan, const struct loci_flow *flow, uint32_t loop)
{
	const struct loci_flow_block *header = &flow->block[flow->loop[loop].header];
	uint32_t latch = header->predecessor[header->predecessor[0] < flow->loop[loop].header];
	uint32_t each = 0;
	for (size_t i = 0; i < plan->n_pieces; i++) {
		const struct loci_plan_piece *piece = &plan->piece[i];
		if (flow->block[piece->home].loop != loop || piece->n_counted == 0)
			continue;
		if (!loci_ir_loop_always(plan->evolution, flow->block[piece->home].block,
			    flow->block[latch].block))
			return 0;
		for (uint32_t k = 0; k < piece->n_refs; k++)
			if (plan->ref[piece->first_ref + k].may_be_large)
				return 0;
		each += piece->n_counted;
	}
	return each;
}

/* What leaves the loop is a jump that goes one of two ways. */
static bool has_plain_exits(const struct loci_flow *flow, uint32_t loop)
{
	for (uint32_t i = flow->loop[loop].header; i < flow->n_blocks; i++) {
		const struct loci_flow_block *block = &flow->block[i];
		bool leaves = false;
		if (block->loop != loop)
			continue;
		for (uint32_t k = 0; k < block->n_successors; k++)
			leaves |= flow->block[block->successor[k]].loop != loop;
		if (leaves &&
			(block->n_successors != 2 ||
				!LLVMIsABranchInst(LLVMGetBasicBlockTerminator(block->block))))
			return false;
	}
	return true;
}

static bool is_small(const struct loci_flow *flow, uint32_t loop)
{
	size_t n = 0;
	for (uint32_t i = flow->loop[loop].header; i < flow->n_blocks; i++)
		if (flow->block[i].loop == loop)
			for (LLVMValueRef at = LLVMGetFirstInstruction(flow->block[i].block); at;
				at = LLVMGetNextInstruction(at))
				n += !LLVMIsADbgInfoIntrinsic(at);
	return n <= INSTRUCTIONS_MAX;
}

static void find(struct loci_plan *plan, const struct loci_flow *flow, uint32_t loop)
{
	struct loci_plan_bound bound = { .loop = loop };
	if (is_run(plan, loop) ||
		!loci_flow_entered_once(flow, flow->loop[loop].header, &bound.entry) ||
		!is_small(flow, loop) || !has_plain_exits(flow, loop))
		return;
	if (!plan->evolution)
		plan->evolution = loci_ir_loops_new(plan->function);
	bound.each = counted_each(plan, flow, loop);
	if (bound.each == 0 ||
		!loci_ir_loop_is_bounded(
			plan->evolution, loop, bound.each, &bound.counter, &bound.factor))
		return;
	plan->bound = loci_grown(plan->bound, plan->n_bounds, sizeof(*plan->bound));
	plan->bound[plan->n_bounds++] = bound;
}

void loci_bounds_find(struct loci_plan *plan, const struct loci_flow *flow)
{
	for (uint32_t i = 0; i < flow->n_loops; i++)
		if (flow->loop[i].is_innermost && !flow->loop[i].is_short && plan->is_active[i] &&
			!plan->is_synced[i])
			find(plan, flow, i);
}
