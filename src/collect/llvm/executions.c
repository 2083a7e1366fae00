/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/executions.h"

#include "collect/llvm/callee.h"
#include "collect/llvm/order.h"
#include "collect/runtime/cc_abi.h"

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

static uint32_t root_of(uint32_t *root, uint32_t node)
{
	while (root[node] != node)
		node = root[node] = root[root[node]];
	return node;
}

static int heavier(const void *a, const void *b, void *with)
{
	const struct loci_executions_edge *edge = with;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (edge[i].weight != edge[k].weight)
		return edge[i].weight > edge[k].weight ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* The heaviest spanning tree; what is not in it gets a counter. Crossing edges weigh nothing, and
 * are in it where nothing else leads to a node. */
static bool *grow_tree(struct loci_executions *is)
{
	uint32_t *root = loci_zeroed(is->n_nodes, sizeof(*root));
	uint32_t *order = loci_zeroed(is->n_edges, sizeof(*order));
	bool *in_tree = loci_zeroed(is->n_edges, sizeof(*in_tree));
	for (uint32_t i = 0; i < is->n_nodes; i++)
		root[i] = i;
	for (uint32_t i = 0; i < is->n_edges; i++)
		order[i] = i;
	qsort_r(order, is->n_edges, sizeof(*order), heavier, is->edge);
	for (size_t i = 0; i < is->n_edges; i++) {
		const struct loci_executions_edge *edge = &is->edge[order[i]];
		uint32_t from = root_of(root, edge->from), to = root_of(root, edge->to);
		in_tree[order[i]] = from != to;
		root[from] = to;
	}
	for (uint32_t i = 0; i < is->n_edges; i++)
		if (!in_tree[i])
			is->edge[i].counter = is->n_counters++;
	free(root);
	free(order);
	return in_tree;
}

/* The tree from the outside on: of each node the edge towards it, and how many are between. */
struct tree {
	uint32_t *above; /* edge; LOCI_EXECUTIONS_NONE: the root of a part */
	uint32_t *depth;
};

static uint32_t other_end(const struct loci_executions_edge *edge, uint32_t node)
{
	return edge->from == node ? edge->to : edge->from;
}

static void hang(struct tree *tree, const struct loci_executions *is, const bool *in_tree)
{
	uint32_t *first = loci_zeroed(is->n_nodes + 2, sizeof(*first));
	uint32_t *beside = loci_zeroed(2 * is->n_edges, sizeof(*beside));
	uint32_t *queue = loci_zeroed(is->n_nodes, sizeof(*queue));
	bool *seen = loci_zeroed(is->n_nodes, sizeof(*seen));
	for (size_t i = 0; i < is->n_edges; i++)
		if (in_tree[i]) {
			first[is->edge[i].from + 2]++;
			first[is->edge[i].to + 2]++;
		}
	for (uint32_t i = 2; i < is->n_nodes + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < is->n_edges; i++)
		if (in_tree[i]) {
			beside[first[is->edge[i].from + 1]++] = i;
			beside[first[is->edge[i].to + 1]++] = i;
		}
	tree->above = loci_zeroed(is->n_nodes, sizeof(*tree->above));
	tree->depth = loci_zeroed(is->n_nodes, sizeof(*tree->depth));
	for (uint32_t start = 0; start < is->n_nodes; start++) {
		uint32_t head = 0, tail = 0;
		if (seen[start])
			continue;
		seen[start] = true;
		tree->above[start] = LOCI_EXECUTIONS_NONE;
		queue[tail++] = start;
		while (head < tail) {
			uint32_t node = queue[head++];
			for (uint32_t k = first[node]; k < first[node + 1]; k++) {
				uint32_t to = other_end(&is->edge[beside[k]], node);
				if (seen[to])
					continue;
				seen[to] = true;
				tree->above[to] = beside[k];
				tree->depth[to] = tree->depth[node] + 1;
				queue[tail++] = to;
			}
		}
	}
	free(first);
	free(beside);
	free(queue);
	free(seen);
}

/* How often nodes execute, as sums. */
struct sums {
	struct loci_cc_term *term; /* of nodes */
	size_t n, limit;
};

static void add_term(struct sums *sums, uint32_t node, uint32_t counter, bool minus)
{
	if (sums->n > sums->limit)
		return;
	sums->term = loci_grown(sums->term, sums->n, sizeof(*sums->term));
	sums->term[sums->n++] = (struct loci_cc_term){ .block = node,
		.counter = counter | (minus ? LOCI_CC_TERM_MINUS : 0) };
}

/* A flow of one along the edge, which then goes on through the tree to where it began: it comes
 * into each node on the way once, forwards or backwards. A node executes as often as it is come
 * into: what goes in and out against the direction of both edges is one less, and what comes in by
 * one edge and leaves by another that also leads in changes nothing. */
static void send_round(struct sums *sums, const struct loci_executions *is, const struct tree *tree,
	const struct loci_executions_edge *chord)
{
	/* Step by step from the chord's end up to the common node, and from its start up. */
	uint32_t low = chord->to, high = chord->from;
	bool is_into_low = true;   /* the last edge on this side leads into `low` .. */
	bool is_outof_high = true; /* .. and on that side out of `high` */
	uint32_t counter = chord->counter;
	/* On the side of the end the flow goes upwards, on that of the start it comes from above.
	 */
	while (low != high) {
		bool is_low = tree->depth[low] >= tree->depth[high];
		uint32_t node = is_low ? low : high;
		const struct loci_executions_edge *edge = &is->edge[tree->above[node]];
		if (is_low) {
			bool leaves = edge->from == node; /* with the flow */
			if (is_into_low && leaves)
				add_term(sums, node, counter, false);
			else if (!is_into_low && !leaves)
				add_term(sums, node, counter, true);
			is_into_low = leaves; /* an edge against the flow leads out of the next */
			low = other_end(edge, node);
		} else {
			bool arrives = edge->to == node;
			if (is_outof_high && arrives)
				add_term(sums, node, counter, false);
			else if (!is_outof_high && !arrives)
				add_term(sums, node, counter, true);
			is_outof_high = arrives;
			high = other_end(edge, node);
		}
	}
	if (is_into_low && is_outof_high)
		add_term(sums, low, counter, false);
	else if (!is_into_low && !is_outof_high)
		add_term(sums, low, counter, true);
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
static void give_blocks(struct graph *graph, struct sums *sums)
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
	struct sums sums = { .limit = (size_t)is->n_nodes * TERMS_PER + 65536 };
	struct tree tree;
	bool *in_tree = grow_tree(is);
	hang(&tree, is, in_tree);
	for (size_t i = 0; i < is->n_edges && sums.n <= sums.limit; i++)
		if (!in_tree[i])
			send_round(&sums, is, &tree, &is->edge[i]);
	bool fits = sums.n <= sums.limit;
	if (fits)
		give_blocks(graph, &sums);
	free(in_tree);
	free(tree.above);
	free(tree.depth);
	free(sums.term);
	return fits;
}

/* Every edge counted by itself: what a node executes is what comes into it. */
static void count_all(struct graph *graph)
{
	struct loci_executions *is = graph->is;
	struct sums sums = { .limit = SIZE_MAX - 1 };
	is->n_counters = 0;
	for (size_t i = 0; i < is->n_edges; i++) {
		struct loci_executions_edge *edge = &is->edge[i];
		edge->counter =
			edge->kind == LOCI_EDGE_END ? LOCI_EXECUTIONS_NONE : is->n_counters++;
		if (edge->to != OUTSIDE)
			add_term(&sums, edge->to, edge->counter, false);
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
