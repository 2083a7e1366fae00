/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOCI_COLLECT_LLVM_LOOPS_H
#define LOCI_COLLECT_LLVM_LOOPS_H

#include "collect/llvm/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LOCI_IR_NONE UINT32_MAX

/* Natural loops, parents first. */
struct loci_ir_loops;
struct loci_ir_loops *loci_ir_loops_new(LLVMValueRef function);
void loci_ir_loops_free(struct loci_ir_loops *loops);
size_t loci_ir_loops_count(const struct loci_ir_loops *loops);
LLVMBasicBlockRef loci_ir_loop_header(const struct loci_ir_loops *loops, size_t loop);
uint32_t loci_ir_loop_parent(const struct loci_ir_loops *loops, size_t loop);
/* How often the header executes at most when the loop is entered; 0: not known. */
uint32_t loci_ir_loop_turns_max(struct loci_ir_loops *loops, size_t loop);
/* Whether it could be computed when the loop begins how often it goes round. */
bool loci_ir_loop_is_known(struct loci_ir_loops *loops, size_t loop);
uint32_t loci_ir_loop_of(const struct loci_ir_loops *loops, LLVMBasicBlockRef block);

/* A loop that goes round a number of times that can be computed cheaply when it is entered, and is
 * left at one place, which every turn comes to. If the number is known now, it is within these
 * bounds. */
bool loci_ir_loop_is_counted(struct loci_ir_loops *loops, size_t loop, uint64_t least,
	uint64_t most, LLVMBasicBlockRef *ret_exiting);
/* Whether control comes to `before` only by way of the block. */
bool loci_ir_loop_always(
	const struct loci_ir_loops *loops, LLVMBasicBlockRef block, LLVMBasicBlockRef before);
/* Whether an address of a counted loop goes in equal steps, and can be computed for the first
 * turns beforehand. The step, if it is known now; otherwise NULL. */
bool loci_ir_loop_steps(
	struct loci_ir_loops *loops, size_t loop, LLVMValueRef address, LLVMValueRef *ret_step);
/* How often the header of a counted loop executes, a word, for where the loop is entered; 0 where
 * that is 2^64. `all` is so many times each, or more than can be where it executes more than `most`
 * times (0: it does not); and so many more. Both are computed as early as they are known. */
LLVMValueRef loci_ir_loop_times(struct loci_ir_loops *loops, size_t loop, uint64_t most,
	uint32_t each, uint32_t more, LLVMValueRef *ret_all);

/* A loop of which it is known when it is entered how often it goes round at most, and that this is
 * far from all numbers. Something counts
 * its turns: goes in steps of which so many, `factor`, are `each`. */
bool loci_ir_loop_is_bounded(struct loci_ir_loops *loops, size_t loop, uint32_t each,
	LLVMValueRef *ret_counter, int64_t *ret_factor);
/* As `all` above for a bounded loop. */
LLVMValueRef loci_ir_loop_all(struct loci_ir_loops *loops, size_t loop, uint32_t each);

/* Values of a loop in its first turns, computed outside of it. block[0] is its header. */
struct loci_ir_start;
struct loci_ir_start *loci_ir_start_new(
	const LLVMBasicBlockRef *block, size_t n, LLVMBasicBlockRef entry, LLVMBasicBlockRef latch);
void loci_ir_start_free(struct loci_ir_start *start);
LLVMValueRef loci_ir_start_value(
	struct loci_ir_start *start, LLVMBuilderRef builder, LLVMValueRef value, unsigned turn);

#ifdef __cplusplus
}
#endif

#endif
