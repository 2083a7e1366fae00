/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/spanning.h"

#include <stdlib.h>

void loci_sums_add(struct loci_sums *sums, uint32_t node, uint32_t counter, bool minus)
{
	if (sums->n > sums->limit)
		return;
	sums->term = loci_grown(sums->term, sums->n, sizeof(*sums->term));
	sums->term[sums->n++] = (struct loci_cc_term){ .block = node,
		.counter = counter | (minus ? LOCI_CC_TERM_MINUS : 0) };
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

/* A flow of one along the edge, which then goes on through the tree to where it began: it comes
 * into each node on the way once, forwards or backwards. A node executes as often as it is come
 * into: what goes in and out against the direction of both edges is one less, and what comes in by
 * one edge and leaves by another that also leads in changes nothing. */
static void send_round(struct loci_sums *sums, const struct loci_executions *is,
	const struct tree *tree, const struct loci_executions_edge *chord)
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
				loci_sums_add(sums, node, counter, false);
			else if (!is_into_low && !leaves)
				loci_sums_add(sums, node, counter, true);
			is_into_low = leaves; /* an edge against the flow leads out of the next */
			low = other_end(edge, node);
		} else {
			bool arrives = edge->to == node;
			if (is_outof_high && arrives)
				loci_sums_add(sums, node, counter, false);
			else if (!is_outof_high && !arrives)
				loci_sums_add(sums, node, counter, true);
			is_outof_high = arrives;
			high = other_end(edge, node);
		}
	}
	if (is_into_low && is_outof_high)
		loci_sums_add(sums, low, counter, false);
	else if (!is_into_low && !is_outof_high)
		loci_sums_add(sums, low, counter, true);
}

void loci_spanning_solve(struct loci_executions *executions, struct loci_sums *sums)
{
	struct tree tree;
	bool *in_tree = grow_tree(executions);
	hang(&tree, executions, in_tree);
	for (size_t i = 0; i < executions->n_edges && sums->n <= sums->limit; i++)
		if (!in_tree[i])
			send_round(sums, executions, &tree, &executions->edge[i]);
	free(in_tree);
	free(tree.above);
	free(tree.depth);
}
