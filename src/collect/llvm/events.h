/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens in each basic block in turn: pieces, and places where control goes elsewhere. For
 * those who let something wait until it must be done. */
#ifndef LOCI_COLLECT_LLVM_EVENTS_H
#define LOCI_COLLECT_LLVM_EVENTS_H

#include "collect/llvm/flow.h"
#include "collect/llvm/plan.h"

struct loci_event {
	const struct loci_plan_piece *piece; /* or .. */
	const struct loci_plan_sync *sync;
};

struct loci_events {
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	struct loci_event *event; /* by sequence */
	uint32_t *first;          /* event of each basic block; first[i + 1] ends it */
	bool *is_gate;            /* of basic blocks: a loop goes round here, and may be left */
};

void loci_events_init(
	struct loci_events *events, const struct loci_plan *plan, const struct loci_flow *flow);
void loci_events_fini(struct loci_events *events);

/* Whether there is no other place for what must be done on a way from the basic block to one where
 * ways join. */
bool loci_events_is_last_place(const struct loci_events *events, uint32_t block);
/* Whether a loop that may be told by a run, or has a copy for itself, is left here: not all ways on
 * came from here. */
bool loci_events_ends_apart(const struct loci_events *events, uint32_t block);
/* Whether the tracing copy appends a marker where the basic block ends; `checked`: after it made
 * room for it. */
bool loci_events_is_hoisted_to(const struct loci_events *events, uint32_t block, bool checked);

#endif
