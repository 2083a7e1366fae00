/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/events.h"

#include "collect/llvm/order.h"
#include "collect/llvm/rests.h"

#include <stdlib.h>

static void find_gates(struct loci_events *events)
{
	uint32_t gate;
	for (uint32_t i = 1; i < events->flow->n_blocks; i++)
		if (loci_order_crosses(events->plan, events->flow, i, &gate))
			events->is_gate[gate] = true;
}

void loci_events_init(
	struct loci_events *events, const struct loci_plan *plan, const struct loci_flow *flow)
{
	size_t n_blocks = flow->n_blocks;
	*events = (struct loci_events){ .plan = plan, .flow = flow };
	events->event = loci_zeroed(plan->n_sequence, sizeof(*events->event));
	events->first = loci_zeroed(n_blocks + 1, sizeof(*events->first));
	events->is_gate = loci_zeroed(n_blocks, sizeof(*events->is_gate));
	for (size_t i = 0; i < plan->n_pieces; i++) {
		events->event[plan->piece[i].sequence].piece = &plan->piece[i];
		events->first[plan->piece[i].home + 1]++;
	}
	for (size_t i = 0; i < plan->n_syncs; i++) {
		events->event[plan->sync[i].sequence].sync = &plan->sync[i];
		events->first[plan->sync[i].home + 1]++;
	}
	/* Basic blocks took their numbers of the sequence in their order. */
	for (size_t i = 0; i < n_blocks; i++)
		events->first[i + 1] += events->first[i];
	find_gates(events);
}

void loci_events_fini(struct loci_events *events)
{
	free(events->event);
	free(events->first);
	free(events->is_gate);
}

bool loci_events_is_last_place(const struct loci_events *events, uint32_t block)
{
	const struct loci_flow_block *at = &events->flow->block[block];
	bool is_last = false;
	if (at->n_successors > 1)
		for (uint32_t i = 0; i < at->n_successors; i++)
			is_last |= events->flow->block[at->successor[i]].n_predecessors > 1;
	return is_last;
}

bool loci_events_ends_apart(const struct loci_events *events, uint32_t block)
{
	for (size_t i = 0; i < events->plan->n_runs; i++)
		if (events->plan->run[i].exiting == block)
			return true;
	const struct loci_flow_block *at = &events->flow->block[block];
	for (uint32_t i = 0; i < at->n_successors; i++)
		if (loci_rests_leaves(events->plan, events->flow, block, at->successor[i]))
			return true;
	return false;
}

bool loci_events_is_hoisted_to(const struct loci_events *events, uint32_t block, bool checked)
{
	const struct loci_flow_block *at = &events->flow->block[block];
	for (uint32_t i = 0; i < at->n_successors; i++) {
		uint32_t hoisted = loci_order_hoisted(events->plan, at->successor[i]);
		if (at->successor[i] > block && hoisted != LOCI_PLAN_NONE &&
			(!checked || events->plan->piece[hoisted].is_hoist_checked))
			return true;
	}
	return false;
}
