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

/* For a loop of these blocks that is hardly ever entered, only from `entry`, its header first, its
 * latch last, within a loop whose other blocks are `around`. What those compute and it uses, up to
 * where its latch leaves it, is computed anew at the end of `entry`, of values that the compiler
 * does not see to go in steps. Otherwise the loop around would keep addresses for this one alone in
 * registers, and have its own on the stack. */
void loci_derived_apart(LLVMBasicBlockRef entry, const LLVMBasicBlockRef *block, size_t n,
	const LLVMBasicBlockRef *around, size_t n_around);

#ifdef __cplusplus
}
#endif

#endif
