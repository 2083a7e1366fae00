/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of functions that this module does not define: what those refer to is seen only if they
 * are built by `loci cc`, too. The tracing copy counts them; whose they are the runtime finds out.
 */
#ifndef LOCI_COLLECT_LLVM_OUTSIDE_H
#define LOCI_COLLECT_LLVM_OUTSIDE_H

#include "collect/llvm/emit.h"
#include "collect/llvm/flow.h"

/* Finds them for the plan. Calls through pointers are not among them: only the running program
 * knows where they go. */
void loci_outside_find(struct loci_plan *plan, const struct loci_flow *flow);

/* A variable for each callee of the plan, the module's, for the caller to free. */
LLVMValueRef *loci_outside_counters(const struct loci_plan *plan);

/* Counts in the tracing copy; or without one, where the budget says so. */
void loci_outside_make(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_ir_copy *copy);

#endif
