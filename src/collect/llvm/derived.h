/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that are made of others before a loop begins: strides and their multiples, say. Where
 * either copy may have made them the compiler no longer sees how they hang together, and keeps each
 * in a register, or on the stack, that it would otherwise add up from few. */
#ifndef LOCI_COLLECT_LLVM_DERIVED_H
#define LOCI_COLLECT_LLVM_DERIVED_H

#include <llvm-c/Core.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values from outside of these blocks that are made of others which they use are computed anew at
 * the end of `entry`, the only way in, and taken from there. */
void loci_derived_anew(LLVMBasicBlockRef entry, const LLVMBasicBlockRef *block, size_t n);

#ifdef __cplusplus
}
#endif

#endif
