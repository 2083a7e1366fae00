/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops deep within others that call nothing. Control does not come back from there to the counting
 * copy, since another way into a loop makes those around it none that the compiler knows; and to be
 * in the tracing copy until they all end would cost more than a sample does. Such a loop has a copy
 * for itself that counts: the tracing copy enters it where the loop goes round, and goes on where
 * it is left. On the way values are in memory: if they could be in one register on both sides the
 * compiler would have them there in the counting copy, too, which has registers for fewer. */
#ifndef LOCI_COLLECT_LLVM_RESTS_H
#define LOCI_COLLECT_LLVM_RESTS_H

#include "collect/llvm/emit.h"
#include "collect/llvm/flow.h"

/* Control comes back to the counting copy in loops that are no deeper than this. */
unsigned loci_rests_depth(const struct loci_flow *flow);

/* Finds them for the plan. */
void loci_rests_find(struct loci_plan *plan, const struct loci_flow *flow);
/* Whether the edge leaves one of them. */
bool loci_rests_leaves(
	const struct loci_plan *plan, const struct loci_flow *flow, uint32_t from, uint32_t to);

struct loci_rests;
/* Before anything changes. Nothing but these values lives into the loops or out of them. */
struct loci_rests *loci_rests_new(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, const LLVMValueRef *value, size_t n);
/* `leaving` leads from where the counting copy goes round to the tracing copy; `from` leads to the
 * target in the counting copy, and is to lead to that in the loop's own (NULL: to neither). */
void loci_rests_cross(struct loci_rests *rests, uint32_t target, LLVMBasicBlockRef leaving,
	LLVMBasicBlockRef from);
/* Makes the copies when the values are in these slots. */
void loci_rests_make(
	struct loci_rests *rests, const struct loci_ir_copy *tracing, const LLVMValueRef *slot);
/* The copies and their own slots, from 0; NULL: no more. */
const struct loci_ir_copy *loci_rests_copy(const struct loci_rests *rests, size_t number);
LLVMValueRef loci_rests_slot(const struct loci_rests *rests, size_t number);
void loci_rests_free(struct loci_rests *rests);

#endif
