/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the budget is lowered. What a piece counts may wait (is pending) while control goes on in
 * only one way to a place, and where ways join, what is pending on all of them: so most ways lower
 * the budget once. It must be right where it is tested, and in memory where control goes
 * elsewhere; there the counting copy stores it if it is not what memory has (dirty). The tracing
 * copy lowers it in memory. */
#include "collect/llvm/copies.h"

#include "collect/llvm/events.h"

#include <stdlib.h>

struct counting {
	struct loci_emit *emit;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	const struct loci_ir_copy *copy; /* NULL: the counting copy's */
	struct loci_events events;
	/* At the end of each basic block: */
	uint32_t *pending;
	bool *is_dirty;
};

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
		is_dirty |=
			from < number ? counting->is_dirty[from] : counting->events.is_gate[from];
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
	return loci_events_ends_apart(&counting->events, block);
}

/* Where a loop is entered that takes more from the budget than what is its own. */
static void leave_owed(struct counting *counting, uint32_t number)
{
	for (size_t i = 0; !counting->copy && i < counting->plan->n_runs; i++) {
		const struct loci_plan_run *run = &counting->plan->run[i];
		if (run->entry != number || run->owed == 0)
			continue;
		count_at_end(counting, number, run->owed);
		counting->pending[number] = 0;
		counting->is_dirty[number] = true;
	}
}

static void finish_block(struct counting *counting, uint32_t number)
{
	const struct loci_events *events = &counting->events;
	leave_owed(counting, number);
	/* The marker of a loop's block is appended, perhaps after a check, where its basic block
	 * ends. */
	bool is_checked = counting->copy && loci_events_is_hoisted_to(events, number, true);
	if (events->is_gate[number] || ends_plain(counting, number) ||
		loci_events_is_last_place(events, number) || is_checked)
		count_at_end(counting, number, 0);
}

void loci_counts_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, const struct loci_ir_copy *copy)
{
	struct counting counting = { .emit = emit, .plan = plan, .flow = flow, .copy = copy };
	counting.pending = loci_zeroed(flow->n_blocks, sizeof(*counting.pending));
	counting.is_dirty = loci_zeroed(flow->n_blocks, sizeof(*counting.is_dirty));
	loci_events_init(&counting.events, plan, flow);
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		uint32_t pending = pending_before(&counting, i);
		bool is_dirty = dirty_before(&counting, i);
		for (uint32_t k = counting.events.first[i]; k < counting.events.first[i + 1]; k++) {
			const struct loci_event *event = &counting.events.event[k];
			if (event->piece)
				take_piece(&counting, event->piece, &pending);
			else
				take_sync(&counting, event->sync, &pending, &is_dirty);
		}
		counting.pending[i] = pending;
		counting.is_dirty[i] = is_dirty;
		finish_block(&counting, i);
	}
	loci_events_fini(&counting.events);
	free(counting.pending);
	free(counting.is_dirty);
}
