/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a call before it is made. */
#ifndef LOCI_COLLECT_LLVM_CALLEE_H
#define LOCI_COLLECT_LLVM_CALLEE_H

#include <llvm-c/Core.h>

#include <stdbool.h>

/* The function that is called; NULL: only the running program knows. */
LLVMValueRef loci_callee_of(LLVMValueRef call);
bool loci_callee_is_intrinsic(LLVMValueRef call);
/* Whether instrumented code, or the runtime, may run before the call is over. */
bool loci_callee_may_record(LLVMValueRef call);
/* A function of the C library that is taken to run no code but its own. */
bool loci_callee_is_library(const char *name);

#endif
