/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The method of the textbooks, to compare the engine with: a hash map from blocks to the nodes of a
 * balanced tree ordered by the time of the last use, whose nodes know the size of their subtree
 * (Olken 1981). Stack distances and their histogram only. Nodes live in one array, the map is an
 * open-addressing one. Two trees: one balanced by weight (Nievergelt and Reingold 1973, with the
 * parameters 3 and 2 of Hirai and Yamamoto 2011), and a splay tree (Sleator and Tarjan 1985), which
 * Sugumar and Abraham chose for this in 1993 because it keeps recent blocks near the root. */
#ifndef LOCI_BENCH_TEXTBOOK_H
#define LOCI_BENCH_TEXTBOOK_H

#include "hist/hist.h"

#include <stddef.h>

enum textbook_tree {
	TEXTBOOK_BALANCED,
	TEXTBOOK_SPLAY,
};

struct textbook {
	enum textbook_tree tree;
	struct textbook_node *node;
	struct textbook_entry *entry;
	uint32_t n_nodes, node_room, root, newest;
	uint64_t n_entries, mask;
	uint64_t count[LOCI_FINE_BINS];
	uint64_t cold;
};

int textbook_init(struct textbook *textbook, enum textbook_tree tree);
void textbook_fini(struct textbook *textbook);
int textbook_feed(struct textbook *textbook, const uint64_t *block, size_t n);

#endif
