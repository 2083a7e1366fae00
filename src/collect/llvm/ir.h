/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the pass needs of LLVM that its C interface lacks. */
#ifndef LOCI_COLLECT_LLVM_IR_H
#define LOCI_COLLECT_LLVM_IR_H

#include <llvm-c/Core.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void loci_ir_remove_unreachable(LLVMValueRef function);
/* Computes addresses that are a constant away from another in each block that uses them: kept from
 * one block to another they would be one more value to be alive where copies cross, and there no
 * longer part of an instruction. */
void loci_ir_sink_addresses(LLVMValueRef function);
/* The block that begins with the instruction, which the block up to it now branches to. */
LLVMBasicBlockRef loci_ir_split_before(LLVMValueRef instruction);
/* A new block that the edges from these predecessors lead through. */
LLVMBasicBlockRef loci_ir_gather(
	LLVMBasicBlockRef block, const LLVMBasicBlockRef *predecessor, size_t n);
/* The block's phis take from `to` what they took from `from`. */
void loci_ir_rename_predecessor(
	LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMBasicBlockRef to);
/* The block's phis take nothing from blocks that no longer lead to it. */
void loci_ir_forget_predecessors(LLVMBasicBlockRef block);
/* What the phi takes from the block; NULL: nothing. */
LLVMValueRef loci_ir_incoming(LLVMValueRef phi, LLVMBasicBlockRef block);
void loci_ir_set_incoming(LLVMValueRef phi, LLVMBasicBlockRef block, LLVMValueRef value);
/* Blocks that jump to one that does nothing but return, as others do, return themselves, where that
 * is wanted after their last instruction. */
void loci_ir_return_at_once(LLVMValueRef function, bool (*is_wanted)(LLVMValueRef last));
/* Removes a loop's last block if it does nothing but go round. */
void loci_ir_fold_latch(LLVMBasicBlockRef latch);
/* The code generator begins the loop that goes round here at a multiple of so many bytes, unless
 * the source asks for another one; that of LLVM 14 does not. */
void loci_ir_align_loop(LLVMBasicBlockRef latch, unsigned bytes);
/* Where code may be put before anything else of the block. */
LLVMValueRef loci_ir_first_place(LLVMBasicBlockRef block);
/* The first instruction that becomes code. */
LLVMValueRef loci_ir_first_code(LLVMBasicBlockRef block);
void loci_ir_move_before(LLVMValueRef instruction, LLVMValueRef place);
bool loci_ir_is_static_alloca(LLVMValueRef instruction);
bool loci_ir_is_musttail(LLVMValueRef call);
/* An asm statement that gives a symbol a place: it cannot stand twice. */
bool loci_ir_has_asm_label(LLVMValueRef call);
bool loci_ir_asm_mentions(LLVMValueRef call, const char *text);
enum loci_ir_assembly_kind {
	LOCI_ASSEMBLY_PURE, /* does nothing but make its value of its arguments */
	LOCI_ASSEMBLY_ACTS,
	LOCI_ASSEMBLY_CALLS, /* .. and needs a stack that is aligned, and none of it in use below */
};
LLVMValueRef loci_ir_assembly(LLVMTypeRef type, const char *code, const char *constraints,
	enum loci_ir_assembly_kind kind);
bool loci_ir_is_token(LLVMValueRef value);
/* Stands in the way of copying by its meaning (token, noduplicate, ..), itself or its callee. */
bool loci_ir_call_has(LLVMValueRef call, const char *attribute);
bool loci_ir_function_has(LLVMValueRef function, const char *attribute);
/* Facts about what the function or call does with memory, which cease to be true. */
void loci_ir_forget_memory(LLVMValueRef function_or_call);

/* Copies of blocks, in which what was copied refers to copies. */
struct loci_ir_copy;
struct loci_ir_copy *loci_ir_copy_new(const LLVMBasicBlockRef *block, size_t n);
void loci_ir_copy_free(struct loci_ir_copy *copy);
/* The value's copy; itself, if it was not copied. */
LLVMValueRef loci_ir_copy_of(const struct loci_ir_copy *copy, LLVMValueRef value);

/* Keeps the value in a slot: uses in other blocks than its own read it from there. */
void loci_ir_demote(LLVMValueRef value, LLVMValueRef slot);
/* Slots to values. */
void loci_ir_promote(LLVMValueRef function, const LLVMValueRef *slot, size_t n);
/* Whether the verifier has nothing to say; with `loudly`, it says it. */
bool loci_ir_verify(LLVMValueRef function, bool loudly);

#ifdef __cplusplus
}
#endif

#endif
