/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/flow.h"

#include "collect/llvm/loops.h"

#include <stdlib.h>

#define SHORT_TURNS_MAX 256

struct visit {
	LLVMBasicBlockRef block;
	unsigned next;
};

static unsigned successors_of(LLVMBasicBlockRef block)
{
	return LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(block));
}

/* Depth first, without recursion: functions may have very many blocks. */
static void order(struct loci_flow *flow, LLVMValueRef function)
{
	size_t n = LLVMCountBasicBlocks(function), n_left = n, depth = 0;
	struct visit *path = loci_zeroed(n, sizeof(*path));
	LLVMBasicBlockRef *reverse = loci_zeroed(n, sizeof(*reverse));

	path[depth++] = (struct visit){ .block = LLVMGetEntryBasicBlock(function) };
	loci_numbers_set(&flow->number, path[0].block, 0);
	while (depth > 0) {
		struct visit *top = &path[depth - 1];
		if (top->next == successors_of(top->block)) {
			reverse[--n_left] = top->block;
			depth--;
			continue;
		}
		LLVMBasicBlockRef to =
			LLVMGetSuccessor(LLVMGetBasicBlockTerminator(top->block), top->next++);
		if (loci_numbers_get(&flow->number, to) != LOCI_NUMBER_NONE)
			continue;
		loci_numbers_set(&flow->number, to, 0);
		path[depth++] = (struct visit){ .block = to };
	}
	flow->n_blocks = n - n_left;
	flow->block = loci_zeroed(flow->n_blocks, sizeof(*flow->block));
	for (size_t i = 0; i < flow->n_blocks; i++) {
		flow->block[i].block = reverse[n_left + i];
		loci_numbers_set(&flow->number, reverse[n_left + i], (uint32_t)i);
	}
	free(path);
	free(reverse);
}

static void connect(struct loci_flow *flow)
{
	size_t n_edges = 0, at = 0;
	for (size_t i = 0; i < flow->n_blocks; i++)
		n_edges += successors_of(flow->block[i].block);
	flow->edge = loci_zeroed(2 * n_edges, sizeof(*flow->edge));
	uint32_t *last_from = loci_zeroed(flow->n_blocks, sizeof(*last_from));

	for (uint32_t i = 0; i < flow->n_blocks; i++) {
		struct loci_flow_block *block = &flow->block[i];
		LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block->block);
		uint32_t *successor = flow->edge + at;
		for (unsigned k = 0; k < LLVMGetNumSuccessors(terminator); k++) {
			uint32_t to = loci_flow_number(flow, LLVMGetSuccessor(terminator, k));
			if (last_from[to] == i + 1)
				continue;
			last_from[to] = i + 1;
			successor[block->n_successors++] = to;
			flow->block[to].n_predecessors++;
		}
		block->successor = successor;
		at += block->n_successors;
	}
	for (size_t i = 0; i < flow->n_blocks; i++) {
		flow->block[i].predecessor = flow->edge + at;
		at += flow->block[i].n_predecessors;
		flow->block[i].n_predecessors = 0;
	}
	for (uint32_t i = 0; i < flow->n_blocks; i++)
		for (uint32_t k = 0; k < flow->block[i].n_successors; k++) {
			struct loci_flow_block *to = &flow->block[flow->block[i].successor[k]];
			((uint32_t *)to->predecessor)[to->n_predecessors++] = i;
		}
	free(last_from);
}

static void find_short(struct loci_flow *flow, struct loci_ir_loops *loops)
{
	/* Those within stand later. */
	for (size_t i = 0; i < flow->n_loops; i++) {
		flow->loop[i].is_innermost = true;
		if (flow->loop[i].parent != LOCI_FLOW_NONE)
			flow->loop[flow->loop[i].parent].is_innermost = false;
	}
	for (size_t i = 0; i < flow->n_loops; i++) {
		if (!flow->loop[i].is_innermost)
			continue;
		uint32_t turns = loci_ir_loop_turns_max(loops, i);
		flow->loop[i].is_short = turns > 0 && turns <= SHORT_TURNS_MAX;
	}
}

static void find_loops(struct loci_flow *flow, LLVMValueRef function)
{
	struct loci_ir_loops *loops = loci_ir_loops_new(function);
	flow->n_loops = loci_ir_loops_count(loops);
	flow->loop = loci_zeroed(flow->n_loops, sizeof(*flow->loop));
	for (size_t i = 0; i < flow->n_loops; i++) {
		struct loci_flow_loop *loop = &flow->loop[i];
		loop->header = loci_flow_number(flow, loci_ir_loop_header(loops, i));
		loop->parent = loci_ir_loop_parent(loops, i);
		loop->is_known = loci_ir_loop_is_known(loops, i);
		loop->depth =
			loop->parent == LOCI_FLOW_NONE ? 1 : flow->loop[loop->parent].depth + 1;
	}
	find_short(flow, loops);
	for (size_t i = 0; i < flow->n_blocks; i++)
		flow->block[i].loop = loci_ir_loop_of(loops, flow->block[i].block);
	loci_ir_loops_free(loops);
}

void loci_flow_init(struct loci_flow *flow, LLVMValueRef function)
{
	*flow = (struct loci_flow){ 0 };
	order(flow, function);
	connect(flow);
	find_loops(flow, function);
}

void loci_flow_fini(struct loci_flow *flow)
{
	free(flow->block);
	free(flow->loop);
	free(flow->edge);
	loci_numbers_fini(&flow->number);
}

uint32_t loci_flow_number(const struct loci_flow *flow, LLVMBasicBlockRef block)
{
	return loci_numbers_get(&flow->number, block);
}

bool loci_flow_is_within(const struct loci_flow *flow, uint32_t block, uint32_t loop)
{
	uint32_t at = flow->block[block].loop;
	while (at != LOCI_FLOW_NONE && at != loop)
		at = flow->loop[at].parent;
	return at == loop;
}

bool loci_flow_entered_once(const struct loci_flow *flow, uint32_t header, uint32_t *ret_entry)
{
	const struct loci_flow_block *block = &flow->block[header];
	if (block->n_predecessors != 2)
		return false;
	*ret_entry = block->predecessor[block->predecessor[0] < header ? 0 : 1];
	return *ret_entry < header && flow->block[*ret_entry].n_successors == 1;
}

/* Where the value is there for every later instruction: after an invoke in its normal successor. */
static LLVMBasicBlockRef home_of(LLVMValueRef instruction)
{
	return LLVMIsAInvokeInst(instruction) ? LLVMGetNormalDest(instruction)
					      : LLVMGetInstructionParent(instruction);
}

struct walk {
	const struct loci_flow *flow;
	const bool *wanted;
	uint32_t *seen, stamp, home;
	uint32_t *pending;
	size_t n_pending;
	bool found;
};

/* The value lives at the start of the block. */
static void reach(struct walk *walk, uint32_t block)
{
	if (block == walk->home || walk->seen[block] == walk->stamp)
		return;
	walk->seen[block] = walk->stamp;
	walk->found |= walk->wanted[block];
	walk->pending = loci_grown(walk->pending, walk->n_pending, sizeof(*walk->pending));
	walk->pending[walk->n_pending++] = block;
}

static void reach_use(struct walk *walk, LLVMValueRef value, LLVMValueRef user)
{
	if (!LLVMIsAPHINode(user)) {
		reach(walk, loci_flow_number(walk->flow, LLVMGetInstructionParent(user)));
		return;
	}
	LLVMBasicBlockRef own = LLVMGetInstructionParent(value);
	for (unsigned i = 0; i < LLVMCountIncoming(user); i++) {
		LLVMBasicBlockRef from = LLVMGetIncomingBlock(user, i);
		if (LLVMGetIncomingValue(user, i) == value && from != own)
			reach(walk, loci_flow_number(walk->flow, from));
	}
}

bool loci_flow_lives_into(const struct loci_flow *flow, LLVMValueRef instruction,
	const bool *wanted, uint32_t *seen, uint32_t stamp)
{
	struct walk walk = { .flow = flow,
		.wanted = wanted,
		.seen = seen,
		.stamp = stamp,
		.home = loci_flow_number(flow, home_of(instruction)) };
	for (LLVMUseRef use = LLVMGetFirstUse(instruction); use && !walk.found;
		use = LLVMGetNextUse(use))
		reach_use(&walk, instruction, LLVMGetUser(use));
	while (walk.n_pending > 0 && !walk.found) {
		const struct loci_flow_block *block = &flow->block[walk.pending[--walk.n_pending]];
		for (uint32_t i = 0; i < block->n_predecessors; i++)
			reach(&walk, block->predecessor[i]);
	}
	free(walk.pending);
	return walk.found;
}
