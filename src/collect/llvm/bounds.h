/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops that no run tells, but of which it is known when they begin how often they go round at
 * most: those with several exits, or whose addresses do not go in equal steps. Beside such a loop
 * the counting copy has a plain one for when the budget lasts that long. It neither tests nor
 * counts: where it is left, what counts its turns tells what it has used. */
#ifndef LOCI_COLLECT_LLVM_BOUNDS_H
#define LOCI_COLLECT_LLVM_BOUNDS_H

#include "collect/llvm/emit.h"
#include "collect/llvm/flow.h"

/* Finds them for the plan, whose runs are known. */
void loci_bounds_find(struct loci_plan *plan, const struct loci_flow *flow);

/* The functions below are those of runs.h, for the counting copy alone. */
struct loci_bounds;
struct loci_bounds *loci_bounds_new(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_flow *flow);
void loci_bounds_copy(struct loci_bounds *bounds);
void loci_bounds_make(struct loci_bounds *bounds);
void loci_bounds_describe_budget(const struct loci_bounds *bounds, const struct loci_ir_copy *copy);
LLVMValueRef loci_bounds_outliving(const struct loci_bounds *bounds, size_t number);
void loci_bounds_demote(const struct loci_bounds *bounds, LLVMValueRef value, LLVMValueRef slot);
void loci_bounds_free(struct loci_bounds *bounds);

#endif
