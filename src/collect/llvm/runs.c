/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/runs.h"

#include "collect/llvm/budget_variable.h"
#include "collect/llvm/derived.h"
#include "collect/llvm/executions.h"
#include "collect/llvm/loops.h"
#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <stdlib.h>

/* By which processors fetch code: where a loop of ten instructions begins makes a sixth of its
 * time. */
#define FETCHED_BYTES 32

/* One copy's loop, the plain one beside it, and how control gets there. */
struct side {
	const struct loci_ir_copy *copy; /* NULL: the counting copy's */
	LLVMBasicBlockRef *block;        /* of the loop, its header first, its latch last */
	size_t n_blocks;
	struct loci_ir_copy *plain;
};

enum { COUNTING, TRACING, N_SIDES };

struct run {
	const struct loci_plan_run *plan;
	LLVMValueRef times, all; /* how often it goes round, and its references then and before */
	LLVMValueRef last;       /* the budget when the counting copy's plain loop has ended .. */
	LLVMBasicBlockRef ended; /* .. which is here */
	LLVMBasicBlockRef usual; /* where that is entered that tests each turn */
	struct side side[N_SIDES];
};

struct loci_runs {
	struct loci_emit *emit;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	struct run *run; /* by number of the plan's */
	LLVMValueRef *outliving;
	size_t n_outliving;
};

static LLVMValueRef copy_of(const struct loci_ir_copy *copy, LLVMValueRef value)
{
	return copy ? loci_ir_copy_of(copy, value) : value;
}

static LLVMBasicBlockRef block_copy(const struct loci_ir_copy *copy, LLVMBasicBlockRef block)
{
	return LLVMValueAsBasicBlock(copy_of(copy, LLVMBasicBlockAsValue(block)));
}

/* The block of the side's copy. */
static LLVMBasicBlockRef block_at(
	const struct loci_runs *runs, const struct side *side, uint32_t number)
{
	return block_copy(side->copy, runs->flow->block[number].block);
}

/* Whether an address is another one each turn: then there are not enough of them for so many turns
 * that their references are more than a word holds. */
static bool moves(const struct loci_plan *plan, const struct loci_plan_block *block)
{
	for (uint32_t i = 0; i < block->n_refs; i++) {
		LLVMValueRef step = plan->ref[block->first_ref + i].step;
		if (step && LLVMConstIntGetSExtValue(step) != 0)
			return true;
	}
	return false;
}

struct loci_runs *loci_runs_new(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_flow *flow)
{
	struct loci_runs *runs = loci_zeroed(1, sizeof(*runs));
	*runs = (struct loci_runs){ .emit = emit, .plan = plan, .flow = flow };
	runs->run = loci_zeroed(plan->n_runs, sizeof(*runs->run));
	for (size_t i = 0; i < plan->n_runs; i++) {
		const struct loci_plan_run *run = &plan->run[i];
		const struct loci_plan_block *block = &plan->block[run->block];
		runs->run[i].plan = run;
		runs->run[i].times = loci_ir_loop_times(plan->evolution, run->loop,
			moves(plan, block) ? 0 : LOCI_CC_RUN_TIMES, block->n_refs, run->owed,
			&runs->run[i].all);
	}
	return runs;
}

static void copy_loop(const struct loci_runs *runs, const struct run *run, struct side *side)
{
	const struct loci_flow *flow = runs->flow;
	side->block = loci_zeroed(flow->n_blocks, sizeof(*side->block));
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		if (flow->block[i].loop == run->plan->loop)
			side->block[side->n_blocks++] = block_at(runs, side, i);
	side->plain = loci_ir_copy_new(side->block, side->n_blocks);
}

static void fold_latch(const struct side *side)
{
	loci_ir_fold_latch(block_copy(side->plain, side->block[side->n_blocks - 1]));
}

static void derive_anew(const struct side *side, LLVMBasicBlockRef entry)
{
	LLVMBasicBlockRef *plain = loci_zeroed(side->n_blocks, sizeof(LLVMBasicBlockRef));
	for (size_t i = 0; i < side->n_blocks; i++)
		plain[i] = block_copy(side->plain, side->block[i]);
	loci_derived_anew(entry, plain, side->n_blocks);
	free(plain);
}

/* Whether the loop's value is used behind it otherwise than where it is left. */
static bool outlives(const struct loci_runs *runs, const struct run *run, LLVMValueRef value)
{
	LLVMBasicBlockRef exiting = runs->flow->block[run->plan->exiting].block;
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		uint32_t at = loci_flow_number(runs->flow, LLVMGetInstructionParent(user));
		if (runs->flow->block[at].loop == run->plan->loop)
			continue;
		if (!LLVMIsAPHINode(user) || at != run->plan->exit)
			return true;
		for (unsigned i = 0; i < LLVMCountIncoming(user); i++)
			if (LLVMGetIncomingValue(user, i) == value &&
				LLVMGetIncomingBlock(user, i) != exiting)
				return true;
	}
	return false;
}

static void find_outliving(struct loci_runs *runs, const struct run *run)
{
	const struct side *side = &run->side[COUNTING];
	for (size_t i = 0; i < side->n_blocks; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(side->block[i]); at;
			at = LLVMGetNextInstruction(at)) {
			if (!outlives(runs, run, at))
				continue;
			runs->outliving = loci_grown(
				runs->outliving, runs->n_outliving, sizeof(*runs->outliving));
			runs->outliving[runs->n_outliving++] = at;
		}
}

void loci_runs_copy(struct loci_runs *runs, const struct loci_ir_copy *copy)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++) {
		struct run *run = &runs->run[i];
		run->side[TRACING].copy = copy;
		copy_loop(runs, run, &run->side[COUNTING]);
		find_outliving(runs, run);
		copy_loop(runs, run, &run->side[TRACING]);
	}
}

/* Whether the loop is to be told by a run. */
static LLVMValueRef is_wanted(struct loci_emit *emit, LLVMValueRef times)
{
	LLVMTypeRef half = LLVMInt32TypeInContext(emit->context);
	LLVMValueRef allowed = LLVMGetNamedGlobal(emit->module, "__loci_runs");
	if (!allowed)
		allowed = LLVMAddGlobal(emit->module, half, "__loci_runs");
	LLVMValueRef value = LLVMBuildLoad2(emit->builder, half, allowed, "");
	LLVMValueRef is_allowed =
		LLVMBuildICmp(emit->builder, LLVMIntNE, value, LLVMConstInt(half, 0, 0), "");
	LLVMValueRef beyond =
		LLVMBuildSub(emit->builder, times, loci_emit_number(emit, LOCI_RUN_TIMES_MIN), "");
	LLVMValueRef fits = LLVMBuildICmp(emit->builder, LLVMIntULE, beyond,
		loci_emit_number(emit, LOCI_CC_RUN_TIMES - LOCI_RUN_TIMES_MIN), "");
	return LLVMBuildAnd(emit->builder, fits, is_allowed, "");
}

static LLVMValueRef to_word(struct loci_emit *emit, LLVMValueRef pointer)
{
	return LLVMBuildPtrToInt(emit->builder, pointer, emit->word, "");
}

static LLVMBasicBlockRef new_block(const struct loci_runs *runs)
{
	return LLVMAppendBasicBlockInContext(runs->emit->context, runs->plan->function, "");
}

/* The references of the loop itself. */
static LLVMValueRef own(
	const struct loci_runs *runs, const struct run *run, const struct side *side)
{
	return LLVMBuildSub(runs->emit->builder, copy_of(side->copy, run->all),
		loci_emit_number(runs->emit, run->plan->owed), "");
}

/* The words, and what they take from the budget, where the plain loop has ended. */
static void append(struct loci_runs *runs, const struct run *run, const struct side *side,
	LLVMBasicBlockRef entry)
{
	struct loci_emit *emit = runs->emit;
	const struct loci_plan_block *block = &runs->plan->block[run->plan->block];
	uint32_t n_raw = 2 + 2 * block->n_refs, at = 0;
	struct loci_ir_start *start = loci_ir_start_new(
		side->block, side->n_blocks, entry, side->block[side->n_blocks - 1]);
	LLVMValueRef cursor = loci_emit_get_cursor(emit);
	uint64_t beyond = loci_mark_word(LOCI_MARK_RUN, n_raw, run->plan->block) -
		loci_mark_word(LOCI_MARK_BLOCK, 0, 0);

	loci_emit_marker_beyond(emit, cursor, at++, beyond);
	LLVMValueRef times = copy_of(side->copy, run->times);
	loci_emit_store_word(emit, times, loci_emit_away(emit, cursor, at++));
	loci_emit_store_word(emit, loci_emit_number(emit, 0), loci_emit_away(emit, cursor, at++));
	for (uint32_t i = 0; i < block->n_refs; i++) {
		const struct loci_plan_ref *ref = &runs->plan->ref[block->first_ref + i];
		LLVMValueRef address = copy_of(side->copy, ref->address), step = ref->step;
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
	loci_emit_take_in_memory(emit, own(runs, run, side));
	loci_ir_start_free(start);
}

/* From the plain loop's last turn to `ended`, and from where that ends to where the loop is left.
 */
static void connect_exit(struct loci_runs *runs, const struct run *run, const struct side *side,
	LLVMBasicBlockRef ended)
{
	LLVMBasicBlockRef exiting = block_at(runs, side, run->plan->exiting);
	LLVMBasicBlockRef exit = block_at(runs, side, run->plan->exit);
	LLVMBasicBlockRef last = LLVMGetInsertBlock(runs->emit->builder);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block_copy(side->plain, exiting));
	for (LLVMValueRef phi = LLVMGetFirstInstruction(exit); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		LLVMValueRef value = loci_ir_copy_of(side->plain, loci_ir_incoming(phi, exiting));
		LLVMAddIncoming(phi, &value, &last, 1);
	}
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		if (LLVMGetSuccessor(end, i) == exit)
			LLVMSetSuccessor(end, i, ended);
	LLVMBuildBr(runs->emit->builder, exit);
}

/* Where the loop is entered the builder may choose between the plain loop and what is returned. */
static LLVMBasicBlockRef open_entry(
	struct loci_runs *runs, const struct run *run, const struct side *side)
{
	LLVMBasicBlockRef from = runs->flow->block[run->plan->entry].block;
	LLVMValueRef enter = copy_of(side->copy, LLVMGetBasicBlockTerminator(from));
	LLVMBasicBlockRef entry = LLVMGetInstructionParent(enter);
	LLVMBasicBlockRef usual = loci_ir_split_before(enter);
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(entry));
	loci_emit_at_end(runs->emit, entry);
	return usual;
}

static void make_tracing(struct loci_runs *runs, const struct run *run)
{
	struct loci_emit *emit = runs->emit;
	const struct side *side = &run->side[TRACING];
	LLVMBasicBlockRef usual = open_entry(runs, run, side), ended = new_block(runs);
	LLVMBasicBlockRef full = new_block(runs), ready = new_block(runs);

	LLVMBuildCondBr(emit->builder, is_wanted(emit, copy_of(side->copy, run->times)),
		block_copy(side->plain, side->block[0]), usual);
	loci_emit_at_end(emit, ended);
	loci_emit_branch_unlikely(emit, loci_emit_is_full(emit), full, ready);
	loci_emit_at_end(emit, full);
	loci_emit_ready(emit);
	LLVMBuildBr(emit->builder, ready);
	loci_emit_at_end(emit, ready);
	append(runs, run, side, usual);
	connect_exit(runs, run, side, ended);
	fold_latch(side);
}

/* A loop that the budget lasts for need not test it, nor count each turn. */
static void make_counting(
	struct loci_runs *runs, struct run *run, struct loci_increments *increments)
{
	struct loci_emit *emit = runs->emit;
	const struct side *side = &run->side[COUNTING];
	LLVMBasicBlockRef usual = open_entry(runs, run, side), begun = new_block(runs);
	LLVMBasicBlockRef entry = LLVMGetInsertBlock(emit->builder), ended = new_block(runs);
	LLVMBasicBlockRef plain = block_copy(side->plain, side->block[0]);

	LLVMValueRef left = LLVMBuildFreeze(emit->builder, loci_emit_left(emit, run->all), "");
	loci_emit_branch_unlikely(emit,
		LLVMBuildICmp(emit->builder, LLVMIntSLT, left, loci_emit_number(emit, 0), ""),
		usual, begun);
	loci_emit_at_end(emit, begun);
	loci_emit_leave(emit, left);
	LLVMBuildBr(emit->builder, plain);
	loci_ir_rename_predecessor(plain, entry, begun);
	derive_anew(side, begun);
	/* So that what is tested need not be another register. */
	loci_emit_before(emit, LLVMGetBasicBlockTerminator(usual));
	loci_emit_leave(emit, LLVMBuildAdd(emit->builder, left, own(runs, run, side), ""));
	loci_emit_at_end(emit, ended);
	if (increments)
		loci_increments_run(increments, run->plan, run->times);
	connect_exit(runs, run, side, ended);
	loci_ir_align_loop(block_copy(side->plain, side->block[side->n_blocks - 1]), FETCHED_BYTES);
	fold_latch(side);
	run->last = left;
	run->ended = ended;
	run->usual = usual;
}

void loci_runs_make_tracing(struct loci_runs *runs)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++)
		make_tracing(runs, &runs->run[i]);
}

void loci_runs_make_counting(struct loci_runs *runs, struct loci_increments *increments)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++)
		make_counting(runs, &runs->run[i], increments);
}

static void part(const struct loci_runs *runs, const struct run *run)
{
	const struct loci_flow *flow = runs->flow;
	const struct side *side = &run->side[COUNTING];
	uint32_t parent = flow->loop[run->plan->loop].parent;
	if (parent == LOCI_FLOW_NONE)
		return;
	LLVMBasicBlockRef *around = loci_zeroed(flow->n_blocks, sizeof(*around));
	size_t n = 0;
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		if (flow->block[i].loop != run->plan->loop && loci_flow_is_within(flow, i, parent))
			around[n++] = flow->block[i].block;
	loci_derived_apart(run->usual, side->block, side->n_blocks, around, n);
	free(around);
}

void loci_runs_part(const struct loci_runs *runs)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++)
		part(runs, &runs->run[i]);
}

/* In the plain loop the budget is what it will be at its end. The code is the same whether that is
 * described or not. */
static void describe(
	const struct loci_runs *runs, const struct run *run, const struct loci_ir_copy *copy)
{
	const struct loci_emit *emit = runs->emit;
	const struct side *side = &run->side[COUNTING];
	LLVMBasicBlockRef header = block_copy(side->plain, side->block[0]);
	LLVMBasicBlockRef exiting =
		block_copy(side->plain, block_at(runs, side, run->plan->exiting));
	LLVMBasicBlockRef ended = block_copy(copy, run->ended);
	LLVMValueRef last = copy_of(copy, run->last);
	uint32_t each = runs->plan->block[run->plan->block].n_refs;
	struct loci_countdown turns = { 0 };

	header = block_copy(copy, header);
	loci_countdown_make(header, block_copy(copy, exiting), &turns);
	loci_budget_variable_run(emit->budget_variable, header, &turns, last, each);
	loci_budget_variable_left(emit->left_variable, header, &turns, last, each);
	loci_budget_variable_set(emit->budget_variable, ended, last);
	loci_budget_variable_set(emit->left_variable, ended, NULL);
}

void loci_runs_describe_budget(const struct loci_runs *runs, const struct loci_ir_copy *copy)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++)
		if (!copy || block_copy(copy, runs->run[i].ended) != runs->run[i].ended)
			describe(runs, &runs->run[i], copy);
}

LLVMValueRef loci_runs_outliving(const struct loci_runs *runs, size_t number)
{
	return number < runs->n_outliving ? runs->outliving[number] : NULL;
}

void loci_runs_demote(const struct loci_runs *runs, LLVMValueRef value, LLVMValueRef slot)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++)
		for (unsigned k = 0; k < N_SIDES; k++) {
			const struct side *side = &runs->run[i].side[k];
			LLVMValueRef here = copy_of(side->copy, value);
			LLVMValueRef plain = loci_ir_copy_of(side->plain, here);
			if (plain != here)
				loci_ir_demote(plain, slot);
		}
}

void loci_runs_free(struct loci_runs *runs)
{
	for (size_t i = 0; i < runs->plan->n_runs; i++)
		for (unsigned k = 0; k < N_SIDES; k++) {
			loci_ir_copy_free(runs->run[i].side[k].plain);
			free(runs->run[i].side[k].block);
		}
	free(runs->run);
	free(runs->outliving);
	free(runs);
}
