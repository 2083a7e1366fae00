/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that counts executions. Counters are the thread's own, in memory that the runtime gives
 * it: where they begin for a function is the sum of a number of the thread's and one of the
 * function's, and negative while either is missing. Counting in memory, a loop would wait for what
 * it stored the time before: an innermost loop without calls counts in registers, and adds them
 * where it is left. */
#include "collect/llvm/executions.h"

#include "collect/runtime/cc_abi.h"

#include <stdlib.h>

struct loci_increments {
	struct loci_emit *emit;
	const struct loci_executions *executions;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	LLVMValueRef base;  /* slot: where the function's counters begin */
	LLVMValueRef *held; /* slot of each counter that a loop has in a register, or NULL */
	uint32_t *loop;     /* of each counter: that loop */
	bool *holds;        /* of loops */
	LLVMValueRef *slot;
	size_t n_slots;
};

static LLVMValueRef add_slot(struct loci_increments *increments)
{
	LLVMValueRef slot = loci_emit_slot(increments->emit, increments->emit->word);
	increments->slot =
		loci_grown(increments->slot, increments->n_slots, sizeof(*increments->slot));
	increments->slot[increments->n_slots++] = slot;
	return slot;
}

static uint32_t home_of(const struct loci_increments *increments, uint32_t node)
{
	return increments->executions->home[node];
}

static uint32_t loop_of(const struct loci_increments *increments, uint32_t node)
{
	return increments->flow->block[home_of(increments, node)].loop;
}

/* Loops that can be left by no way but edges of the flow, or the crossing. */
static void find_loops(struct loci_increments *increments, bool *may_hold)
{
	const struct loci_flow *flow = increments->flow;
	for (size_t i = 0; i < flow->n_loops; i++)
		may_hold[i] = !increments->plan->is_synced[i];
	for (size_t i = 0; i < flow->n_loops; i++)
		if (flow->loop[i].parent != LOCI_FLOW_NONE)
			may_hold[flow->loop[i].parent] = false;
	for (size_t i = 1; i < flow->n_blocks; i++)
		if (flow->block[i].loop != LOCI_FLOW_NONE &&
			LLVMIsAInvokeInst(LLVMGetBasicBlockTerminator(flow->block[i].block)))
			may_hold[flow->block[i].loop] = false;
}

static void choose_held(struct loci_increments *increments)
{
	const struct loci_executions *executions = increments->executions;
	bool *may_hold = loci_zeroed(increments->flow->n_loops, sizeof(*may_hold));
	find_loops(increments, may_hold);
	for (size_t i = 0; i < executions->n_edges; i++) {
		const struct loci_executions_edge *edge = &executions->edge[i];
		if (edge->kind != LOCI_EDGE_FLOW || edge->counter == LOCI_EXECUTIONS_NONE)
			continue;
		uint32_t loop = loop_of(increments, edge->from);
		if (loop == LOCI_FLOW_NONE || loop != loop_of(increments, edge->to) ||
			!may_hold[loop])
			continue;
		increments->held[edge->counter] = add_slot(increments);
		increments->loop[edge->counter] = loop;
		increments->holds[loop] = true;
	}
	free(may_hold);
}

struct loci_increments *loci_increments_new(struct loci_emit *emit,
	const struct loci_executions *executions, const struct loci_plan *plan,
	const struct loci_flow *flow)
{
	struct loci_increments *increments = loci_zeroed(1, sizeof(*increments));
	increments->emit = emit;
	emit->function = plan->function;
	increments->executions = executions;
	increments->plan = plan;
	increments->flow = flow;
	increments->held = loci_zeroed(executions->n_counters, sizeof(*increments->held));
	increments->loop = loci_zeroed(executions->n_counters, sizeof(*increments->loop));
	increments->holds = loci_zeroed(flow->n_loops, sizeof(*increments->holds));
	increments->base = add_slot(increments);
	choose_held(increments);
	return increments;
}

void loci_increments_free(struct loci_increments *increments)
{
	free(increments->held);
	free(increments->loop);
	free(increments->holds);
	free(increments->slot);
	free(increments);
}

size_t loci_increments_slots(struct loci_increments *increments, LLVMValueRef **ret_slot)
{
	*ret_slot = increments->slot;
	return increments->n_slots;
}

static LLVMValueRef slot_value(struct loci_increments *increments, LLVMValueRef slot)
{
	return LLVMBuildLoad2(increments->emit->builder, increments->emit->word, slot, "");
}

static void add_in_memory(struct loci_increments *increments, uint32_t counter, LLVMValueRef value)
{
	struct loci_emit *emit = increments->emit;
	LLVMValueRef base = LLVMBuildIntToPtr(
		emit->builder, slot_value(increments, increments->base), emit->pointer, "");
	LLVMValueRef at = loci_emit_away(emit, base, counter);
	LLVMValueRef sum = LLVMBuildAdd(emit->builder, loci_emit_load_word(emit, at), value, "");
	loci_emit_store_word(emit, sum, at);
}

/* n may be -1. */
static void add(struct loci_increments *increments, uint32_t counter, int n)
{
	struct loci_emit *emit = increments->emit;
	LLVMValueRef value = loci_emit_number(emit, (uint64_t)(int64_t)n);
	if (counter == LOCI_EXECUTIONS_NONE)
		return;
	LLVMValueRef held = increments->held[counter];
	if (!held) {
		add_in_memory(increments, counter, value);
		return;
	}
	value = LLVMBuildAdd(emit->builder, slot_value(increments, held), value, "");
	LLVMBuildStore(emit->builder, LLVMBuildFreeze(emit->builder, value, ""), held);
}

static void flush(struct loci_increments *increments, uint32_t loop)
{
	struct loci_emit *emit = increments->emit;
	for (uint32_t i = 0; i < increments->executions->n_counters; i++) {
		if (!increments->held[i] || increments->loop[i] != loop)
			continue;
		add_in_memory(increments, i, slot_value(increments, increments->held[i]));
		LLVMBuildStore(emit->builder, loci_emit_number(emit, 0), increments->held[i]);
	}
}

/* Where code is executed whenever the edge is. */
static void go_to_edge(struct loci_increments *increments, const struct loci_executions_edge *edge)
{
	uint32_t from = home_of(increments, edge->from), to = home_of(increments, edge->to);
	const struct loci_flow_block *block = increments->flow->block;
	if (block[from].n_successors == 1) {
		loci_emit_before(increments->emit, LLVMGetBasicBlockTerminator(block[from].block));
	} else if (block[to].n_predecessors == 1) {
		loci_emit_before(increments->emit, loci_ir_first_place(block[to].block));
	} else {
		LLVMBasicBlockRef between = block[from].block;
		between = loci_ir_gather(block[to].block, &between, 1);
		loci_emit_before(increments->emit, LLVMGetBasicBlockTerminator(between));
	}
}

static void make_flow(struct loci_increments *increments, const struct loci_executions_edge *edge)
{
	uint32_t loop = loop_of(increments, edge->from);
	bool is_exit = loop != LOCI_FLOW_NONE && increments->holds[loop] &&
		loop_of(increments, edge->to) != loop;
	if (!is_exit && edge->counter == LOCI_EXECUTIONS_NONE)
		return;
	go_to_edge(increments, edge);
	if (is_exit)
		flush(increments, loop);
	add(increments, edge->counter, 1);
}

static void begin_held(struct loci_increments *increments)
{
	struct loci_emit *emit = increments->emit;
	loci_emit_before(emit, LLVMGetBasicBlockTerminator(increments->flow->block[0].block));
	for (uint32_t i = 0; i < increments->executions->n_counters; i++)
		if (increments->held[i])
			LLVMBuildStore(
				emit->builder, loci_emit_number(emit, 0), increments->held[i]);
}

void loci_increments_make(struct loci_increments *increments)
{
	const struct loci_executions *executions = increments->executions;
	begin_held(increments);
	for (size_t i = 0; i < executions->n_edges; i++) {
		const struct loci_executions_edge *edge = &executions->edge[i];
		if (edge->kind == LOCI_EDGE_FLOW) {
			make_flow(increments, edge);
		} else if (edge->kind == LOCI_EDGE_START) {
			loci_emit_before(increments->emit, edge->place);
			add(increments, edge->counter, 1);
		}
	}
}

static LLVMValueRef base_of(struct loci_increments *increments)
{
	struct loci_emit *emit = increments->emit;
	LLVMValueRef thread = loci_emit_load_word(emit, loci_emit_thread_field(emit, 2));
	return LLVMBuildAdd(emit->builder, thread, loci_emit_load_word(emit, emit->counters), "");
}

static void ask_base(struct loci_increments *increments)
{
	struct loci_emit *emit = increments->emit;
	LLVMTypeRef argument[] = { emit->pointer, emit->pointer };
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(emit->context), argument, 2, 0);
	LLVMValueRef value[] = {
		LLVMBuildPointerCast(emit->builder, emit->record, emit->pointer, ""), emit->counters
	};
	loci_emit_call_keeping(emit, "__loci_counters", type, value, 2);
}

/* Of a node, which is the end that is not outside; there is one ENTRY. */
static void count_kind(
	struct loci_increments *increments, enum loci_execution_edge kind, uint32_t node)
{
	const struct loci_executions *executions = increments->executions;
	for (size_t i = 0; i < executions->n_edges; i++) {
		const struct loci_executions_edge *edge = &executions->edge[i];
		if (edge->kind == kind &&
			(kind == LOCI_EDGE_ENTRY || edge->from == node || edge->to == node))
			add(increments, edge->counter, 1);
	}
}

LLVMBasicBlockRef loci_increments_enter(
	struct loci_increments *increments, LLVMBasicBlockRef counting)
{
	struct loci_emit *emit = increments->emit;
	LLVMBasicBlockRef begin = LLVMInsertBasicBlockInContext(emit->context, counting, "");
	LLVMBasicBlockRef unknown = LLVMInsertBasicBlockInContext(emit->context, counting, "");
	LLVMBasicBlockRef known = LLVMInsertBasicBlockInContext(emit->context, counting, "");

	loci_emit_at_end(emit, begin);
	LLVMValueRef base = base_of(increments);
	LLVMBuildStore(emit->builder, base, increments->base);
	loci_emit_branch_unlikely(emit,
		LLVMBuildICmp(emit->builder, LLVMIntSLT, base, loci_emit_number(emit, 0), ""),
		unknown, known);
	loci_emit_at_end(emit, unknown);
	ask_base(increments);
	LLVMBuildStore(emit->builder, base_of(increments), increments->base);
	LLVMBuildBr(emit->builder, known);
	loci_emit_at_end(emit, known);
	count_kind(increments, LOCI_EDGE_ENTRY, 0);
	LLVMBuildBr(emit->builder, counting);
	return begin;
}

void loci_increments_leave(struct loci_increments *increments, uint32_t gate)
{
	const struct loci_executions *executions = increments->executions;
	uint32_t node = executions->first_node[gate + 1] - 1;
	uint32_t loop = increments->flow->block[gate].loop;
	/* It has counted as if it went on. */
	for (size_t i = 0; i < executions->n_edges; i++)
		if (executions->edge[i].kind == LOCI_EDGE_FLOW && executions->edge[i].from == node)
			add(increments, executions->edge[i].counter, -1);
	if (loop != LOCI_FLOW_NONE && increments->holds[loop])
		flush(increments, loop);
	count_kind(increments, LOCI_EDGE_LEAVE, node);
}

void loci_increments_return(struct loci_increments *increments, uint32_t target)
{
	ask_base(increments);
	LLVMBuildStore(increments->emit->builder, base_of(increments), increments->base);
	count_kind(increments, LOCI_EDGE_RETURN, increments->executions->first_node[target]);
}

/* All of its blocks execute each turn, so they are one round: in the order of the flow up to where
 * it is left, and then back to its header, once less. */
void loci_increments_run(
	struct loci_increments *increments, const struct loci_plan_run *run, LLVMValueRef times)
{
	const struct loci_executions *executions = increments->executions;
	struct loci_emit *emit = increments->emit;
	for (size_t i = 0; i < executions->n_edges; i++) {
		const struct loci_executions_edge *edge = &executions->edge[i];
		if (edge->kind != LOCI_EDGE_FLOW || edge->counter == LOCI_EXECUTIONS_NONE ||
			loop_of(increments, edge->from) != run->loop)
			continue;
		uint32_t from = home_of(increments, edge->from), to = home_of(increments, edge->to);
		LLVMValueRef n = times;
		if (increments->flow->block[to].loop == run->loop) {
			if (from >= run->exiting)
				n = LLVMBuildSub(
					emit->builder, times, loci_emit_number(emit, 1), "");
		} else if (increments->flow->block[to].n_predecessors > 1) {
			n = loci_emit_number(emit, 1);
		} else {
			continue; /* it counts where it begins */
		}
		add_in_memory(increments, edge->counter, n);
	}
}

void loci_increments_piece(struct loci_increments *increments, uint32_t block)
{
	add(increments, block, 1);
}
