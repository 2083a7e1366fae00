/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the tracing copy's words go, and the cursor moves. Words are stored a constant way from the
 * cursor; it need not move (they are pending) while control goes on in only one way to a place, and
 * where ways join, as many as are pending on all of them. It must be right where control goes
 * elsewhere or the runtime is asked, and there it is needed in memory alone. */
#include "collect/llvm/copies.h"
#include "collect/llvm/events.h"

#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <stdlib.h>

/* So many are reached with a displacement of a byte. */
#define NEAR_WORDS  16
/* A function's marker, FRAME and CALLER, which it has from loci_asking_enter(). */
#define ENTRY_WORDS 3

struct writing {
	struct loci_emit *emit;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	const struct loci_ir_copy *copy;
	struct loci_events events;
	uint32_t *pending; /* words, at the end of each basic block */
};

static void move(struct writing *writing, LLVMValueRef before, uint32_t n_words)
{
	if (n_words == 0)
		return;
	loci_emit_before(writing->emit, before);
	loci_emit_set_cursor(writing->emit, loci_emit_get_cursor(writing->emit), n_words);
}

static void move_in_memory(struct writing *writing, LLVMValueRef before, uint32_t n_words)
{
	if (n_words == 0)
		return;
	loci_emit_before(writing->emit, before);
	loci_emit_move_cursor_in_memory(writing->emit, n_words);
}

static void move_at_end(struct writing *writing, uint32_t block, uint32_t left)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(writing->flow->block[block].block);
	move(writing, loci_ir_copy_of(writing->copy, end), writing->pending[block] - left);
	writing->pending[block] = left;
}

/* What is pending when a basic block begins. */
static uint32_t pending_before(struct writing *writing, uint32_t number)
{
	const struct loci_flow_block *block = &writing->flow->block[number];
	uint32_t least = UINT32_MAX;
	for (uint32_t i = 0; i < block->n_predecessors; i++) {
		uint32_t from = block->predecessor[i];
		uint32_t pending = from < number ? writing->pending[from] : 0;
		if (pending < least)
			least = pending;
	}
	for (uint32_t i = 0; i < block->n_predecessors; i++)
		if (block->predecessor[i] < number)
			move_at_end(writing, block->predecessor[i], least);
	return least;
}

/* Appends an atomic operation's words and returns the cursor behind them. */
static LLVMValueRef append_atomic(struct writing *writing, const struct loci_plan_ref *ref,
	LLVMValueRef instruction, LLVMValueRef cursor, uint32_t at)
{
	struct loci_emit *emit = writing->emit;
	loci_emit_before(emit, LLVMGetNextInstruction(instruction));
	loci_emit_atomic_end(emit);
	loci_emit_before(emit, instruction);
	return loci_emit_atomic(emit, cursor, at, ref, writing->copy);
}

/* How many of its references are there since the function was entered, and their marker. */
static uint32_t entered(const struct writing *writing, const struct loci_plan_piece *piece)
{
	bool is_first = piece->n_refs && writing->plan->ref[piece->first_ref].op == LOCI_OP_FRAME;
	return is_first ? ENTRY_WORDS - 1 : 0;
}

/* Appends a piece and returns how many words are pending. */
static uint32_t append(
	struct writing *writing, const struct loci_plan_piece *piece, uint32_t pending)
{
	const struct loci_plan *plan = writing->plan;
	struct loci_emit *emit = writing->emit;
	LLVMValueRef place = loci_ir_copy_of(writing->copy, piece->place), cursor;
	uint32_t at = pending;

	if (piece->is_checked || pending + piece->n_words + piece->is_marked > NEAR_WORDS) {
		if (piece->is_checked)
			move_in_memory(writing, place, pending);
		else
			move(writing, place, pending);
		at = 0;
	}
	loci_emit_before(emit, place);
	if (piece->is_checked)
		loci_emit_ready(emit);
	cursor = loci_emit_get_cursor(emit);
	uint32_t n_entered = entered(writing, piece);
	if (piece->is_marked && !piece->is_hoisted && !n_entered)
		loci_emit_marker(emit, cursor, at++, piece->block);
	for (uint32_t i = n_entered; i < piece->n_refs; i++) {
		const struct loci_plan_ref *ref = &plan->ref[piece->first_ref + i];
		LLVMValueRef instruction = loci_ir_copy_of(writing->copy, ref->instruction);
		if (ref->atomic) {
			cursor = append_atomic(writing, ref, instruction, cursor, at);
			loci_emit_set_cursor(emit, cursor, 0);
			at = 0;
			i += ref->atomic == LOCI_CC_ATOMIC_MODIFY;
			continue;
		}
		loci_emit_before(emit, instruction);
		at += loci_emit_ref(emit, cursor, at, ref, writing->copy);
	}
	return at;
}

static void take_event(struct writing *writing, const struct loci_event *event, uint32_t *pending)
{
	if (event->piece) {
		*pending = append(writing, event->piece, *pending);
		return;
	}
	move_in_memory(writing, loci_ir_copy_of(writing->copy, event->sync->instruction), *pending);
	*pending = 0;
	loci_emit_forget_shared(writing->emit);
}

void loci_words_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, const struct loci_ir_copy *copy)
{
	struct writing writing = { .emit = emit, .plan = plan, .flow = flow, .copy = copy };
	loci_events_init(&writing.events, plan, flow);
	writing.pending = loci_zeroed(flow->n_blocks, sizeof(*writing.pending));
	writing.pending[0] = ENTRY_WORDS;
	const struct loci_events *events = &writing.events;
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		uint32_t pending = pending_before(&writing, i);
		loci_emit_forget_shared(emit);
		for (uint32_t k = events->first[i]; k < events->first[i + 1]; k++)
			take_event(&writing, &events->event[k], &pending);
		writing.pending[i] = pending;
		if (events->is_gate[i] || loci_events_ends_apart(events, i) ||
			loci_events_is_last_place(events, i) ||
			loci_events_is_hoisted_to(events, i, false))
			move_at_end(&writing, i, 0);
	}
	loci_events_fini(&writing.events);
	free(writing.pending);
}
