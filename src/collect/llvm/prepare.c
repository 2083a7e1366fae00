/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/prepare.h"

#include "collect/llvm/callee.h"

#include <stdlib.h>

/* After a call the budget is in memory, where a function that returns must have it. */
static bool has_budget_in_memory(LLVMValueRef last)
{
	return LLVMIsACallInst(last) && loci_callee_may_record(last);
}

static void split_prologue(LLVMValueRef function)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
	LLVMValueRef first = LLVMGetFirstInstruction(entry), next;
	while (loci_ir_is_static_alloca(first))
		first = LLVMGetNextInstruction(first);
	for (LLVMValueRef at = first; at; at = next) {
		next = LLVMGetNextInstruction(at);
		if (loci_ir_is_static_alloca(at))
			loci_ir_move_before(at, first);
	}
	loci_ir_split_before(first);
}

/* The predecessors that do (or do not) come later than the block itself. */
static size_t select_predecessors(
	const struct loci_flow *flow, uint32_t number, bool behind, LLVMBasicBlockRef *ret)
{
	const struct loci_flow_block *block = &flow->block[number];
	size_t n = 0;
	for (uint32_t i = 0; i < block->n_predecessors; i++)
		if ((block->predecessor[i] >= number) == behind)
			ret[n++] = flow->block[block->predecessor[i]].block;
	return n;
}

static bool is_landing_pad(LLVMBasicBlockRef block)
{
	LLVMValueRef first = LLVMGetFirstInstruction(block);
	while (LLVMIsAPHINode(first))
		first = LLVMGetNextInstruction(first);
	return LLVMIsALandingPadInst(first) != NULL;
}

static void gather_edges(const struct loci_flow *flow)
{
	LLVMBasicBlockRef *from = loci_zeroed(flow->n_blocks, sizeof(*from));
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		size_t n = select_predecessors(flow, i, true, from);
		if (n == 0)
			continue;
		/* Of a landing pad this makes two, one of which is the gate. */
		bool is_pad = is_landing_pad(flow->block[i].block);
		loci_ir_gather(flow->block[i].block, from, n);
		if (is_pad)
			continue;
		n = select_predecessors(flow, i, false, from);
		loci_ir_gather(flow->block[i].block, from, n);
	}
	free(from);
}

static void split_invokes(const struct loci_flow *flow)
{
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		LLVMBasicBlockRef block = flow->block[i].block;
		LLVMValueRef invoke = LLVMIsAInvokeInst(LLVMGetBasicBlockTerminator(block));
		if (invoke)
			loci_ir_gather(LLVMGetNormalDest(invoke), &block, 1);
	}
}

void loci_prepare(LLVMValueRef function, bool is_rigid, bool has_ops, struct loci_flow *ret)
{
	loci_ir_remove_unreachable(function);
	if (!is_rigid && !has_ops)
		loci_ir_return_at_once(function, has_budget_in_memory);
	split_prologue(function);
	loci_flow_init(ret, function);
	split_invokes(ret);
	loci_flow_fini(ret);
	loci_flow_init(ret, function);
	if (is_rigid)
		return;
	gather_edges(ret);
	loci_flow_fini(ret);
	loci_flow_init(ret, function);
}
