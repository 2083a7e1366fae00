/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two ways of instrumenting a function after its plan. */
#ifndef LOCI_COLLECT_LLVM_COPIES_H
#define LOCI_COLLECT_LLVM_COPIES_H

#include "collect/llvm/emit.h"
#include "collect/llvm/flow.h"

/* Makes the body a counting copy beside which there is a tracing copy. */
struct loci_increments; /* NULL: executions are not counted */
void loci_copies_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, struct loci_increments *increments);

/* Tests the budget in each piece and appends its words aside. */
void loci_pieces_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, struct loci_increments *increments);

/* Counts in one of the copies, and has the budget and the cursor in memory where control goes
 * elsewhere. */
void loci_counts_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, const struct loci_ir_copy *copy);

/* Appends the words of all pieces in the tracing copy. */
void loci_words_make(struct loci_emit *emit, const struct loci_plan *plan,
	const struct loci_flow *flow, const struct loci_ir_copy *copy);

/* The latter for a function that tests piece by piece, or of a single place: `store` before it. */
void loci_syncs_make(struct loci_emit *emit, const struct loci_plan *plan);
void loci_sync_make(struct loci_emit *emit, const struct loci_plan_sync *sync,
	const struct loci_ir_copy *copy, uint32_t count, bool store);

#endif
