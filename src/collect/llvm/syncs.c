/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/copies.h"

static void load(struct loci_emit *emit, bool is_tracing)
{
	loci_emit_load_budget(emit);
	if (is_tracing)
		loci_emit_load_cursor(emit);
}

void loci_syncs_make(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_ir_copy *copy)
{
	for (size_t i = 0; i < plan->n_syncs; i++) {
		const struct loci_plan_sync *sync = &plan->sync[i];
		LLVMValueRef at = sync->instruction, mark = NULL;
		if (copy)
			at = loci_ir_copy_of(copy, at);
		loci_emit_before(emit, at);
		if (sync->leaves)
			loci_emit_store_budget(emit);
		if (sync->is_twice)
			mark = loci_emit_mark(emit);
		if (!sync->returns)
			continue;
		if (LLVMIsAInvokeInst(at))
			loci_emit_before(emit, loci_ir_first_place(LLVMGetNormalDest(at)));
		else
			loci_emit_before(emit, LLVMGetNextInstruction(at));
		if (mark)
			loci_emit_landed(emit, mark);
		load(emit, copy != NULL);
	}
}
