/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control flow of a function: its blocks in reverse postorder, the edges between them, its
 * loops. An edge to a block that does not come later is a back edge, also where the loop has other
 * entries; every cycle has one. */
#ifndef LOCI_COLLECT_LLVM_FLOW_H
#define LOCI_COLLECT_LLVM_FLOW_H

#include "collect/llvm/ir.h"
#include "collect/llvm/numbers.h"

#define LOCI_FLOW_NONE UINT32_MAX

struct loci_flow_block {
	LLVMBasicBlockRef block;
	const uint32_t *successor, *predecessor; /* each once */
	uint32_t n_successors, n_predecessors;
	uint32_t loop; /* the innermost, or LOCI_FLOW_NONE */
};

struct loci_flow_loop {
	uint32_t header, parent;
	uint16_t depth; /* from 1 */
	bool is_innermost;
	bool is_short; /* .. and does not go round often */
	bool is_known; /* how often it goes round, when it begins */
};

struct loci_flow {
	struct loci_flow_block *block;
	size_t n_blocks;
	struct loci_flow_loop *loop; /* parents first */
	size_t n_loops;
	uint32_t *edge;
	struct loci_numbers number;
};

void loci_flow_init(struct loci_flow *flow, LLVMValueRef function);
void loci_flow_fini(struct loci_flow *flow);
uint32_t loci_flow_number(const struct loci_flow *flow, LLVMBasicBlockRef block);
/* Whether the block is in the loop, or in one within it. */
bool loci_flow_is_within(const struct loci_flow *flow, uint32_t block, uint32_t loop);

/* Whether there is one way into the loop that begins with the block `header`, from a block that
 * goes nowhere else, and one way round. */
bool loci_flow_entered_once(const struct loci_flow *flow, uint32_t header, uint32_t *ret_entry);

/* Whether an instruction's value lives at the start of a block for which wanted[] is set. `seen`
 * has an element per block, `stamp` is another number for every call, from 1. */
bool loci_flow_lives_into(const struct loci_flow *flow, LLVMValueRef instruction,
	const bool *wanted, uint32_t *seen, uint32_t stamp);

#endif
