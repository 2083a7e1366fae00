/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which loops may be told by a run. */
#include "collect/llvm/runs.h"

#include "collect/llvm/loops.h"
#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <stdlib.h>

#define REFS_MAX 126

/* The only block of the stream that has references of the loop; or LOCI_PLAN_NONE. */
static uint32_t block_of(const struct loci_plan *plan, uint32_t loop)
{
	uint32_t found = LOCI_PLAN_NONE;
	for (uint32_t i = 0; i < plan->n_blocks; i++) {
		if (plan->block[i].loop != loop)
			continue;
		if (found != LOCI_PLAN_NONE)
			return LOCI_PLAN_NONE;
		found = i;
	}
	return found;
}

static bool is_plain(const struct loci_plan_ref *ref)
{
	return ref->op < LOCI_OP_FRAME && ref->size_bytes > 0 && !ref->mask && !ref->index &&
		!ref->is_at_end && !(ref->flags & LOCI_REF_ATOMIC);
}

static bool is_possible(const struct loci_plan *plan, const struct loci_plan_block *block)
{
	if (block->n_refs > REFS_MAX || (block->flags & LOCI_BLOCK_ENTRY))
		return false;
	for (uint32_t i = 0; i < block->n_refs; i++)
		if (!is_plain(&plan->ref[block->first_ref + i]))
			return false;
	return true;
}

/* All of the block executes each turn, and its addresses go in equal steps. */
static bool is_steady(struct loci_plan *plan, const struct loci_flow *flow, uint32_t loop,
	const struct loci_plan_block *block, LLVMBasicBlockRef exiting)
{
	for (size_t i = 0; i < plan->n_pieces; i++)
		if (flow->block[plan->piece[i].home].loop == loop &&
			!loci_ir_loop_always(
				plan->evolution, flow->block[plan->piece[i].home].block, exiting))
			return false;
	for (uint32_t i = 0; i < block->n_refs; i++) {
		struct loci_plan_ref *ref = &plan->ref[block->first_ref + i];
		if (!loci_ir_loop_steps(plan->evolution, loop, ref->address, &ref->step))
			return false;
	}
	return true;
}

/* Calls into code that is not seen are counted by the tracing copy, which a run leaves out. */
static bool calls_outside(const struct loci_plan *plan, const struct loci_flow *flow, uint32_t loop)
{
	for (size_t i = 0; i < plan->n_outside; i++) {
		LLVMBasicBlockRef home = LLVMGetInstructionParent(plan->outside[i].instruction);
		if (flow->block[loci_flow_number(flow, home)].loop == loop)
			return true;
	}
	return false;
}

static uint32_t exit_of(const struct loci_flow *flow, uint32_t exiting, uint32_t loop)
{
	const struct loci_flow_block *block = &flow->block[exiting];
	for (uint32_t i = 0; i < block->n_successors; i++)
		if (flow->block[block->successor[i]].loop != loop)
			return block->successor[i];
	return LOCI_FLOW_NONE;
}

static uint32_t counted_in(const struct loci_plan *plan, uint32_t block)
{
	uint32_t n = 0;
	for (size_t i = 0; i < plan->n_pieces; i++)
		if (plan->piece[i].home == block)
			n += plan->piece[i].n_counted;
	return n;
}

static bool has_sync(const struct loci_plan *plan, uint32_t block)
{
	for (size_t i = 0; i < plan->n_syncs; i++)
		if (plan->sync[i].home == block)
			return true;
	return false;
}

/* What is sure to have waited to be counted since a block that leads there alone. */
static uint32_t owed_by(const struct loci_plan *plan, const struct loci_flow *flow, uint32_t entry)
{
	const struct loci_flow_block *at = &flow->block[entry];
	if (has_sync(plan, entry))
		return 0;
	uint32_t n = counted_in(plan, entry), before = at->predecessor[0];
	if (at->n_predecessors == 1 && before > 0 && before < entry &&
		flow->block[before].n_successors == 1 && flow->block[before].loop == at->loop &&
		!has_sync(plan, before))
		n += counted_in(plan, before);
	return n;
}

static void find(struct loci_plan *plan, const struct loci_flow *flow, uint32_t loop)
{
	struct loci_plan_run run = { .loop = loop, .block = block_of(plan, loop) };
	LLVMBasicBlockRef exiting;
	if (run.block == LOCI_PLAN_NONE || !is_possible(plan, &plan->block[run.block]) ||
		calls_outside(plan, flow, loop) ||
		!loci_flow_entered_once(flow, flow->loop[loop].header, &run.entry))
		return;
	if (!plan->evolution)
		plan->evolution = loci_ir_loops_new(plan->function);
	if (!loci_ir_loop_is_counted(
		    plan->evolution, loop, LOCI_RUN_TIMES_MIN, LOCI_CC_RUN_TIMES, &exiting) ||
		!is_steady(plan, flow, loop, &plan->block[run.block], exiting))
		return;
	run.exiting = loci_flow_number(flow, exiting);
	run.exit = exit_of(flow, run.exiting, loop);
	run.owed = owed_by(plan, flow, run.entry);
	plan->run = loci_grown(plan->run, plan->n_runs, sizeof(*plan->run));
	plan->run[plan->n_runs++] = run;
}

void loci_runs_find(struct loci_plan *plan, const struct loci_flow *flow)
{
	bool *is_outer = loci_zeroed(flow->n_loops, sizeof(*is_outer));
	for (size_t i = 0; i < flow->n_loops; i++)
		if (flow->loop[i].parent != LOCI_FLOW_NONE)
			is_outer[flow->loop[i].parent] = true;
	for (uint32_t i = 0; i < flow->n_loops; i++)
		if (!is_outer[i] && plan->is_active[i] && !plan->is_synced[i])
			find(plan, flow, i);
	free(is_outer);
}

void loci_runs_forget(struct loci_plan *plan)
{
	if (plan->evolution)
		loci_ir_loops_free(plan->evolution);
	free(plan->run);
	free(plan->bound);
}
