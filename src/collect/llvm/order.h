/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a plan's pieces make up blocks of the stream, and where words need markers and room. */
#ifndef LOCI_COLLECT_LLVM_ORDER_H
#define LOCI_COLLECT_LLVM_ORDER_H

#include "collect/llvm/flow.h"
#include "collect/llvm/plan.h"

/* Puts pieces into blocks: one that always comes right after the last piece of a block, in the same
 * loop, continues it, unless words_max is 0. Then blocks, pieces and references stand in the order
 * of cc_abi.h. */
void loci_order_blocks(struct loci_plan *plan, const struct loci_flow *flow, uint32_t words_max);
/* Where a loop does nothing but repeat one block, its marker is appended before the loop; and
 * checks, so that there are never more words than room. For tracing copies, where all of a block's
 * pieces trace if one does. */
void loci_order_marks(struct loci_plan *plan, const struct loci_flow *flow);
/* The piece at the header whose marker is appended at the loop's entries; or LOCI_PLAN_NONE. */
uint32_t loci_order_hoisted(const struct loci_plan *plan, uint32_t header);

/* Whether a block is the target of a back edge at which copies are to cross. Its only predecessor
 * from behind, if so. */
bool loci_order_crosses(const struct loci_plan *plan, const struct loci_flow *flow, uint32_t target,
	uint32_t *ret_gate);

#endif
