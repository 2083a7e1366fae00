/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/plan.h"

#include "collect/llvm/bounds.h"
#include "collect/llvm/callee.h"
#include "collect/llvm/flow.h"
#include "collect/llvm/ops.h"
#include "collect/llvm/order.h"
#include "collect/llvm/outside.h"
#include "collect/llvm/reference.h"
#include "collect/llvm/rests.h"
#include "collect/llvm/runs.h"
#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <stdlib.h>

#define WORDS_MAX (LOCI_CC_ROOM_WORDS - 1) /* of a block, without its marker */

static uint32_t words_of(const struct loci_plan_ref *ref)
{
	if (ref->atomic == LOCI_CC_ATOMIC_MODIFY)
		return 2 * (1 + LOCI_CC_ATOMIC_WORDS);
	if (ref->flags & LOCI_REF_MODIFY)
		return 0; /* stands with the other half */
	return (ref->size_bytes == 0 ? 2 : 1) + (ref->atomic ? LOCI_CC_ATOMIC_WORDS : 0);
}

struct making {
	struct loci_plan *plan;
	const struct loci_flow *flow;
	struct loci_references references;
	uint32_t home;
	bool by_piece;
	bool is_open;     /* the last piece may grow */
	bool is_synced;   /* control was elsewhere since the last piece */
	bool *holds_more; /* of loops: other loops, or calls */
};

/* The piece that takes so many words more. */
static struct loci_plan_piece *open_piece(
	struct making *making, uint32_t words, LLVMValueRef instruction)
{
	struct loci_plan *plan = making->plan;
	struct loci_plan_piece *piece = plan->n_pieces ? &plan->piece[plan->n_pieces - 1] : NULL;

	if (making->is_open && piece->n_words + words <= WORDS_MAX)
		return piece;
	plan->piece = loci_grown(plan->piece, plan->n_pieces, sizeof(*plan->piece));
	piece = &plan->piece[plan->n_pieces++];
	*piece = (struct loci_plan_piece){ .place = instruction,
		.first_action = (uint32_t)plan->n_actions,
		.home = making->home,
		.sequence = plan->n_sequence++,
		.is_after_sync = making->is_synced };
	making->is_open = true;
	making->is_synced = false;
	return piece;
}

static void take_ref(struct making *making, size_t number)
{
	const struct loci_plan_ref *ref = &making->references.ref[number];
	uint32_t words = words_of(ref);
	struct loci_plan_piece *piece = open_piece(making, words, ref->instruction);

	if (piece->n_refs == 0) {
		piece->first_ref = (uint32_t)number;
		piece->place = ref->instruction;
	}
	piece->n_refs++;
	piece->n_words += words;
	piece->n_counted += making->references.ref[number].op < LOCI_OP_FRAME;
}

static void take_action(struct making *making, LLVMValueRef instruction)
{
	struct loci_plan *plan = making->plan;
	struct loci_cc_op op[LOCI_OPS_MAX];
	if (!plan->has_ops || loci_ops_of(making->references.layout, instruction, op) == 0)
		return;
	struct loci_plan_piece *piece = open_piece(making, 0, instruction);
	plan->action = loci_grown(plan->action, plan->n_actions, sizeof(*plan->action));
	plan->action[plan->n_actions++] = instruction;
	piece->n_actions++;
}

/* What is told at the start of the basic block at hand, and is no access. */
static void take_note(struct making *making, enum loci_op op)
{
	LLVMBasicBlockRef block = making->flow->block[making->home].block;
	struct loci_references *references = &making->references;
	references->ref = loci_grown(references->ref, references->n, sizeof(*references->ref));
	references->ref[references->n] = (struct loci_plan_ref){
		.instruction = loci_ir_first_code(block), .op = op, .size_bytes = sizeof(uint64_t)
	};
	take_ref(making, references->n++);
}

static bool is_call(LLVMValueRef instruction)
{
	return LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction);
}

/* Where control leaves the function or enters it again. */
static bool sync_of(LLVMValueRef instruction, struct loci_plan_sync *ret)
{
	*ret = (struct loci_plan_sync){ .instruction = instruction };
	if (is_call(instruction) && loci_callee_may_record(instruction)) {
		ret->leaves = true;
		ret->returns = !loci_ir_is_musttail(instruction);
		ret->is_twice = loci_ir_call_has(instruction, "returns_twice");
	} else if (LLVMIsAReturnInst(instruction)) {
		LLVMValueRef before = LLVMGetPreviousInstruction(instruction);
		LLVMValueRef cast = before && LLVMIsABitCastInst(before) ? before : NULL;
		if (cast)
			before = LLVMGetPreviousInstruction(cast);
		ret->leaves = !(before && loci_ir_is_musttail(before));
	} else if (LLVMIsAResumeInst(instruction)) {
		ret->leaves = true;
	} else if (LLVMIsALandingPadInst(instruction)) {
		ret->returns = true;
	}
	return ret->leaves || ret->returns;
}

static void take_instruction(struct making *making, LLVMValueRef instruction)
{
	struct loci_plan *plan = making->plan;
	size_t first = making->references.n;
	struct loci_plan_sync sync;

	loci_references_add(&making->references, instruction);
	const struct loci_plan_ref *ref = making->references.ref;
	bool has_refs = making->references.n > first;
	if (has_refs && making->by_piece && ref[first].atomic)
		making->is_open = false;
	for (size_t i = first; i < making->references.n; i++)
		take_ref(making, i);
	take_action(making, instruction);
	/* What a function finds in its buffers is asked before it is called; an atomic operation is
	 * one with its words. */
	if (has_refs && making->by_piece &&
		(ref[first].atomic ||
			ref[making->references.n - 1].length_kind == LOCI_LENGTH_SPAN))
		making->is_open = false;
	if (!sync_of(instruction, &sync))
		return;
	sync.home = making->home;
	sync.sequence = plan->n_sequence++;
	plan->sync = loci_grown(plan->sync, plan->n_syncs, sizeof(*plan->sync));
	plan->sync[plan->n_syncs++] = sync;
	making->is_open = false;
	making->is_synced = true;
}

static bool has_references(struct making *making, LLVMBasicBlockRef block)
{
	size_t n = making->references.n;
	for (LLVMValueRef at = LLVMGetFirstInstruction(block); at && making->references.n == n;
		at = LLVMGetNextInstruction(at))
		loci_references_add(&making->references, at);
	bool found = making->references.n > n;
	making->references.n = n;
	return found;
}

/* A loop that is more than a row of references is to be seen going round. */
static bool needs_turn(struct making *making, uint32_t number)
{
	const struct loci_flow_block *block = &making->flow->block[number];
	return block->loop != LOCI_FLOW_NONE && making->flow->loop[block->loop].header == number &&
		making->holds_more[block->loop] && !has_references(making, block->block);
}

static void find_more(struct making *making)
{
	const struct loci_flow *flow = making->flow;
	struct loci_plan_sync sync;
	for (size_t i = 0; i < flow->n_loops; i++)
		if (flow->loop[i].parent != LOCI_FLOW_NONE)
			making->holds_more[flow->loop[i].parent] = true;
	for (size_t i = 1; i < flow->n_blocks; i++) {
		uint32_t loop = flow->block[i].loop;
		if (loop == LOCI_FLOW_NONE || making->holds_more[loop])
			continue;
		for (LLVMValueRef at = LLVMGetFirstInstruction(flow->block[i].block); at;
			at = LLVMGetNextInstruction(at))
			making->holds_more[loop] |= sync_of(at, &sync);
	}
}

static void take_block(struct making *making, uint32_t number)
{
	LLVMBasicBlockRef block = making->flow->block[number].block;
	size_t n_pieces = making->plan->n_pieces, n_syncs = making->plan->n_syncs;
	making->home = number;
	making->is_open = false;
	making->is_synced = false;
	if (number == 1) {
		take_note(making, LOCI_OP_FRAME);
		take_note(making, LOCI_OP_CALLER);
	} else if (needs_turn(making, number)) {
		take_note(making, LOCI_OP_TURN);
	}
	for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
		take_instruction(making, at);
	making->plan->ends_synced[number] = making->is_synced;
	if (making->plan->n_pieces == n_pieces && making->plan->n_syncs == n_syncs)
		return;
	bool lowers = false;
	for (size_t i = n_pieces; i < making->plan->n_pieces; i++)
		lowers |= making->plan->piece[i].n_counted > 0;
	for (uint32_t loop = making->flow->block[number].loop; loop != LOCI_FLOW_NONE;
		loop = making->flow->loop[loop].parent) {
		making->plan->is_active[loop] = true;
		making->plan->is_lowering[loop] |= lowers;
		making->plan->is_synced[loop] |= making->plan->n_syncs > n_syncs;
	}
}

static void take_loops(struct loci_plan *plan, const struct loci_flow *flow)
{
	plan->n_loops = flow->n_loops;
	plan->loop = loci_zeroed(flow->n_loops, sizeof(*plan->loop));
	for (size_t i = 0; i < flow->n_loops; i++) {
		LLVMBasicBlockRef header = flow->block[flow->loop[i].header].block;
		plan->loop[i] = (struct loci_plan_loop){ .header = header,
			.place = LLVMGetBasicBlockTerminator(header),
			.parent = flow->loop[i].parent,
			.depth = flow->loop[i].depth };
	}
}

void loci_plan_init(struct loci_plan *plan, LLVMValueRef function, const struct loci_flow *flow,
	bool by_piece, bool has_ops)
{
	struct making making = { .plan = plan, .flow = flow, .by_piece = by_piece };
	*plan = (struct loci_plan){
		.module = LLVMGetGlobalParent(function), .function = function, .has_ops = has_ops
	};
	plan->ends_synced = loci_zeroed(flow->n_blocks, sizeof(*plan->ends_synced));
	plan->is_active = loci_zeroed(flow->n_loops, sizeof(*plan->is_active));
	plan->is_synced = loci_zeroed(flow->n_loops, sizeof(*plan->is_synced));
	plan->is_lowering = loci_zeroed(flow->n_loops, sizeof(*plan->is_lowering));
	plan->is_resting = loci_zeroed(flow->n_loops, sizeof(*plan->is_resting));
	loci_references_init(&making.references, plan->module);

	making.holds_more = loci_zeroed(flow->n_loops, sizeof(*making.holds_more));
	find_more(&making);
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		take_block(&making, i);
	free(making.holds_more);
	plan->ref = making.references.ref;
	plan->n_refs = making.references.n;
	take_loops(plan, flow);
	loci_outside_find(plan, flow);
	loci_order_blocks(plan, flow, by_piece || has_ops ? 0 : WORDS_MAX);
	if (by_piece)
		return;
	loci_runs_find(plan, flow);
	if (!has_ops) {
		loci_bounds_find(plan, flow);
		loci_rests_find(plan, flow);
	}
	loci_order_marks(plan, flow);
}

void loci_plan_fini(struct loci_plan *plan)
{
	free(plan->ref);
	free(plan->block);
	free(plan->piece);
	free(plan->sync);
	free(plan->loop);
	free(plan->callee);
	free(plan->outside);
	loci_runs_forget(plan);
	free(plan->ends_synced);
	free(plan->is_active);
	free(plan->is_synced);
	free(plan->is_lowering);
	free(plan->is_resting);
	free(plan->action);
}
