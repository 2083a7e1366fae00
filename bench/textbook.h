/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The method of the textbooks, to compare the engine with: a hash map from blocks to the nodes of a
 * balanced tree ordered by the time of the last use, whose nodes know the size of their subtree.
 * The tree is a splay tree (Sleator and Tarjan 1985; Sugumar and Abraham 1993 chose it for this),
 * so that recent blocks are near the root; its nodes live in one array, the map is an
 * open-addressing one. Stack distances and their histogram only. */
#ifndef LOCI_BENCH_TEXTBOOK_H
#define LOCI_BENCH_TEXTBOOK_H

#include "hist/hist.h"

#include <stddef.h>

struct textbook {
	struct textbook_node *node;
	struct textbook_entry *entry;
	uint32_t n_nodes, node_room, root;
	uint64_t n_entries, mask;
	uint64_t count[LOCI_FINE_BINS];
	uint64_t cold;
};

int textbook_init(struct textbook *textbook);
void textbook_fini(struct textbook *textbook);
int textbook_feed(struct textbook *textbook, const uint64_t *block, size_t n);

#endif
