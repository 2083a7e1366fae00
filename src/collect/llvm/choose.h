/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions of a module are instrumented, and how. */
#ifndef LOCI_COLLECT_LLVM_CHOOSE_H
#define LOCI_COLLECT_LLVM_CHOOSE_H

#include <llvm-c/Core.h>

#include <stdbool.h>
#include <stddef.h>

/* The attribute of functions that are instrumented already. */
#define LOCI_CHOICE_DONE "loci-instrumented"

struct loci_choice {
	LLVMValueRef *function;
	size_t n;
};

/* The environment says more: LOCI_ONLY and LOCI_SKIP are names of functions, separated by commas,
 * in which * and ? stand for anything. */
void loci_choice_init(struct loci_choice *choice, LLVMModuleRef module);
void loci_choice_fini(struct loci_choice *choice);

/* The body cannot, or had better not, stand twice. */
bool loci_choose_by_piece(LLVMValueRef function);

#endif
