/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a body cannot stand twice, or is so large that it should not, every piece counts, and if
 * the budget says so appends its words right before its last reference executes: by then all
 * addresses are there. No edge is split, so every kind of jump may be in the function. */
#include "collect/llvm/copies.h"

#include "collect/llvm/bulk.h"
#include "collect/llvm/executions.h"
#include "collect/llvm/outside.h"

/* An atomic operation is a piece of its own. */
static bool is_atomic(const struct loci_plan *plan, const struct loci_plan_piece *piece)
{
	return piece->n_refs && plan->ref[piece->first_ref].atomic;
}

static void append(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_plan_piece *piece)
{
	uint32_t at = 0;
	LLVMValueRef cursor = loci_emit_get_cursor(emit);
	loci_emit_marker(emit, cursor, at++, piece->block);
	if (is_atomic(plan, piece)) {
		cursor = loci_emit_atomic(emit, cursor, at, &plan->ref[piece->first_ref], NULL);
		loci_emit_set_cursor(emit, cursor, 0);
		return;
	}
	for (uint32_t i = 0; i < piece->n_refs; i++)
		at += loci_emit_ref(emit, cursor, at, &plan->ref[piece->first_ref + i], NULL);
	loci_emit_set_cursor(emit, cursor, at);
}

/* Whether a block was entered from the one that appends words. */
static LLVMValueRef was_appended(
	struct loci_emit *emit, LLVMBasicBlockRef block, LLVMBasicBlockRef tracing)
{
	LLVMTypeRef truth = LLVMInt1TypeInContext(emit->context);
	loci_emit_before(emit, LLVMGetFirstInstruction(block));
	LLVMValueRef phi = LLVMBuildPhi(emit->builder, truth, "");
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
		use = LLVMGetNextUse(use)) {
		LLVMBasicBlockRef from = LLVMGetInstructionParent(LLVMGetUser(use));
		LLVMValueRef value = LLVMConstInt(truth, from == tracing, 0);
		LLVMAddIncoming(phi, &value, &from, 1);
	}
	return phi;
}

static void end_atomic(struct loci_emit *emit, LLVMValueRef operation, LLVMBasicBlockRef tracing)
{
	LLVMBasicBlockRef before = LLVMGetInstructionParent(operation);
	LLVMValueRef appended = was_appended(emit, before, tracing);
	LLVMBasicBlockRef after = loci_ir_split_before(LLVMGetNextInstruction(operation));
	LLVMBasicBlockRef ending = LLVMInsertBasicBlockInContext(emit->context, after, "");

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
	loci_emit_at_end(emit, before);
	LLVMBuildCondBr(emit->builder, appended, ending, after);
	loci_emit_at_end(emit, ending);
	loci_emit_atomic_end(emit);
	LLVMBuildBr(emit->builder, after);
}

/* The block to go to where nothing is appended. */
static LLVMBasicBlockRef count_in(struct loci_emit *emit, struct loci_increments *increments,
	const struct loci_plan_piece *piece, LLVMBasicBlockRef after)
{
	if (!increments)
		return after;
	LLVMBasicBlockRef counted = LLVMInsertBasicBlockInContext(emit->context, after, "");
	loci_emit_at_end(emit, counted);
	loci_increments_piece(increments, piece->block);
	LLVMBuildBr(emit->builder, after);
	return counted;
}

/* Asks the runtime, which takes what was counted for what is behind the thread: without the piece,
 * whose words have yet to come. A budget that only the piece uses up lasts until the next one. */
static void ask(struct loci_emit *emit, const struct loci_plan_piece *piece,
	LLVMBasicBlockRef tracing, LLVMBasicBlockRef on)
{
	LLVMBasicBlockRef asking = LLVMInsertBasicBlockInContext(emit->context, tracing, "");
	LLVMValueRef n_refs = loci_emit_number(emit, piece->n_counted);
	LLVMValueRef before = LLVMBuildAdd(emit->builder, loci_emit_get_budget(emit), n_refs, "");
	LLVMValueRef is_used_up =
		LLVMBuildICmp(emit->builder, LLVMIntSLT, before, loci_emit_number(emit, 0), "");
	LLVMBuildCondBr(emit->builder, is_used_up, asking, on);

	loci_emit_at_end(emit, asking);
	loci_emit_leave(emit, before);
	loci_emit_cross(emit);
	LLVMValueRef is_tracing = loci_emit_is_tracing(emit);
	loci_emit_count(emit, piece->n_counted);
	LLVMBuildCondBr(emit->builder, is_tracing, tracing, on);
}

static void make(struct loci_emit *emit, const struct loci_plan *plan,
	struct loci_increments *increments, const struct loci_plan_piece *piece)
{
	LLVMValueRef last = piece->n_refs
		? plan->ref[piece->first_ref + piece->n_refs - 1].instruction
		: piece->place;
	LLVMBasicBlockRef before = LLVMGetInstructionParent(last);
	LLVMBasicBlockRef after = loci_ir_split_before(last);
	LLVMBasicBlockRef wanted = LLVMInsertBasicBlockInContext(emit->context, after, "");
	LLVMBasicBlockRef full = LLVMInsertBasicBlockInContext(emit->context, after, "");
	LLVMBasicBlockRef tracing = LLVMInsertBasicBlockInContext(emit->context, after, "");

	LLVMBasicBlockRef on = count_in(emit, increments, piece, after);
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
	/* Counted first, so that the test is of what counting leaves in the flags. */
	loci_emit_at_end(emit, before);
	loci_emit_count(emit, piece->n_counted);
	loci_emit_branch_copy(emit, wanted, on);
	loci_emit_at_end(emit, wanted);
	loci_emit_load_cursor(emit);
	LLVMValueRef is_full = loci_emit_is_full(emit), unknown = loci_emit_is_undefined(emit);
	LLVMValueRef either = LLVMBuildOr(emit->builder, is_full, unknown, "");
	loci_emit_branch_unlikely(emit, either, full, tracing);
	loci_emit_at_end(emit, full);
	ask(emit, piece, tracing, on);
	loci_emit_at_end(emit, tracing);
	append(emit, plan, piece);
	LLVMBuildBr(emit->builder, after);
	if (is_atomic(plan, piece))
		end_atomic(emit, last, tracing);
}

void loci_pieces_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, struct loci_increments *increments)
{
	LLVMBasicBlockRef prologue = flow->block[0].block;
	loci_emit_slots(emit, plan->function);
	for (size_t i = 0; i < plan->n_pieces; i++)
		make(emit, plan, increments, &plan->piece[i]);
	loci_syncs_make(emit, plan);
	loci_outside_make(emit, plan, NULL);
	loci_emit_before(emit, LLVMGetBasicBlockTerminator(prologue));
	loci_emit_load_budget(emit);
	loci_bulk_make(emit, plan, NULL);
	LLVMValueRef slot[] = { emit->budget, emit->cursor, emit->state };
	loci_ir_promote(plan->function, slot, 3);
	if (!increments)
		return;
	LLVMBasicBlockRef begin = loci_increments_enter(increments, flow->block[1].block);
	LLVMSetSuccessor(LLVMGetBasicBlockTerminator(prologue), 0, begin);
	LLVMValueRef *more;
	size_t n_more = loci_increments_slots(increments, &more);
	loci_ir_promote(plan->function, more, n_more);
}
