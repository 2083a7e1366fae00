/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies and fills that may be large go through functions of the module's own, which lead those
 * that are to the runtime: they are one reference, and should be sampled as often as what they
 * touch (LOCI_CC_LARGE_BYTES). */
#ifndef LOCI_COLLECT_LLVM_BULK_H
#define LOCI_COLLECT_LLVM_BULK_H

#include "collect/llvm/emit.h"

/* Whether the call is such a one. */
bool loci_bulk_may_be_large(LLVMValueRef call);
/* Leads the plan's there, and their copies; before slots are promoted. NULL: there is no copy. */
void loci_bulk_make(
	struct loci_emit *emit, const struct loci_plan *plan, const struct loci_ir_copy *copy);

#endif
