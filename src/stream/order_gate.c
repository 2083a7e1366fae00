// SPDX-License-Identifier: GPL-2.0-or-later
/* Gates: each lets numbers pass one after the other. There is one for the numbers of the process,
 * one for modules, and one for each object of SYNC. */
#include "stream/order_state.h"

#include <errno.h>
#include <stdlib.h>

int loci_order_gate_of(struct loci_ordered *order, uint64_t object, uint32_t *ret)
{
	*ret = loci_idmap_get(&order->gate_ids, object);
	if (*ret != LOCI_IDMAP_NONE)
		return 0;
	if (order->n_gates == order->gates_cap) {
		size_t cap = 2 * order->gates_cap;
		void *larger = realloc(order->gate, cap * sizeof(*order->gate));

		if (!larger)
			return -ENOMEM;
		order->gate = larger;
		order->gates_cap = cap;
	}
	*ret = (uint32_t)order->n_gates;
	if (loci_idmap_put(&order->gate_ids, object, *ret) < 0)
		return -ENOMEM;
	order->gate[order->n_gates++] = (struct loci_order_gate){ .next = 1 };
	return 0;
}

static void park(
	struct loci_ordered *order, struct loci_order_lane *lane, uint32_t gate, uint64_t number)
{
	struct loci_order_lane **at = &order->gate[gate].parked;

	while (*at && (*at)->number <= number)
		at = &(*at)->next;
	lane->next = *at;
	lane->gate = gate;
	lane->number = number;
	lane->where = LANE_PARKED;
	*at = lane;
}

/* Who is to go before goes before, whoever had the number first. */
void loci_order_wake(struct loci_ordered *order, struct loci_order_lane *lane)
{
	loci_order_restart(order);
	loci_order_ready(order, lane);
	if (order->turn && order->order == LOCI_ORDER_REFS &&
		loci_order_goes_first(order, lane, order->turn))
		order->turn->left = 0;
}

static void release(struct loci_ordered *order, struct loci_order_gate *gate)
{
	while (gate->parked && gate->parked->number <= gate->next) {
		struct loci_order_lane *lane = gate->parked;

		gate->parked = lane->next;
		loci_order_wake(order, lane);
	}
}

void loci_order_back(struct loci_ordered *order, struct loci_order_lane *lane)
{
	size_t n;
	const uint64_t *front = loci_order_front(&lane->queue, &n);
	uint32_t gate = (uint32_t)loci_word_payload(*front);

	if (loci_word_is_marker(*front) && loci_word_kind(*front) == LOCI_MARK_SWITCH &&
		front[1] > order->gate[gate].next) {
		loci_order_return(order, lane);
		park(order, lane, gate, front[1]);
		lane->returns = true;
	} else {
		loci_order_ready(order, lane);
	}
}

bool loci_order_pass(struct loci_ordered *order, struct loci_order_lane *lane, uint32_t gate_number,
	uint64_t number, bool only_waits)
{
	struct loci_order_gate *gate = &order->gate[gate_number];

	if (number > gate->next) {
		park(order, lane, gate_number, number);
		return false;
	}
	lane->gate = gate_number;
	if (number == gate->next && !only_waits) {
		gate->next++;
		release(order, gate);
	}
	return true;
}

/* By references: where a lane goes on that others let go. Numbers say who came first, not how far
 * anybody was: of threads that take a lock, begin a region or allocate at the same place chance
 * decides which is first, and none of them is to be behind the others from there on for that. So
 * it is where those are that it had to wait for, never where one is that passed before it. */
void loci_order_synced(struct loci_ordered *order, struct loci_order_lane *lane, uint64_t kind)
{
	struct loci_order_gate *gate = &order->gate[lane->gate];
	uint64_t least = gate->released; /* that it may be at */

	if (order->order != LOCI_ORDER_REFS)
		return;
	switch (kind) {
	case LOCI_SYNC_RELEASE:
	case LOCI_SYNC_BARRIER_ARRIVE:
	case LOCI_SYNC_THREAD_CREATE:
	case LOCI_SYNC_THREAD_FINISH:
		if (gate->released < lane->clock)
			gate->released = lane->clock;
		return;
	case LOCI_SYNC_ACQUIRE:
		/* a lock that is held for less than a turn holds nobody up */
		least -= least < order->turn_refs ? least : order->turn_refs;
		break;
	case LOCI_SYNC_BARRIER_LEAVE:
		/* all begin a round: where the last one was within its own is chance, too */
		least += order->turn_refs - 1;
		least -= (least - order->origin) % order->turn_refs;
		break;
	default:
		break;
	}
	if (lane->clock >= least)
		return;
	lane->clock = least;
	lane->left = 0;
}

/* Of those that wait the one goes on that has got least far. */
bool loci_order_give_up(struct loci_ordered *order)
{
	struct loci_order_lane *least = NULL;
	struct loci_order_gate *gate;

	for (size_t i = 0; i < order->n_lanes; i++) {
		struct loci_order_lane *lane = order->lane[i];

		if (lane->where == LANE_PARKED &&
			(!least || lane->clock < least->clock ||
				(lane->clock == least->clock && lane->thread < least->thread)))
			least = lane;
	}
	if (!least)
		return false;
	gate = &order->gate[least->gate];
	order->counts.given_up += gate->parked->number - gate->next;
	gate->next = gate->parked->number;
	release(order, gate);
	return true;
}
