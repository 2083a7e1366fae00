/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The budget as a variable of the debug information, LOCI_CC_BUDGET: a trap in a counting copy
 * finds it where DWARF says that it is. The code is the same with and without. */
#ifndef LOCI_COLLECT_LLVM_BUDGET_VARIABLE_H
#define LOCI_COLLECT_LLVM_BUDGET_VARIABLE_H

#include "collect/llvm/countdown.h"

#include <llvm-c/Core.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* It is what is in the slot, which is to be promoted. NULL: the function has no debug information,
 * and what follows does nothing. */
LLVMMetadataRef loci_budget_variable_new(LLVMValueRef slot, const char *name);
/* Another of that name, for loops that may have it in two ways: what has neither is gone. */
LLVMMetadataRef loci_budget_variable_second(LLVMValueRef function, const char *name);
/* From the beginning of the block on it has the value; NULL: it is not known. (Tracing copies have
 * it in memory.) */
void loci_budget_variable_set(
	LLVMMetadataRef variable, LLVMBasicBlockRef block, LLVMValueRef value);
/* In a loop it goes down by so many each turn, to a value that is computed before: as the counter
 * says, and as what is left does. Not known where the loop does not count its turns in a plain way.
 */
void loci_budget_variable_run(LLVMMetadataRef variable, LLVMBasicBlockRef header,
	const struct loci_countdown *turns, LLVMValueRef last, uint32_t each);
void loci_budget_variable_left(LLVMMetadataRef variable, LLVMBasicBlockRef header,
	const struct loci_countdown *turns, LLVMValueRef last, uint32_t each);

/* In a loop that begins with the block, and whose budget is base - factor * counter when it does.
 */
void loci_budget_variable_bound(LLVMMetadataRef variable, LLVMBasicBlockRef header,
	LLVMValueRef base, LLVMValueRef counter, int64_t factor);

#ifdef __cplusplus
}
#endif

#endif
