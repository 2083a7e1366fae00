/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/executions.h"

#include "collect/llvm/callee.h"
#include "collect/llvm/order.h"
#include "collect/llvm/spanning.h"

#include <stdlib.h>
#include <string.h>

#define OUTSIDE       0
/* How much more often what is in a loop executes. */
#define LOOP_WEIGHT   16
#define DEPTH_MAX     12
#define WEIGHT_UNIT   256
#define WEIGHT_ALWAYS UINT64_MAX /* in the tree */
/* Sums that would be longer than this, all together and for each node, are not made. */
#define TERMS_PER     16
#define TERMS_MIN     65536

struct graph {
	struct loci_executions *is;
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	const struct loci_plan_sync **split; /* by node: the call that it begins after, or NULL */
};

/* Whether control may be elsewhere for good after it was there. */
static bool may_stay(const struct loci_plan_sync *sync)
{
	return sync->leaves && sync->returns &&
		!(loci_ir_call_has(sync->instruction, "willreturn") &&
			loci_ir_call_has(sync->instruction, "nounwind"));
}

static bool splits(const struct loci_plan_sync *sync)
{
	return may_stay(sync) && !LLVMIsAInvokeInst(sync->instruction);
}

/* Calls that split basic blocks, in the order they execute. */
static void find_nodes(struct graph *graph)
{
	struct loci_executions *is = graph->is;
	const struct loci_plan *plan = graph->plan;
	uint32_t n = (uint32_t)graph->flow->n_blocks, node = 1;
	uint32_t *n_splits = loci_zeroed(n, sizeof(*n_splits));
	for (size_t i = 0; i < plan->n_syncs; i++)
		n_splits[plan->sync[i].home] += splits(&plan->sync[i]);
	is->first_node = loci_zeroed(n + 1, sizeof(*is->first_node));
	for (uint32_t i = 0; i < n; i++) {
		is->first_node[i] = node;
		node += 1 + n_splits[i];
	}
	is->first_node[n] = is->n_nodes = node;
	is->home = loci_zeroed(node, sizeof(*is->home));
	graph->split = loci_zeroed(node, sizeof(*graph->split));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = is->first_node[i]; k < is->first_node[i + 1]; k++)
			is->home[k] = i;
	memset(n_splits, 0, n * sizeof(*n_splits));
	for (size_t i = 0; i < plan->n_syncs; i++) { /* ascending in each basic block */
		const struct loci_plan_sync *sync = &plan->sync[i];
		if (splits(sync))
			graph->split[is->first_node[sync->home] + ++n_splits[sync->home]] = sync;
	}
	free(n_splits);
}

static uint32_t last_node(const struct loci_executions *is, uint32_t block)
{
	return is->first_node[block + 1] - 1;
}

static unsigned depth_of(const struct graph *graph, uint32_t block)
{
	uint32_t loop = graph->flow->block[block].loop;
	unsigned depth = loop == LOCI_FLOW_NONE ? 0 : graph->flow->loop[loop].depth;
	return depth < DEPTH_MAX ? depth : DEPTH_MAX;
}

static uint64_t weight_of(const struct graph *graph, uint32_t from, uint32_t to)
{
	unsigned depth = depth_of(graph, from) < depth_of(graph, to) ? depth_of(graph, from)
								     : depth_of(graph, to);
	uint64_t weight = WEIGHT_UNIT;
	while (depth-- > 0)
		weight *= LOOP_WEIGHT;
	uint32_t ways = graph->flow->block[from].n_successors;
	return ways > 1 ? weight / (ways < WEIGHT_UNIT ? ways : WEIGHT_UNIT) : weight;
}

static void add_edge(struct graph *graph, struct loci_executions_edge edge)
{
	struct loci_executions *is = graph->is;
	edge.counter = LOCI_EXECUTIONS_NONE;
	is->edge = loci_grown(is->edge, is->n_edges, sizeof(*is->edge));
	is->edge[is->n_edges++] = edge;
}

static bool is_pad(LLVMBasicBlockRef block)
{
	LLVMValueRef first = LLVMGetFirstInstruction(block);
	while (LLVMIsAPHINode(first))
		first = LLVMGetNextInstruction(first);
	return LLVMIsALandingPadInst(first) != NULL;
}

/* Whether control may leave the function, or for good, where a basic block ends. */
static bool ends_outside(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	return LLVMGetNumSuccessors(end) == 0 || LLVMIsAInvokeInst(end);
}

static void add_block(struct graph *graph, uint32_t number)
{
	const struct loci_executions *is = graph->is;
	const struct loci_flow_block *block = &graph->flow->block[number];
	uint32_t gate;

	if (is_pad(block->block))
		add_edge(graph,
			(struct loci_executions_edge){ .kind = LOCI_EDGE_START,
				.to = is->first_node[number],
				.place = loci_ir_first_place(block->block),
				.weight = weight_of(graph, number, number) / LOOP_WEIGHT });
	for (uint32_t node = is->first_node[number] + 1; node < is->first_node[number + 1];
		node++) {
		add_edge(graph,
			(struct loci_executions_edge){
				.kind = LOCI_EDGE_END, .from = node - 1, .weight = WEIGHT_ALWAYS });
		add_edge(graph,
			(struct loci_executions_edge){ .kind = LOCI_EDGE_START,
				.to = node,
				.place = LLVMGetNextInstruction(graph->split[node]->instruction),
				.weight = weight_of(graph, number, number) });
	}
	if (ends_outside(block->block))
		add_edge(graph,
			(struct loci_executions_edge){ .kind = LOCI_EDGE_END,
				.from = last_node(is, number),
				.weight = WEIGHT_ALWAYS });
	for (uint32_t i = 0; i < block->n_successors; i++) {
		uint32_t to = block->successor[i];
		if (!is_pad(graph->flow->block[to].block))
			add_edge(graph,
				(struct loci_executions_edge){ .kind = LOCI_EDGE_FLOW,
					.from = last_node(is, number),
					.to = is->first_node[to],
					.weight = weight_of(graph, number, to) });
	}
	if (loci_order_crosses(graph->plan, graph->flow, number, &gate)) {
		add_edge(graph,
			(struct loci_executions_edge){
				.kind = LOCI_EDGE_LEAVE, .from = last_node(is, gate) });
		add_edge(graph,
			(struct loci_executions_edge){
				.kind = LOCI_EDGE_RETURN, .to = is->first_node[number] });
	}
}

static int compare_terms(const void *a, const void *b)
{
	const struct loci_cc_term *x = a, *y = b;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	uint32_t i = x->counter & ~LOCI_CC_TERM_MINUS, k = y->counter & ~LOCI_CC_TERM_MINUS;
	return i < k ? -1 : i > k;
}

static uint32_t node_of_piece(const struct graph *graph, const struct loci_plan_piece *piece)
{
	uint32_t node = graph->is->first_node[piece->home];
	while (node + 1 < graph->is->first_node[piece->home + 1] &&
		graph->split[node + 1]->sequence < piece->sequence)
		node++;
	return node;
}

/* Sums of nodes to those of blocks, which are pieces. */
static void give_blocks(struct graph *graph, struct loci_sums *sums)
{
	struct loci_executions *is = graph->is;
	uint32_t *first = loci_zeroed(is->n_nodes + 1, sizeof(*first));
	qsort(sums->term, sums->n, sizeof(*sums->term), compare_terms);
	for (size_t i = 0; i < sums->n; i++)
		first[sums->term[i].block + 1]++;
	for (uint32_t i = 0; i < is->n_nodes; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; i < graph->plan->n_pieces; i++) {
		uint32_t node = node_of_piece(graph, &graph->plan->piece[i]);
		for (uint32_t k = first[node]; k < first[node + 1]; k++) {
			is->term = loci_grown(is->term, is->n_terms, sizeof(*is->term));
			is->term[is->n_terms] = sums->term[k];
			is->term[is->n_terms++].block = graph->plan->piece[i].block;
		}
	}
	free(first);
}

static bool solve(struct graph *graph)
{
	struct loci_executions *is = graph->is;
	struct loci_sums sums = { .limit = (size_t)is->n_nodes * TERMS_PER + TERMS_MIN };
	loci_spanning_solve(is, &sums);
	bool fits = sums.n <= sums.limit;
	if (fits)
		give_blocks(graph, &sums);
	free(sums.term);
	return fits;
}

/* Every edge counted by itself: what a node executes is what comes into it. */
static void count_all(struct graph *graph)
{
	struct loci_executions *is = graph->is;
	struct loci_sums sums = { .limit = SIZE_MAX - 1 };
	is->n_counters = 0;
	for (size_t i = 0; i < is->n_edges; i++) {
		struct loci_executions_edge *edge = &is->edge[i];
		edge->counter =
			edge->kind == LOCI_EDGE_END ? LOCI_EXECUTIONS_NONE : is->n_counters++;
		if (edge->to != OUTSIDE)
			loci_sums_add(&sums, edge->to, edge->counter, false);
	}
	give_blocks(graph, &sums);
	free(sums.term);
}

static void count_pieces(struct loci_executions *is, const struct loci_plan *plan)
{
	is->n_counters = (uint32_t)plan->n_blocks;
	is->n_terms = plan->n_blocks;
	is->term = loci_zeroed(plan->n_blocks, sizeof(*is->term));
	for (uint32_t i = 0; i < plan->n_blocks; i++)
		is->term[i] = (struct loci_cc_term){ .block = i, .counter = i };
}

void loci_executions_init(struct loci_executions *executions, const struct loci_plan *plan,
	const struct loci_flow *flow, bool by_piece)
{
	struct graph graph = { .is = executions, .plan = plan, .flow = flow };
	*executions = (struct loci_executions){ 0 };
	if (by_piece) {
		count_pieces(executions, plan);
		return;
	}
	find_nodes(&graph);
	add_edge(&graph,
		(struct loci_executions_edge){ .kind = LOCI_EDGE_ENTRY,
			.to = executions->first_node[1],
			.weight = WEIGHT_UNIT });
	for (uint32_t i = 1; i < flow->n_blocks; i++)
		add_block(&graph, i);
	if (!solve(&graph))
		count_all(&graph);
	free(graph.split);
}

void loci_executions_fini(struct loci_executions *executions)
{
	free(executions->first_node);
	free(executions->home);
	free(executions->edge);
	free(executions->term);
}
