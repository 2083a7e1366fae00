/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of loci_executions_init(): the tree, and what its chords say of nodes. */
#ifndef LOCI_COLLECT_LLVM_SPANNING_H
#define LOCI_COLLECT_LLVM_SPANNING_H

#include "collect/llvm/executions.h"
#include "collect/runtime/cc_abi.h"

/* How often nodes execute, as sums. */
struct loci_sums {
	struct loci_cc_term *term; /* of nodes in place of blocks */
	size_t n, limit;
};

void loci_sums_add(struct loci_sums *sums, uint32_t node, uint32_t counter, bool minus);
/* Gives counters to the edges beside the heaviest spanning tree. Sums that grow beyond the limit
 * are not complete. */
void loci_spanning_solve(struct loci_executions *executions, struct loci_sums *sums);

#endif
