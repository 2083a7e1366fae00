// SPDX-License-Identifier: GPL-2.0-or-later
/* Lanes: words in small chunks, which all lanes take from and give back to one store, so that what
 * one thread has ceased to need serves another; and the heap of those that are ready. */
#include "stream/order_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct loci_order_chunk *more(struct loci_ordered *order, struct loci_order_queue *queue)
{
	struct loci_order_chunk *chunk = order->spare;

	if (chunk)
		order->spare = chunk->next;
	else
		chunk = malloc(sizeof(*chunk));
	if (!chunk)
		return NULL;
	chunk->next = NULL;
	chunk->n = 0;
	if (queue->last)
		queue->last->next = chunk;
	else
		queue->first = chunk;
	queue->last = chunk;
	order->n_chunks++;
	return chunk;
}

static void drop_first(struct loci_ordered *order, struct loci_order_queue *queue)
{
	struct loci_order_chunk *chunk = queue->first;

	queue->first = chunk->next;
	queue->at = 0;
	if (!queue->first)
		queue->last = NULL;
	if (queue->ahead == chunk)
		queue->ahead = NULL;
	chunk->next = order->spare;
	order->spare = chunk;
	order->n_chunks--;
}

int loci_order_put(
	struct loci_ordered *order, struct loci_order_queue *queue, const uint64_t *words, size_t n)
{
	struct loci_order_chunk *chunk = queue->last;

	order->held += n;
	queue->n_words += n;
	while (n) {
		size_t k;

		if ((!chunk || chunk->n == LOCI_ORDER_CHUNK) && !(chunk = more(order, queue)))
			return -ENOMEM;
		k = LOCI_ORDER_CHUNK - chunk->n < n ? LOCI_ORDER_CHUNK - chunk->n : n;
		memcpy(chunk->word + chunk->n, words, k * sizeof(*words));
		chunk->n += k;
		words += k;
		n -= k;
	}
	return 0;
}

int loci_order_put_marker(
	struct loci_ordered *order, struct loci_order_queue *queue, const uint64_t *words)
{
	struct loci_order_chunk *chunk = queue->last;
	size_t n = 1 + loci_word_n_raw(*words);

	if (chunk && LOCI_ORDER_CHUNK - chunk->n < n && !more(order, queue))
		return -ENOMEM;
	return loci_order_put(order, queue, words, n);
}

void loci_order_used(struct loci_ordered *order, struct loci_order_queue *queue, size_t n_words)
{
	order->held -= n_words;
	queue->n_words -= n_words;
	queue->at += n_words;
	while (queue->first && queue->at == queue->first->n)
		drop_first(order, queue);
}

void loci_order_queue_fini(struct loci_ordered *order, struct loci_order_queue *queue)
{
	while (queue->first)
		drop_first(order, queue);
}

static int reserve(struct loci_ordered *order)
{
	size_t cap = order->lanes_cap ? 2 * order->lanes_cap : 8;
	void *lanes, *heap;

	if (order->n_lanes < order->lanes_cap)
		return 0;
	lanes = realloc(order->lane, cap * sizeof(*order->lane));
	if (!lanes)
		return -ENOMEM;
	order->lane = lanes;
	heap = realloc(order->heap, cap * sizeof(*order->heap));
	if (!heap)
		return -ENOMEM;
	order->heap = heap;
	order->lanes_cap = cap;
	return 0;
}

struct loci_order_lane *loci_order_lane(struct loci_ordered *order, uint32_t thread)
{
	uint32_t i = loci_idmap_get(&order->lane_ids, thread);
	struct loci_order_lane *lane;

	if (i != LOCI_IDMAP_NONE)
		return order->lane[i];
	if (reserve(order) < 0)
		return NULL;
	lane = calloc(1, sizeof(*lane));
	if (!lane || loci_idmap_put(&order->lane_ids, thread, (uint32_t)order->n_lanes) < 0) {
		free(lane);
		return NULL;
	}
	lane->thread = thread;
	lane->pace.ns_per_ref = 1;
	order->lane[order->n_lanes++] = lane;
	return lane;
}

void loci_order_lanes_fini(struct loci_ordered *order)
{
	for (size_t i = 0; i < order->n_lanes; i++) {
		struct loci_order_lane *lane = order->lane[i];

		loci_order_queue_fini(order, &lane->queue);
		loci_threads_fini(&lane->place.cursors);
		loci_threads_fini(&lane->pace.place.cursors);
		free(lane->start);
		free(lane);
	}
	loci_order_queue_fini(order, &order->at_once);
	loci_order_queue_fini(order, &order->at_end);
	while (order->spare) {
		struct loci_order_chunk *chunk = order->spare;

		order->spare = chunk->next;
		free(chunk);
	}
	free(order->lane);
	free(order->heap);
	loci_idmap_fini(&order->lane_ids);
}

bool loci_order_goes_first(const struct loci_ordered *order, const struct loci_order_lane *a,
	const struct loci_order_lane *b)
{
	uint64_t of_a = loci_order_round(order, a), of_b = loci_order_round(order, b);

	return of_a != of_b ? of_a < of_b : a->thread < b->thread;
}

static void push(struct loci_ordered *order, struct loci_order_lane *lane)
{
	size_t i = order->n_ready++;

	while (i && loci_order_goes_first(order, lane, order->heap[(i - 1) / 2])) {
		order->heap[i] = order->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	order->heap[i] = lane;
	lane->where = LANE_READY;
}

struct loci_order_lane *loci_order_first_ready(struct loci_ordered *order)
{
	struct loci_order_lane *first, *last;
	size_t i = 0, n;

	if (!order->n_ready)
		return NULL;
	first = order->heap[0];
	n = --order->n_ready;
	last = order->heap[n];
	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < n &&
			loci_order_goes_first(order, order->heap[child + 1], order->heap[child]))
			child++;
		if (child >= n || !loci_order_goes_first(order, order->heap[child], last))
			break;
		order->heap[i] = order->heap[child];
		i = child;
	}
	order->heap[i] = last;
	return first;
}

void loci_order_return(struct loci_ordered *order, const struct loci_order_lane *lane)
{
	order->n_blocked -= lane->where == LANE_AWAY && lane->blocked;
}

void loci_order_ready(struct loci_ordered *order, struct loci_order_lane *lane)
{
	if (lane->where == LANE_READY)
		return;
	loci_order_return(order, lane);
	/* from now on there is somebody to take turns with */
	if (order->turn && order->turn != lane && order->turn->left > (int64_t)order->turn_refs)
		loci_order_restart(order);
	if (order->order == LOCI_ORDER_TIME)
		loci_order_pace(order, lane);
	else if ((lane->where == LANE_AWAY || lane->returns) && lane->clock < order->now)
		lane->clock = order->now;
	lane->returns = false;
	push(order, lane);
}

void loci_order_forget_time(struct loci_ordered *order)
{
	size_t n = order->n_ready;

	order->order = LOCI_ORDER_REFS;
	order->lacks_time = true;
	order->now = order->origin = 0;
	for (size_t i = 0; i < order->n_lanes; i++)
		order->lane[i]->clock = 0;
	order->n_ready = 0;
	for (size_t i = 0; i < n; i++)
		push(order, order->heap[i]);
}

void loci_order_away(struct loci_ordered *order, struct loci_order_lane *lane)
{
	lane->where = LANE_AWAY;
	order->n_blocked += lane->blocked;
}
