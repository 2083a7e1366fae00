/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/copies.h"

void loci_sync_make(struct loci_emit *emit, const struct loci_plan_sync *sync,
	const struct loci_ir_copy *copy, uint32_t count, bool store)
{
	LLVMValueRef at = sync->instruction, mark = NULL;
	if (copy)
		at = loci_ir_copy_of(copy, at);
	loci_emit_before(emit, at);
	if (copy)
		loci_emit_count_in_memory(emit, count);
	else
		loci_emit_count(emit, count);
	if (store && !copy)
		loci_emit_store_budget(emit);
	if (sync->is_twice)
		mark = loci_emit_mark(emit);
	if (!sync->returns)
		return;
	if (LLVMIsAInvokeInst(at))
		loci_emit_before(emit, loci_ir_first_place(LLVMGetNormalDest(at)));
	else
		loci_emit_before(emit, LLVMGetNextInstruction(at));
	if (mark)
		loci_emit_landed(emit, mark);
	if (copy)
		loci_emit_load_cursor(emit);
	else
		loci_emit_load_budget(emit);
}

void loci_syncs_make(struct loci_emit *emit, const struct loci_plan *plan)
{
	for (size_t i = 0; i < plan->n_syncs; i++)
		loci_sync_make(emit, &plan->sync[i], NULL, 0, plan->sync[i].leaves);
}
