/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which operations an instruction is, as enum loci_cc_op_kind of cc_abi.h has them. */
#ifndef LOCI_COLLECT_LLVM_OPS_H
#define LOCI_COLLECT_LLVM_OPS_H

#include "collect/runtime/cc_abi.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <stdbool.h>

#define LOCI_OPS_MAX 3 /* of one instruction */

/* Branches that are there before anything of the function is changed are marked, so that those
 * which come later are not taken for the program's. */
void loci_ops_mark(LLVMValueRef function);
void loci_ops_unmark(LLVMValueRef function);

/* How many operations it is, 0 to LOCI_OPS_MAX, each of count 1. */
unsigned loci_ops_of(
	LLVMTargetDataRef layout, LLVMValueRef instruction, struct loci_cc_op ret[LOCI_OPS_MAX]);
/* The function, alias or indirect function that a direct call names; NULL: it is none. */
LLVMValueRef loci_ops_callee(LLVMValueRef instruction);

#endif
