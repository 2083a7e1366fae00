// SPDX-License-Identifier: GPL-2.0-or-later
/* Without recursion: contexts are as deep as a program recurses. Sums go from the deepest to the
 * roots; the way through the tree has a stack of its own. */
#include "model/context_tree.h"

#include "base/cleanup.h"

#include <stdlib.h>

#define NONE UINT32_MAX

struct plan {
	size_t n;
	struct loci_context_node *node; /* of each context, by id */
	uint32_t *parent;               /* NONE: a root */
	uint32_t *order;                /* the deepest last */
	uint32_t *first, *child; /* children by parent, worst first; those of parent n are roots */
};

static void plan_free(struct plan *plan)
{
	free(plan->node);
	free(plan->parent);
	free(plan->order);
	free(plan->first);
	free(plan->child);
}

static int plan_new(const struct loci_blame *blame, struct plan *plan, struct loci_err *err)
{
	const struct loci_catalogue *c = blame->catalogue;

	*plan = (struct plan){ .n = c->n_context };
	plan->node = calloc(plan->n + 1, sizeof(*plan->node));
	plan->parent = calloc(plan->n + 1, sizeof(*plan->parent));
	plan->order = calloc(plan->n + 1, sizeof(*plan->order));
	plan->first = calloc(plan->n + 3, sizeof(*plan->first));
	plan->child = calloc(plan->n + 1, sizeof(*plan->child));
	if (!plan->node || !plan->parent || !plan->order || !plan->first || !plan->child)
		return loci_err_nomem(err);
	for (size_t i = 0; i < plan->n; i++) {
		const struct loci_context_row *parent =
			loci_catalogue_find_context(c, c->context[i].parent_id);

		plan->parent[i] = parent ? (uint32_t)(parent - c->context) : NONE;
		plan->node[i].context = &c->context[i];
	}
	for (size_t i = 0; i < blame->n_rows; i++) {
		const struct loci_context_row *context = blame->row[i].owner;
		struct loci_context_node *node = &plan->node[context - c->context];

		node->row = &blame->row[i];
		node->misses = blame->row[i].misses;
		node->refs = blame->row[i].refs;
	}
	return 0;
}

/* Parents before children: from each node up to one that is placed, and down again. */
static int put_in_order(struct plan *plan, struct loci_err *err)
{
	loci_autofree uint32_t *way = calloc(plan->n + 1, sizeof(*way));
	loci_autofree bool *placed = calloc(plan->n + 1, sizeof(*placed));
	size_t n = 0;

	if (!way || !placed)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < plan->n; i++) {
		size_t length = 0;

		for (uint32_t at = i; at != NONE && !placed[at]; at = plan->parent[at]) {
			placed[at] = true;
			way[length++] = at;
		}
		while (length-- > 0) {
			uint32_t at = way[length], parent = plan->parent[at];

			plan->node[at].depth = parent == NONE ? 0 : plan->node[parent].depth + 1;
			plan->order[n++] = at;
		}
	}
	return 0;
}

static void add_up(struct plan *plan)
{
	for (size_t i = plan->n; i-- > 0;) {
		const struct loci_context_node *node = &plan->node[plan->order[i]];
		uint32_t parent = plan->parent[plan->order[i]];

		if (parent != NONE) {
			plan->node[parent].misses += node->misses;
			plan->node[parent].refs += node->refs;
		}
	}
}

struct ranked {
	double misses, refs;
	uint32_t at;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *p = a, *q = b;

	if (p->misses != q->misses)
		return p->misses > q->misses ? -1 : 1;
	if (p->refs != q->refs)
		return p->refs > q->refs ? -1 : 1;
	return (p->at > q->at) - (p->at < q->at);
}

/* Nodes sorted once, then dealt out to their parents, leave every parent's children sorted. */
static int deal_children(struct plan *plan, struct loci_err *err)
{
	loci_autofree struct ranked *ranked = calloc(plan->n + 1, sizeof(*ranked));

	if (!ranked)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < plan->n; i++) {
		size_t parent = plan->parent[i] == NONE ? plan->n : plan->parent[i];

		ranked[i] = (struct ranked){ plan->node[i].misses, plan->node[i].refs, i };
		plan->first[parent + 2]++;
	}
	qsort(ranked, plan->n, sizeof(*ranked), compare_ranked);
	for (size_t i = 2; i < plan->n + 3; i++)
		plan->first[i] += plan->first[i - 1];
	for (size_t i = 0; i < plan->n; i++) {
		uint32_t at = ranked[i].at;
		size_t parent = plan->parent[at] == NONE ? plan->n : plan->parent[at];

		plan->child[plan->first[parent + 1]++] = at;
	}
	return 0;
}

static int walk(const struct loci_blame *blame, const struct plan *plan, double min_share,
	size_t max_nodes, struct loci_context_tree *ret, struct loci_err *err)
{
	loci_autofree uint32_t *stack = calloc(plan->n + 1, sizeof(*stack));
	size_t n = 0;

	if (!stack)
		return loci_err_nomem(err);
	for (uint32_t i = plan->first[plan->n + 1]; i-- > plan->first[plan->n];)
		stack[n++] = plan->child[i];
	while (n > 0 && ret->n < max_nodes) {
		uint32_t at = stack[--n];

		/* siblings come worst first, but others of the stack may be worth it */
		if (loci_blame_share(blame, plan->node[at].misses) < min_share)
			continue;
		ret->node[ret->n++] = plan->node[at];
		for (uint32_t i = plan->first[at + 1]; i-- > plan->first[at];)
			stack[n++] = plan->child[i];
	}
	return 0;
}

int loci_context_tree_new(const struct loci_blame *blame, double min_share, size_t max_nodes,
	struct loci_context_tree *ret, struct loci_err *err)
{
	loci_cleanup(plan_free) struct plan plan;
	int r;

	*ret = (struct loci_context_tree){ .n_contexts = blame->catalogue->n_context };
	ret->node = calloc(ret->n_contexts + 1, sizeof(*ret->node));
	r = plan_new(blame, &plan, err);
	if (r == 0 && !ret->node)
		r = loci_err_nomem(err);
	if (r < 0 || (r = put_in_order(&plan, err)) < 0)
		return r;
	add_up(&plan);
	if ((r = deal_children(&plan, err)) < 0)
		return r;
	return walk(blame, &plan, min_share, max_nodes, ret, err);
}

void loci_context_tree_fini(struct loci_context_tree *tree)
{
	free(tree->node);
	*tree = (struct loci_context_tree){ 0 };
}
