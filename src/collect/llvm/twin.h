/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where control crosses at the entry alone, as it does in all functions without loops, the tracing
 * copy need not be in the same function. In one of its own, the twin, it keeps what registers it
 * takes from weighing on the counting copy: small functions would save and restore all of them each
 * time, for a copy that is hardly ever run.
 *
 * The function jumps to its twin with its own arguments, so that the twin finds the frame and the
 * caller that the function was called with. It has the function's name with LOCI_CC_TWIN behind it
 * and stands right behind it in the text, which is how readers of addresses find the function. It
 * does not come back: if nothing is to be traced after all, it goes on appending all the same. */
#ifndef LOCI_COLLECT_LLVM_TWIN_H
#define LOCI_COLLECT_LLVM_TWIN_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Moves what `wanted`, where the function's first block goes to trace, leads to, unless that is
 * `counting` or not of the function's tracing copy alone. Functions with variables in memory stay
 * as they are: these would be at one place in the frame of the one, at another in the other's. */
void loci_twin_make(LLVMBasicBlockRef wanted, LLVMBasicBlockRef counting, const char *suffix);

#ifdef __cplusplus
}
#endif

#endif
