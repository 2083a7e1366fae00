/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/rests.h"

#define LARGE_BLOCKS 200

unsigned loci_rests_depth(const struct loci_flow *flow)
{
	return flow->n_blocks < LARGE_BLOCKS ? 2 : 1;
}

/* Whether it is left only where a block can be put in between. */
static bool has_simple_exits(const struct loci_flow *flow, uint32_t loop)
{
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		const struct loci_flow_block *block = &flow->block[i];
		LLVMValueRef end = LLVMGetBasicBlockTerminator(block->block);
		if (!loci_flow_is_within(flow, i, loop) || LLVMIsABranchInst(end) ||
			LLVMIsASwitchInst(end))
			continue;
		for (uint32_t k = 0; k < block->n_successors; k++)
			if (!loci_flow_is_within(flow, block->successor[k], loop))
				return false;
	}
	return true;
}

/* Whether it is known when its innermost loops begin how often they go round, as where numbers are
 * computed: there a copy pays. */
static bool is_regular(const struct loci_plan *plan, const struct loci_flow *flow, uint32_t loop)
{
	for (uint32_t i = 0; i < flow->n_loops; i++)
		if (flow->loop[i].is_innermost && plan->is_active[i] && !flow->loop[i].is_known &&
			loci_flow_is_within(flow, flow->loop[i].header, loop))
			return false;
	return true;
}

void loci_rests_find(struct loci_plan *plan, const struct loci_flow *flow)
{
	if (flow->n_blocks >= LARGE_BLOCKS)
		return;
	for (uint32_t i = 0; i < flow->n_loops; i++)
		plan->is_resting[i] = flow->loop[i].depth > loci_rests_depth(flow) &&
			!flow->loop[i].is_innermost && plan->is_active[i] && !plan->is_synced[i] &&
			is_regular(plan, flow, i) && has_simple_exits(flow, i);
}

bool loci_rests_leaves(
	const struct loci_plan *plan, const struct loci_flow *flow, uint32_t from, uint32_t to)
{
	uint32_t loop = flow->block[from].loop;
	while (loop != LOCI_FLOW_NONE && !loci_flow_is_within(flow, to, loop)) {
		if (plan->is_resting[loop])
			return true;
		loop = flow->loop[loop].parent;
	}
	return false;
}
