/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/runs.h"

#include "collect/llvm/loops.h"
#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <stdlib.h>

#define REFS_MAX  126
/* Fewer turns take no more words as they are. */
#define TIMES_MIN 4

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

/* One way in, and one way round. */
static bool is_entered_once(const struct loci_flow *flow, uint32_t header, uint32_t *ret_entry)
{
	const struct loci_flow_block *block = &flow->block[header];
	if (block->n_predecessors != 2)
		return false;
	*ret_entry = block->predecessor[block->predecessor[0] < header ? 0 : 1];
	return *ret_entry < header && flow->block[*ret_entry].n_successors == 1;
}

static uint32_t exit_of(const struct loci_flow *flow, uint32_t exiting, uint32_t loop)
{
	const struct loci_flow_block *block = &flow->block[exiting];
	for (uint32_t i = 0; i < block->n_successors; i++)
		if (flow->block[block->successor[i]].loop != loop)
			return block->successor[i];
	return LOCI_FLOW_NONE;
}

static void find(struct loci_plan *plan, const struct loci_flow *flow, uint32_t loop)
{
	struct loci_plan_run run = { .loop = loop, .block = block_of(plan, loop) };
	LLVMBasicBlockRef exiting;
	if (run.block == LOCI_PLAN_NONE || !is_possible(plan, &plan->block[run.block]) ||
		!is_entered_once(flow, flow->loop[loop].header, &run.entry))
		return;
	if (!plan->evolution)
		plan->evolution = loci_ir_loops_new(plan->function);
	if (!loci_ir_loop_is_counted(
		    plan->evolution, loop, TIMES_MIN, LOCI_CC_RUN_TIMES, &exiting) ||
		!is_steady(plan, flow, loop, &plan->block[run.block], exiting))
		return;
	run.exiting = loci_flow_number(flow, exiting);
	run.exit = exit_of(flow, run.exiting, loop);
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
}

/* A run in the tracing copy. */
struct run {
	const struct loci_plan_run *plan;
	LLVMBasicBlockRef *block; /* of the loop, its header first, its latch last */
	size_t n_blocks;
	struct loci_ir_copy *plain;  /* of the tracing copy's loop */
	LLVMValueRef counted, times; /* how often it goes round, in either copy */
};

struct loci_runs {
	struct loci_emit *emit;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	const struct loci_ir_copy *copy;
	struct run *run; /* by number of the plan's */
	LLVMValueRef *outliving;
	size_t n_outliving;
};

static LLVMBasicBlockRef block_copy(const struct loci_ir_copy *copy, LLVMBasicBlockRef block)
{
	return LLVMValueAsBasicBlock(loci_ir_copy_of(copy, LLVMBasicBlockAsValue(block)));
}

static LLVMValueRef plain_of(
	const struct loci_runs *runs, const struct run *run, LLVMValueRef value)
{
	return loci_ir_copy_of(run->plain, loci_ir_copy_of(runs->copy, value));
}

static void copy_run(struct loci_runs *runs, struct run *run)
{
	const struct loci_flow *flow = runs->flow;
	run->block = loci_zeroed(flow->n_blocks, sizeof(*run->block));
	for (size_t i = 1; i < flow->n_blocks; i++)
		if (flow->block[i].loop == run->plan->loop)
			run->block[run->n_blocks++] = block_copy(runs->copy, flow->block[i].block);
	run->plain = loci_ir_copy_new(run->block, run->n_blocks);
	run->times = loci_ir_copy_of(runs->copy, run->counted);
}

/* Whether the loop's value is used behind it otherwise than where it is left. */
static bool outlives(const struct loci_runs *runs, const struct run *run, LLVMValueRef value)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		uint32_t at = loci_flow_number(runs->flow, LLVMGetInstructionParent(user));
		if (runs->flow->block[at].loop != run->plan->loop &&
			!(LLVMIsAPHINode(user) && at == run->plan->exit))
			return true;
	}
	return false;
}

static void find_outliving(struct loci_runs *runs, const struct run *run)
{
	for (size_t i = 1; i < runs->flow->n_blocks; i++) {
		if (runs->flow->block[i].loop != run->plan->loop)
			continue;
		for (LLVMValueRef at = LLVMGetFirstInstruction(runs->flow->block[i].block); at;
			at = LLVMGetNextInstruction(at)) {
			if (!outlives(runs, run, at))
				continue;
			runs->outliving = loci_grown(
				runs->outliving, runs->n_outliving, sizeof(*runs->outliving));
			runs->outliving[runs->n_outliving++] = at;
		}
	}
}

struct loci_runs *loci_runs_new(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_flow *flow)
{
	struct loci_runs *runs = loci_zeroed(1, sizeof(*runs));
	*runs = (struct loci_runs){ .emit = emit, .plan = plan, .flow = flow };
	runs->run = loci_zeroed(plan->n_runs, sizeof(*runs->run));
	for (size_t i = 0; i < plan->n_runs; i++) {
		LLVMBasicBlockRef entry = flow->block[plan->run[i].entry].block;
		runs->run[i].plan = &plan->run[i];
		runs->run[i].counted = loci_ir_loop_times(
			plan->evolution, plan->run[i].loop, LLVMGetBasicBlockTerminator(entry));
	}
	return runs;
}

void loci_runs_copy(struct loci_runs *runs, const struct loci_ir_copy *copy)
{
	runs->copy = copy;
	for (size_t i = 0; i < runs->plan->n_runs; i++) {
		copy_run(runs, &runs->run[i]);
		find_outliving(runs, &runs->run[i]);
	}
}

/* Whether the loop is to be told by a run, for the end of the block from which it is entered. */
static LLVMValueRef is_wanted(struct loci_emit *emit, LLVMValueRef times)
{
	LLVMTypeRef half = LLVMInt32TypeInContext(emit->context);
	LLVMValueRef allowed = LLVMGetNamedGlobal(emit->module, "__loci_runs");
	if (!allowed)
		allowed = LLVMAddGlobal(emit->module, half, "__loci_runs");
	LLVMValueRef value = LLVMBuildLoad2(emit->builder, half, allowed, "");
	LLVMValueRef beyond =
		LLVMBuildSub(emit->builder, times, loci_emit_number(emit, TIMES_MIN), "");
	LLVMValueRef is_allowed =
		LLVMBuildICmp(emit->builder, LLVMIntNE, value, LLVMConstInt(half, 0, 0), "");
	LLVMValueRef fits = LLVMBuildICmp(emit->builder, LLVMIntULE, beyond,
		loci_emit_number(emit, LOCI_CC_RUN_TIMES - TIMES_MIN), "");
	return LLVMBuildAnd(emit->builder, is_allowed, fits, "");
}

static LLVMValueRef to_word(struct loci_emit *emit, LLVMValueRef pointer)
{
	return LLVMBuildPtrToInt(emit->builder, pointer, emit->word, "");
}

/* The words, and what they take from the budget, where the plain loop has ended. */
static void append(struct loci_runs *runs, const struct run *run, LLVMBasicBlockRef entry)
{
	struct loci_emit *emit = runs->emit;
	const struct loci_plan_block *block = &runs->plan->block[run->plan->block];
	uint32_t n_raw = 2 + 2 * block->n_refs, at = 0;
	struct loci_ir_start *start =
		loci_ir_start_new(run->block, run->n_blocks, entry, run->block[run->n_blocks - 1]);

	loci_emit_ready(emit);
	LLVMValueRef cursor = loci_emit_get_cursor(emit);
	uint64_t beyond = loci_mark_word(LOCI_MARK_RUN, n_raw, run->plan->block) -
		loci_mark_word(LOCI_MARK_BLOCK, 0, 0);
	loci_emit_marker(emit, cursor, at++, beyond);
	loci_emit_store_word(emit, run->times, loci_emit_away(emit, cursor, at++));
	loci_emit_store_word(emit, loci_emit_number(emit, 0), loci_emit_away(emit, cursor, at++));
	for (uint32_t i = 0; i < block->n_refs; i++) {
		const struct loci_plan_ref *ref = &runs->plan->ref[block->first_ref + i];
		LLVMValueRef address = loci_ir_copy_of(runs->copy, ref->address), step = ref->step;
		LLVMValueRef first =
			to_word(emit, loci_ir_start_value(start, emit->builder, address, 0));
		if (!step)
			step = LLVMBuildSub(emit->builder,
				to_word(emit,
					loci_ir_start_value(start, emit->builder, address, 1)),
				first, "");
		loci_emit_store_word(emit, first, loci_emit_away(emit, cursor, at++));
		loci_emit_store_word(emit, step, loci_emit_away(emit, cursor, at++));
	}
	loci_emit_set_cursor(emit, cursor, at);
	loci_emit_take_in_memory(emit,
		LLVMBuildMul(emit->builder, run->times, loci_emit_number(emit, block->n_refs), ""));
	loci_ir_start_free(start);
}

static LLVMValueRef incoming_from(LLVMValueRef phi, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (LLVMGetIncomingBlock(phi, i) == block)
			return LLVMGetIncomingValue(phi, i);
	return NULL;
}

/* From the plain loop's last turn through `ended` to where the loop is left. */
static void connect_exit(struct loci_runs *runs, const struct run *run, LLVMBasicBlockRef ended)
{
	LLVMBasicBlockRef exiting =
		block_copy(runs->copy, runs->flow->block[run->plan->exiting].block);
	LLVMBasicBlockRef exit = block_copy(runs->copy, runs->flow->block[run->plan->exit].block);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block_copy(run->plain, exiting));
	for (LLVMValueRef phi = LLVMGetFirstInstruction(exit); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		LLVMValueRef value = loci_ir_copy_of(run->plain, incoming_from(phi, exiting));
		LLVMAddIncoming(phi, &value, &ended, 1);
	}
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		if (LLVMGetSuccessor(end, i) == exit)
			LLVMSetSuccessor(end, i, ended);
	LLVMBuildBr(runs->emit->builder, exit);
}

static void make(struct loci_runs *runs, struct run *run)
{
	struct loci_emit *emit = runs->emit;
	LLVMBasicBlockRef header = run->block[0];
	LLVMValueRef enter = loci_ir_copy_of(
		runs->copy, LLVMGetBasicBlockTerminator(runs->flow->block[run->plan->entry].block));
	LLVMBasicBlockRef entry = LLVMGetInstructionParent(enter);
	LLVMBasicBlockRef usual = loci_ir_split_before(enter);
	LLVMBasicBlockRef plain = block_copy(run->plain, header);
	LLVMBasicBlockRef ended = LLVMInsertBasicBlockInContext(emit->context, usual, "");

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(entry));
	loci_emit_at_end(emit, entry);
	LLVMBuildCondBr(emit->builder, is_wanted(emit, run->times), plain, usual);
	loci_emit_at_end(emit, ended);
	append(runs, run, usual);
	connect_exit(runs, run, ended);
}

void loci_runs_make(struct loci_runs *runs)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++)
		make(runs, &runs->run[i]);
	for (size_t i = 0; i < runs->plan->n_runs; i++)
		loci_ir_erase_unused(runs->run[i].counted);
}

LLVMValueRef loci_runs_outliving(const struct loci_runs *runs, size_t number)
{
	return number < runs->n_outliving ? runs->outliving[number] : NULL;
}

void loci_runs_demote(const struct loci_runs *runs, LLVMValueRef value, LLVMValueRef slot)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++) {
		LLVMValueRef plain = plain_of(runs, &runs->run[i], value);
		if (plain != loci_ir_copy_of(runs->copy, value))
			loci_ir_demote(plain, slot);
	}
}

void loci_runs_free(struct loci_runs *runs)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++) {
		loci_ir_copy_free(runs->run[i].plain);
		free(runs->run[i].block);
	}
	free(runs->run);
	free(runs->outliving);
	free(runs);
}
