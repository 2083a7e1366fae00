/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of calling contexts with misses of its own and of all below, worst first. */
#ifndef LOCI_MODEL_CONTEXT_TREE_H
#define LOCI_MODEL_CONTEXT_TREE_H

#include "model/blame.h"

struct loci_context_node {
	const struct loci_context_row *context;
	const struct loci_blame_row *row; /* its own */
	double misses, refs;              /* with all below it */
	unsigned depth;
};

struct loci_context_tree {
	struct loci_context_node *node; /* every node after its parent, subtree by subtree */
	size_t n;
	size_t n_contexts; /* with those that are left out */
};

/* blame: of contexts. Leaves out subtrees with less than min_share of all misses, and after
 * max_nodes nodes the rest. */
int loci_context_tree_new(const struct loci_blame *blame, double min_share, size_t max_nodes,
	struct loci_context_tree *ret, struct loci_err *err);
void loci_context_tree_fini(struct loci_context_tree *tree);

#endif
