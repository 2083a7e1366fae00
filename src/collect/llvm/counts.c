/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the budget is lowered. What a piece counts may wait (is pending) while control goes on in
 * only one way to a place, and where ways join, what is pending on all of them: so most ways lower
 * the budget once. It must be right where it is tested, and in memory where control goes
 * elsewhere; there the counting copy stores it if it is not what memory has (dirty). The tracing
 * copy lowers it in memory. */
#include "collect/llvm/copies.h"

#include "collect/llvm/order.h"

#include <stdlib.h>

struct event {
	const struct loci_plan_piece *piece; /* or .. */
	const struct loci_plan_sync *sync;
};

struct counting {
	struct loci_emit *emit;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	const struct loci_ir_copy *copy; /* NULL: the counting copy's */
	struct event *event;             /* by sequence */
	uint32_t *first;                 /* event of each basic block; first[i + 1] ends it */
	/* At the end of each basic block: */
	uint32_t *pending;
	bool *is_dirty;
	bool *is_gate;
};

static void collect_events(struct counting *counting)
{
	const struct loci_plan *plan = counting->plan;
	size_t n_blocks = counting->flow->n_blocks;
	counting->event = loci_zeroed(plan->n_sequence, sizeof(*counting->event));
	counting->first = loci_zeroed(n_blocks + 1, sizeof(*counting->first));
	for (size_t i = 0; i < plan->n_pieces; i++) {
		counting->event[plan->piece[i].sequence].piece = &plan->piece[i];
		counting->first[plan->piece[i].home + 1]++;
	}
	for (size_t i = 0; i < plan->n_syncs; i++) {
		counting->event[plan->sync[i].sequence].sync = &plan->sync[i];
		counting->first[plan->sync[i].home + 1]++;
	}
	/* Basic blocks took their numbers of the sequence in their order. */
	for (size_t i = 0; i < n_blocks; i++)
		counting->first[i + 1] += counting->first[i];
}

static LLVMValueRef end_of(const struct counting *counting, uint32_t block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(counting->flow->block[block].block);
	return counting->copy ? loci_ir_copy_of(counting->copy, end) : end;
}

static void count(struct counting *counting, uint32_t n_refs)
{
	if (counting->copy)
		loci_emit_count_in_memory(counting->emit, n_refs);
	else
		loci_emit_count(counting->emit, n_refs);
}

static void count_at_end(struct counting *counting, uint32_t block, uint32_t left)
{
	uint32_t n_refs = counting->pending[block] - left;
	counting->pending[block] = left;
	if (n_refs == 0)
		return;
	loci_emit_before(counting->emit, end_of(counting, block));
	count(counting, n_refs);
	counting->is_dirty[block] = true;
}

static bool is_joined(const struct counting *counting, uint32_t block)
{
	return counting->flow->block[block].n_predecessors > 1;
}

/* What is pending when a basic block begins. */
static uint32_t pending_before(struct counting *counting, uint32_t number)
{
	const struct loci_flow_block *block = &counting->flow->block[number];
	uint32_t least = UINT32_MAX;
	for (uint32_t i = 0; i < block->n_predecessors; i++) {
		uint32_t from = block->predecessor[i];
		uint32_t pending = from < number ? counting->pending[from] : 0;
		if (pending < least)
			least = pending;
	}
	for (uint32_t i = 0; i < block->n_predecessors; i++)
		if (block->predecessor[i] < number)
			count_at_end(counting, block->predecessor[i], least);
	return least;
}

static bool dirty_before(const struct counting *counting, uint32_t number)
{
	const struct loci_flow_block *block = &counting->flow->block[number];
	bool is_dirty = false;
	for (uint32_t i = 0; i < block->n_predecessors; i++) {
		uint32_t from = block->predecessor[i];
		is_dirty |= from < number ? counting->is_dirty[from] : counting->is_gate[from];
	}
	return is_dirty;
}

static void take_piece(
	struct counting *counting, const struct loci_plan_piece *piece, uint32_t *pending)
{
	if (counting->copy && piece->is_checked) {
		loci_emit_before(counting->emit, loci_ir_copy_of(counting->copy, piece->place));
		count(counting, *pending);
		*pending = 0;
	}
	*pending += piece->n_counted;
}

static void take_sync(struct counting *counting, const struct loci_plan_sync *sync,
	uint32_t *pending, bool *is_dirty)
{
	bool store = sync->leaves && (*is_dirty || *pending > 0);
	loci_sync_make(counting->emit, sync, counting->copy, *pending, store);
	*pending = 0;
	*is_dirty = false;
}

/* The marker of a loop's block is appended, perhaps after a check, where its basic block ends. */
static bool is_checked_at_end(const struct counting *counting, uint32_t block)
{
	const struct loci_flow_block *at = &counting->flow->block[block];
	if (!counting->copy)
		return false;
	for (uint32_t i = 0; i < at->n_successors; i++) {
		uint32_t hoisted = loci_order_hoisted(counting->plan, at->successor[i]);
		if (at->successor[i] > block && hoisted != LOCI_PLAN_NONE &&
			counting->plan->piece[hoisted].is_hoist_checked)
			return true;
	}
	return false;
}

static bool leaves_bound(const struct counting *counting, uint32_t block)
{
	const struct loci_flow_block *at = &counting->flow->block[block];
	bool leaves = false;
	for (uint32_t i = 0; i < at->n_successors; i++)
		leaves |= counting->flow->block[at->successor[i]].loop != at->loop;
	for (size_t i = 0; leaves && i < counting->plan->n_bounds; i++)
		if (counting->plan->bound[i].loop == at->loop)
			return true;
	return false;
}

/* Nothing waits where a loop that has a plain copy is left: not all ways there ran it here. */
static bool ends_plain(const struct counting *counting, uint32_t block)
{
	if (!counting->copy && leaves_bound(counting, block))
		return true;
	for (size_t i = 0; i < counting->plan->n_runs; i++)
		if (counting->plan->run[i].exiting == block)
			return true;
	return false;
}

static void finish_block(struct counting *counting, uint32_t number)
{
	const struct loci_flow_block *block = &counting->flow->block[number];
	bool all = counting->is_gate[number] || ends_plain(counting, number);
	if (block->n_successors > 1)
		for (uint32_t i = 0; i < block->n_successors; i++)
			all |= is_joined(counting, block->successor[i]);
	if (all || is_checked_at_end(counting, number))
		count_at_end(counting, number, 0);
}

static void find_gates(struct counting *counting)
{
	uint32_t gate;
	for (uint32_t i = 1; i < counting->flow->n_blocks; i++)
		if (loci_order_crosses(counting->plan, counting->flow, i, &gate))
			counting->is_gate[gate] = true;
}

void loci_counts_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, const struct loci_ir_copy *copy)
{
	struct counting counting = { .emit = emit, .plan = plan, .flow = flow, .copy = copy };
	counting.pending = loci_zeroed(flow->n_blocks, sizeof(*counting.pending));
	counting.is_dirty = loci_zeroed(flow->n_blocks, sizeof(*counting.is_dirty));
	counting.is_gate = loci_zeroed(flow->n_blocks, sizeof(*counting.is_gate));
	collect_events(&counting);
	find_gates(&counting);
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		uint32_t pending = pending_before(&counting, i);
		bool is_dirty = dirty_before(&counting, i);
		for (uint32_t k = counting.first[i]; k < counting.first[i + 1]; k++) {
			const struct event *event = &counting.event[k];
			if (event->piece)
				take_piece(&counting, event->piece, &pending);
			else
				take_sync(&counting, event->sync, &pending, &is_dirty);
		}
		counting.pending[i] = pending;
		counting.is_dirty[i] = is_dirty;
		finish_block(&counting, i);
	}
	free(counting.event);
	free(counting.first);
	free(counting.pending);
	free(counting.is_dirty);
	free(counting.is_gate);
}
