/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of libraries that allocate for the program, and could not tell who called them. */
#ifndef LOCI_COLLECT_LLVM_ALLOCATING_H
#define LOCI_COLLECT_LLVM_ALLOCATING_H

#include <llvm-c/Core.h>

/* Puts a call of __loci_allocating before and behind each. */
void loci_allocating_mark(LLVMValueRef function);

#endif
