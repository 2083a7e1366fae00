/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that live into a place where control may cross from one copy to the other are there in two
 * copies, too. They are kept in slots in both, which LLVM then turns into values again: one
 * promotion for all of them, the budget and the cursor. */
#include "collect/llvm/copies.h"

#include "collect/llvm/order.h"
#include "collect/llvm/outside.h"

#include <stdlib.h>

struct copying {
	struct loci_emit *emit;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	struct loci_ir_copy *copy;
	LLVMValueRef *slot; /* to be promoted */
	size_t n_slots;
	LLVMValueRef *crossing; /* values that live into a target */
	size_t n_crossing;
	bool *is_target; /* of basic blocks */
};

static LLVMBasicBlockRef copied_block(const struct copying *copying, LLVMBasicBlockRef block)
{
	return LLVMValueAsBasicBlock(loci_ir_copy_of(copying->copy, LLVMBasicBlockAsValue(block)));
}

static void add_slot(struct copying *copying, LLVMValueRef slot)
{
	copying->slot = loci_grown(copying->slot, copying->n_slots, sizeof(*copying->slot));
	copying->slot[copying->n_slots++] = slot;
}

/* Before anything changes: where to cross, and what is alive there. */
static void find_crossing(struct copying *copying)
{
	const struct loci_flow *flow = copying->flow;
	uint32_t gate, stamp = 0;
	copying->is_target = loci_zeroed(flow->n_blocks, sizeof(*copying->is_target));
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		copying->is_target[i] = loci_order_crosses(copying->plan, flow, i, &gate);

	uint32_t *seen = loci_zeroed(flow->n_blocks, sizeof(*seen));
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(flow->block[i].block); at;
			at = LLVMGetNextInstruction(at)) {
			if (!loci_flow_lives_into(flow, at, copying->is_target, seen, ++stamp))
				continue;
			copying->crossing = loci_grown(
				copying->crossing, copying->n_crossing, sizeof(*copying->crossing));
			copying->crossing[copying->n_crossing++] = at;
		}
	free(seen);
}

static void copy_body(struct copying *copying)
{
	const struct loci_flow *flow = copying->flow;
	LLVMBasicBlockRef *block = loci_zeroed(flow->n_blocks, sizeof(*block));
	for (size_t i = 1; i < flow->n_blocks; i++)
		block[i] = flow->block[i].block;
	copying->copy = loci_ir_copy_new(block + 1, flow->n_blocks - 1);
	free(block);
}

static void append_marker(struct copying *copying, uint32_t block)
{
	LLVMValueRef cursor = loci_emit_get_cursor(copying->emit);
	loci_emit_marker(copying->emit, cursor, 0, block);
	loci_emit_set_cursor(copying->emit, cursor, 1);
}

static void append_piece(struct copying *copying, const struct loci_plan_piece *piece)
{
	const struct loci_plan *plan = copying->plan;
	struct loci_emit *emit = copying->emit;
	LLVMValueRef first =
		loci_ir_copy_of(copying->copy, plan->ref[piece->first_ref].instruction);
	uint32_t at = 0;

	loci_emit_before(emit, first);
	if (piece->is_checked)
		loci_emit_ready(emit);
	LLVMValueRef cursor = loci_emit_get_cursor(emit);
	if (piece->is_marked && !piece->is_hoisted)
		loci_emit_marker(emit, cursor, at++, piece->block);
	for (uint32_t i = 0; i < piece->n_refs; i++) {
		const struct loci_plan_ref *ref = &plan->ref[piece->first_ref + i];
		loci_emit_before(emit, loci_ir_copy_of(copying->copy, ref->instruction));
		at += loci_emit_ref(emit, cursor, at, ref, copying->copy);
	}
	loci_emit_set_cursor(emit, cursor, at);
}

/* The function's start: tracing, if that is wanted; there is room and the function is known then.
 */
static void enter(struct copying *copying)
{
	struct loci_emit *emit = copying->emit;
	LLVMBasicBlockRef prologue = copying->flow->block[0].block;
	LLVMBasicBlockRef counting = copying->flow->block[1].block;
	LLVMBasicBlockRef tracing = copied_block(copying, counting);
	LLVMBasicBlockRef wanted = LLVMInsertBasicBlockInContext(emit->context, tracing, "");

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(prologue));
	loci_emit_at_end(emit, prologue);
	loci_emit_load_budget(emit);
	loci_emit_branch_copy(emit, wanted, counting);
	loci_emit_at_end(emit, wanted);
	loci_emit_enter(emit);
	loci_emit_branch_unlikely(emit, LLVMBuildNot(emit->builder, loci_emit_is_tracing(emit), ""),
		counting, tracing);
}

static LLVMValueRef incoming_from(LLVMValueRef phi, LLVMBasicBlockRef block)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (LLVMGetIncomingBlock(phi, i) == block)
			return LLVMGetIncomingValue(phi, i);
	return NULL;
}

/* Gives the target's phis in both copies what they have on the way through `cold`. */
static void cross_phis(struct copying *copying, LLVMBasicBlockRef target, LLVMBasicBlockRef gate,
	LLVMBasicBlockRef leaving, LLVMBasicBlockRef cold, LLVMBasicBlockRef to_tracing)
{
	LLVMBasicBlockRef traced_gate = LLVMGetInstructionParent(
		loci_ir_copy_of(copying->copy, LLVMGetBasicBlockTerminator(gate)));
	for (LLVMValueRef phi = LLVMGetFirstInstruction(target); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		LLVMValueRef traced = loci_ir_copy_of(copying->copy, phi);
		LLVMValueRef value[] = { incoming_from(phi, gate),
			incoming_from(traced, traced_gate) };
		LLVMBasicBlockRef from[] = { leaving, traced_gate };
		LLVMPositionBuilderAtEnd(copying->emit->builder, cold);
		LLVMValueRef either = LLVMBuildPhi(copying->emit->builder, LLVMTypeOf(phi), "");
		LLVMAddIncoming(either, value, from, 2);
		LLVMAddIncoming(phi, &either, &cold, 1);
		LLVMAddIncoming(traced, &either, &to_tracing, 1);
	}
}

static void hoist_marker(
	struct copying *copying, uint32_t target, const struct loci_plan_piece *piece)
{
	const struct loci_flow_block *block = &copying->flow->block[target];
	for (uint32_t i = 0; i < block->n_predecessors; i++) {
		if (block->predecessor[i] >= target)
			continue;
		LLVMBasicBlockRef from = copying->flow->block[block->predecessor[i]].block;
		LLVMValueRef end =
			loci_ir_copy_of(copying->copy, LLVMGetBasicBlockTerminator(from));
		loci_emit_before(copying->emit, end);
		if (piece->is_hoist_checked)
			loci_emit_ready(copying->emit);
		append_marker(copying, piece->block);
	}
}

/* Whether anyone but this loop's own counting may have changed the budget when it goes round. */
static bool may_change_budget(const struct copying *copying, uint32_t target)
{
	uint32_t loop = copying->flow->block[target].loop;
	return loop == LOCI_FLOW_NONE || copying->flow->loop[loop].header != target ||
		copying->plan->is_synced[loop];
}

/* A back edge: gate -> target in both copies, and a block between them. */
static void cross(struct copying *copying, uint32_t target_number, uint32_t gate_number)
{
	struct loci_emit *emit = copying->emit;
	LLVMBasicBlockRef target = copying->flow->block[target_number].block;
	LLVMBasicBlockRef gate = copying->flow->block[gate_number].block;
	LLVMBasicBlockRef traced_target = copied_block(copying, target);
	LLVMBasicBlockRef cold = LLVMInsertBasicBlockInContext(emit->context, traced_target, "");
	LLVMBasicBlockRef leaving = LLVMInsertBasicBlockInContext(emit->context, cold, "");
	LLVMBasicBlockRef to_tracing = cold;
	uint32_t hoisted = loci_order_hoisted(copying->plan, target_number);
	LLVMValueRef traced_end = loci_ir_copy_of(copying->copy, LLVMGetBasicBlockTerminator(gate));
	LLVMBasicBlockRef traced_gate = LLVMGetInstructionParent(traced_end);

	if (hoisted != LOCI_PLAN_NONE) {
		hoist_marker(copying, target_number, &copying->plan->piece[hoisted]);
		to_tracing = LLVMInsertBasicBlockInContext(emit->context, traced_target, "");
	}
	cross_phis(copying, target, gate, leaving, cold, to_tracing);
	loci_emit_at_end(emit, leaving);
	loci_emit_store_budget(emit);
	LLVMBuildBr(emit->builder, cold);
	loci_emit_at_end(emit, cold);
	loci_emit_enter(emit);
	loci_emit_branch_copy(emit, hoisted != LOCI_PLAN_NONE ? to_tracing : traced_target, target);
	if (hoisted != LOCI_PLAN_NONE) {
		loci_emit_at_end(emit, to_tracing);
		append_marker(copying, copying->plan->piece[hoisted].block);
		LLVMBuildBr(emit->builder, traced_target);
	}

	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(gate));
	loci_emit_at_end(emit, gate);
	loci_emit_branch_unlikely(emit, loci_emit_is_tracing(emit), leaving, target);

	LLVMInstructionEraseFromParent(traced_end);
	loci_emit_at_end(emit, traced_gate);
	LLVMValueRef leaves = loci_emit_is_full(emit);
	if (may_change_budget(copying, target_number))
		leaves = LLVMBuildOr(
			emit->builder, leaves, loci_emit_is_counting_in_memory(emit), "");
	loci_emit_branch_unlikely(emit, leaves, cold, traced_target);
}

static void cross_all(struct copying *copying)
{
	uint32_t gate;
	for (uint32_t i = 1; i < copying->flow->n_blocks; i++)
		if (loci_order_crosses(copying->plan, copying->flow, i, &gate))
			cross(copying, i, gate);
}

static void keep_in_slots(struct copying *copying)
{
	for (size_t i = 0; i < copying->n_crossing; i++) {
		LLVMValueRef value = copying->crossing[i];
		LLVMValueRef slot = loci_emit_slot(copying->emit, LLVMTypeOf(value));
		loci_ir_demote(value, slot);
		loci_ir_demote(loci_ir_copy_of(copying->copy, value), slot);
		add_slot(copying, slot);
	}
}

void loci_copies_make(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_flow *flow)
{
	struct copying copying = { .emit = emit, .plan = plan, .flow = flow };
	find_crossing(&copying);
	copy_body(&copying);
	loci_emit_slots(emit, plan->function);
	add_slot(&copying, emit->budget);
	add_slot(&copying, emit->cursor);
	add_slot(&copying, emit->state);

	loci_counts_make(emit, plan, flow, NULL);
	loci_counts_make(emit, plan, flow, copying.copy);
	for (size_t i = 0; i < plan->n_pieces; i++)
		append_piece(&copying, &plan->piece[i]);
	loci_outside_make(emit, plan, copying.copy);
	enter(&copying);
	cross_all(&copying);
	keep_in_slots(&copying);
	loci_ir_promote(plan->function, copying.slot, copying.n_slots);

	loci_ir_copy_free(copying.copy);
	free(copying.slot);
	free(copying.crossing);
	free(copying.is_target);
}
