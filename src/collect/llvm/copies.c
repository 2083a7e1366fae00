/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that live into a place where control may cross from one copy to the other are there in two
 * copies, too. They are kept in slots in both, which LLVM then turns into values again: one
 * promotion for all of them, the budget and the cursor. */
#include "collect/llvm/copies.h"

#include "collect/llvm/asking.h"
#include "collect/llvm/bounds.h"
#include "collect/llvm/budget_variable.h"
#include "collect/llvm/bulk.h"
#include "collect/llvm/executions.h"
#include "collect/llvm/order.h"
#include "collect/llvm/outside.h"
#include "collect/llvm/rests.h"
#include "collect/llvm/runs.h"
#include "collect/llvm/twin.h"
#include "collect/runtime/cc_abi.h"

#include <stdlib.h>

/* The budget, the cursor, the state. */
#define N_OWN_SLOTS 3

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
	struct loci_increments *increments;
	struct loci_runs *runs;
	struct loci_bounds *bounds;
	struct loci_rests *rests;
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
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		for (uint32_t k = 0; k < flow->block[i].n_successors; k++)
			if (loci_rests_leaves(copying->plan, flow, i, flow->block[i].successor[k]))
				copying->is_target[flow->block[i].successor[k]] = true;

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

/* The function's start: tracing, if that is wanted; there is room and the function is known then.
 */
static void enter(
	struct copying *copying, LLVMBasicBlockRef *ret_wanted, LLVMBasicBlockRef *ret_counting)
{
	struct loci_emit *emit = copying->emit;
	LLVMBasicBlockRef prologue = copying->flow->block[0].block;
	LLVMBasicBlockRef counting = copying->flow->block[1].block;
	LLVMBasicBlockRef tracing = copied_block(copying, counting);
	LLVMBasicBlockRef wanted = LLVMInsertBasicBlockInContext(emit->context, tracing, "");

	if (copying->increments)
		counting = loci_increments_enter(copying->increments, counting);
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(prologue));
	loci_emit_at_end(emit, prologue);
	loci_emit_load_budget(emit);
	loci_emit_branch_copy(emit, wanted, counting);
	loci_emit_at_end(emit, wanted);
	loci_asking_enter(emit);
	loci_emit_load_budget(emit);
	loci_emit_branch_unlikely(emit, LLVMBuildNot(emit->builder, loci_emit_is_tracing(emit), ""),
		counting, tracing);
	*ret_wanted = wanted;
	*ret_counting = counting;
}

/* A back edge, gate -> target, in both copies, and the blocks between them. */
struct crossing {
	LLVMBasicBlockRef target, gate, traced_target, traced_gate;
	LLVMBasicBlockRef leaving;  /* the counting copy, if it can be left here: to .. */
	LLVMBasicBlockRef cold;     /* .. where the runtime is asked, then to .. */
	LLVMBasicBlockRef resuming; /* .. where the target's marker is appended, if it is hoisted */
	bool returns;               /* to the counting copy, if nothing is to be traced, by .. */
	/* .. where executions are counted from, or a loop has a copy for itself; else `cold` */
	LLVMBasicBlockRef counted;
};

/* Gives the target's phis in both copies what they have on the way through `cold`. */
static void cross_phis(struct copying *copying, const struct crossing *crossing)
{
	LLVMBasicBlockRef from[] = { crossing->traced_gate, crossing->leaving };
	LLVMBasicBlockRef last = crossing->resuming ? crossing->resuming : crossing->cold;
	for (LLVMValueRef phi = LLVMGetFirstInstruction(crossing->target); LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		LLVMValueRef traced = loci_ir_copy_of(copying->copy, phi);
		LLVMValueRef value[] = { loci_ir_incoming(traced, crossing->traced_gate),
			loci_ir_incoming(phi, crossing->gate) };
		LLVMPositionBuilderAtEnd(copying->emit->builder, crossing->cold);
		LLVMValueRef either = LLVMBuildPhi(copying->emit->builder, LLVMTypeOf(phi), "");
		LLVMAddIncoming(either, value, from, crossing->leaving ? 2 : 1);
		if (crossing->returns)
			LLVMAddIncoming(phi, &either, (LLVMBasicBlockRef *)&crossing->counted, 1);
		LLVMAddIncoming(traced, &either, &last, 1);
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

/* A loop that does not go round often, and of itself, or is there for its operations alone, is not
 * left. */
static bool may_leave(const struct copying *copying, uint32_t target)
{
	uint32_t loop = copying->flow->block[target].loop;
	if (may_change_budget(copying, target))
		return true;
	bool is_idle = copying->plan->has_ops && !copying->plan->is_lowering[loop];
	return !is_idle && !copying->flow->loop[loop].is_short;
}

/* Control comes back to the counting copy at outermost loops and, unless the function is large, at
 * those right within: another way into a loop makes those around it none that the compiler knows,
 * and the counting copy is to cost nothing. But what an outermost loop does each time may be all
 * that the program does, and to be in the tracing copy until its end would cost more. */
static bool may_return(const struct copying *copying, uint32_t target)
{
	uint32_t loop = copying->flow->block[target].loop;
	return loop == LOCI_FLOW_NONE ||
		copying->flow->loop[loop].depth <= loci_rests_depth(copying->flow);
}

static bool may_rest(const struct copying *copying, uint32_t target)
{
	uint32_t loop = copying->flow->block[target].loop;
	return loop != LOCI_FLOW_NONE && copying->plan->is_resting[loop] &&
		copying->flow->loop[loop].header == target;
}

/* Whether the tracing copy asks for the budget where it goes round. An innermost loop that calls
 * nothing has no other way to change it than to run out of room, which it comes to soon enough. */
static bool asks_budget(const struct copying *copying, uint32_t target)
{
	return may_change_budget(copying, target) ||
		!copying->flow->loop[copying->flow->block[target].loop].is_innermost;
}

static LLVMBasicBlockRef block_before(struct loci_emit *emit, LLVMBasicBlockRef block)
{
	return LLVMInsertBasicBlockInContext(emit->context, block, "");
}

/* From `cold` on. */
static void resume(
	struct copying *copying, const struct crossing *crossing, uint32_t target, uint32_t hoisted)
{
	struct loci_emit *emit = copying->emit;
	LLVMBasicBlockRef on = crossing->resuming ? crossing->resuming : crossing->traced_target;
	bool is_counted = crossing->counted != crossing->cold;
	loci_emit_at_end(emit, crossing->cold);
	loci_emit_enter(emit);
	if (crossing->returns)
		loci_emit_branch_copy(emit, on, is_counted ? crossing->counted : crossing->target);
	else
		LLVMBuildBr(emit->builder, on);
	if (is_counted) {
		loci_emit_at_end(emit, crossing->counted);
		if (copying->increments)
			loci_increments_return(copying->increments, target);
		LLVMBuildBr(emit->builder, crossing->target);
	}
	if (!crossing->resuming)
		return;
	loci_emit_at_end(emit, crossing->resuming);
	append_marker(copying, copying->plan->piece[hoisted].block);
	LLVMBuildBr(emit->builder, crossing->traced_target);
}

static void leave_counting(struct copying *copying, const struct crossing *crossing, uint32_t gate)
{
	struct loci_emit *emit = copying->emit;
	loci_emit_at_end(emit, crossing->leaving);
	if (copying->increments)
		loci_increments_leave(copying->increments, gate);
	loci_emit_store_budget(emit);
	LLVMBuildBr(emit->builder, crossing->cold);
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(crossing->gate));
	loci_emit_at_end(emit, crossing->gate);
	loci_emit_branch_unlikely(
		emit, loci_emit_is_tracing(emit), crossing->leaving, crossing->target);
}

static void leave_tracing(struct loci_emit *emit, const struct crossing *crossing, bool by_budget)
{
	LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(crossing->traced_gate));
	loci_emit_at_end(emit, crossing->traced_gate);
	LLVMValueRef leaves = loci_emit_is_full(emit);
	if (by_budget)
		leaves = LLVMBuildOr(
			emit->builder, leaves, loci_emit_is_counting_in_memory(emit), "");
	loci_emit_branch_unlikely(emit, leaves, crossing->cold, crossing->traced_target);
}

static void cross(struct copying *copying, uint32_t target, uint32_t gate)
{
	struct loci_emit *emit = copying->emit;
	struct crossing crossing = { .target = copying->flow->block[target].block,
		.gate = copying->flow->block[gate].block };
	uint32_t hoisted = loci_order_hoisted(copying->plan, target);
	bool leaves = may_leave(copying, target), rests = leaves && may_rest(copying, target);

	crossing.returns = rests || (leaves && may_return(copying, target));
	crossing.traced_target = copied_block(copying, crossing.target);
	crossing.traced_gate = LLVMGetInstructionParent(
		loci_ir_copy_of(copying->copy, LLVMGetBasicBlockTerminator(crossing.gate)));
	crossing.cold = block_before(emit, crossing.traced_target);
	crossing.counted = crossing.cold;
	if (rests || (crossing.returns && copying->increments))
		crossing.counted = block_before(emit, rests ? crossing.cold : crossing.target);
	if (leaves) {
		crossing.leaving = block_before(emit, crossing.cold);
		loci_rests_cross(
			copying->rests, target, crossing.leaving, rests ? crossing.counted : NULL);
	}
	if (hoisted != LOCI_PLAN_NONE) {
		hoist_marker(copying, target, &copying->plan->piece[hoisted]);
		crossing.resuming = block_before(emit, crossing.traced_target);
	}
	cross_phis(copying, &crossing);
	resume(copying, &crossing, target, hoisted);
	if (leaves)
		leave_counting(copying, &crossing, gate);
	leave_tracing(emit, &crossing, crossing.returns && asks_budget(copying, target));
}

static void cross_all(struct copying *copying)
{
	uint32_t gate;
	for (uint32_t i = 1; i < copying->flow->n_blocks; i++)
		if (loci_order_crosses(copying->plan, copying->flow, i, &gate))
			cross(copying, i, gate);
}

static void keep_in_slot(struct copying *copying, LLVMValueRef value)
{
	LLVMValueRef slot = loci_emit_slot(copying->emit, LLVMTypeOf(value));
	loci_ir_demote(value, slot);
	loci_ir_demote(loci_ir_copy_of(copying->copy, value), slot);
	loci_runs_demote(copying->runs, value, slot);
	loci_bounds_demote(copying->bounds, value, slot);
	add_slot(copying, slot);
}

static void keep_in_slots(struct copying *copying)
{
	LLVMValueRef value;
	for (size_t i = 0; i < copying->n_crossing; i++)
		keep_in_slot(copying, copying->crossing[i]);
	for (size_t i = 0; (value = loci_runs_outliving(copying->runs, i)); i++)
		keep_in_slot(copying, value);
	for (size_t i = 0; (value = loci_bounds_outliving(copying->bounds, i)); i++)
		keep_in_slot(copying, value);
}

static void make_rests(struct copying *copying)
{
	LLVMValueRef slot;
	loci_rests_make(copying->rests, copying->copy, copying->slot + N_OWN_SLOTS);
	for (size_t i = 0; (slot = loci_rests_slot(copying->rests, i)); i++)
		add_slot(copying, slot);
}

static void count_executions(struct copying *copying)
{
	LLVMValueRef *slot;
	size_t n = loci_increments_slots(copying->increments, &slot);
	for (size_t i = 0; i < n; i++)
		add_slot(copying, slot[i]);
	loci_increments_make(copying->increments);
}

/* Where a loop of the counting copy goes round without a test it is as it was: the compiler makes
 * more of a loop that goes round where it may end. */
static void fold_latches(const struct copying *copying)
{
	const struct loci_flow *flow = copying->flow;
	for (size_t i = 0; i < flow->n_loops; i++) {
		const struct loci_flow_block *header = &flow->block[flow->loop[i].header];
		for (uint32_t k = 0; k < header->n_predecessors; k++)
			if (header->predecessor[k] >= flow->loop[i].header)
				loci_ir_fold_latch(flow->block[header->predecessor[k]].block);
	}
}

/* Where a trap finds the budget: in counting copies. */
static void describe_budget(const struct copying *copying)
{
	struct loci_emit *emit = copying->emit;
	emit->budget_variable = loci_budget_variable_new(emit->budget, LOCI_CC_BUDGET);
	emit->left_variable = loci_budget_variable_second(copying->plan->function, LOCI_CC_BUDGET);
	for (uint32_t i = 1; i < copying->flow->n_blocks; i++)
		loci_budget_variable_set(emit->budget_variable,
			copied_block(copying, copying->flow->block[i].block), NULL);
}

/* In plain loops it is not what is in the budget's register. */
static void describe_plain(const struct copying *copying)
{
	const struct loci_ir_copy *copy = NULL;
	size_t i = 0;
	do {
		loci_runs_describe_budget(copying->runs, copy);
		loci_bounds_describe_budget(copying->bounds, copy);
	} while ((copy = loci_rests_copy(copying->rests, i++)));
}

void loci_copies_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, struct loci_increments *increments)
{
	struct copying copying = {
		.emit = emit, .plan = plan, .flow = flow, .increments = increments
	};
	LLVMBasicBlockRef wanted, counting;
	copying.runs = loci_runs_new(emit, plan, flow);
	copying.bounds = loci_bounds_new(emit, plan, flow);
	find_crossing(&copying);
	copying.rests = loci_rests_new(emit, plan, flow, copying.crossing, copying.n_crossing);
	copy_body(&copying);
	loci_runs_copy(copying.runs, copying.copy);
	loci_bounds_copy(copying.bounds);
	loci_emit_slots(emit, plan->function);
	add_slot(&copying, emit->budget);
	add_slot(&copying, emit->cursor);
	add_slot(&copying, emit->state);
	describe_budget(&copying);

	loci_counts_make(emit, plan, flow, NULL);
	loci_counts_make(emit, plan, flow, copying.copy);
	loci_words_make(emit, plan, flow, copying.copy);
	loci_outside_make(emit, plan, copying.copy);
	loci_runs_make_tracing(copying.runs);
	enter(&copying, &wanted, &counting);
	cross_all(&copying);
	loci_runs_make_counting(copying.runs, increments);
	loci_bounds_make(copying.bounds);
	if (increments)
		count_executions(&copying);
	keep_in_slots(&copying);
	loci_bulk_make(emit, plan, copying.copy);
	make_rests(&copying);
	loci_ir_promote(plan->function, copying.slot, copying.n_slots);
	loci_runs_part(copying.runs);
	describe_plain(&copying);
	fold_latches(&copying);
	if (!increments)
		loci_twin_make(wanted, counting, LOCI_CC_TWIN);

	loci_runs_free(copying.runs);
	loci_bounds_free(copying.bounds);
	loci_rests_free(copying.rests);
	loci_ir_copy_free(copying.copy);
	free(copying.slot);
	free(copying.crossing);
	free(copying.is_target);
}
