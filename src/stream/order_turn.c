// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns: of the lanes that are ready the one goes on that is in the earliest round, in the order of
 * threads: until the first end of a block's execution at which its round, of as many references as
 * a turn has, is over (by time stamps: the one that has got least far, for a turn). Its turn
 * also ends where it has to wait for a number. While it has no words, and may be expected to have
 * some, all wait for it. One that is alone goes on as long as it is. */
#include "stream/order_place.h"

#include <errno.h>
#include <string.h>

#define ROOM    (LOCI_RAW_MAX + 2) /* for a marker and SWITCH */
#define ENDLESS (INT64_MAX / 2)

static void put(struct loci_order_out *out, const uint64_t *words, size_t n)
{
	memcpy(out->words + out->n, words, n * sizeof(*words));
	out->n += n;
}

static void switch_to(
	struct loci_ordered *order, struct loci_order_out *out, const struct loci_order_lane *lane)
{
	if (order->out_thread != lane->thread)
		out->words[out->n++] = loci_mark_word(LOCI_MARK_SWITCH, 0, lane->thread);
	order->out_thread = lane->thread;
}

/* Markers and nothing else. False: there is no room for all. */
static bool give_markers(
	struct loci_ordered *order, struct loci_order_queue *queue, struct loci_order_out *out)
{
	while (queue->n_words) {
		size_t n;
		const uint64_t *words = loci_order_front(queue, &n);

		n = 1 + loci_word_n_raw(*words);
		if (out->cap - out->n < n)
			return false;
		put(out, words, n);
		loci_order_used(order, queue, n);
	}
	return true;
}

static void advance(struct loci_ordered *order, struct loci_order_lane *lane, int64_t refs)
{
	lane->left -= refs;
	if (order->order == LOCI_ORDER_TIME)
		loci_order_pace_given(order, lane, (uint64_t)refs);
	else
		lane->clock += (uint64_t)refs;
	loci_order_reached(order, lane);
}

static void end_turn(struct loci_ordered *order, struct loci_order_lane *lane)
{
	order->turn = NULL;
	if (lane->where == LANE_TURN)
		loci_order_ready(order, lane);
}

/* As much of a RUN as the turn has room for; the rest begins where that ends. */
static void give_run(
	struct loci_ordered *order, struct loci_order_lane *lane, struct loci_order_out *out)
{
	uint64_t *run = lane->queue.first->word + lane->queue.at, *piece = out->words + out->n;
	size_t n = 1 + (size_t)loci_word_n_raw(*run);
	uint64_t per = loci_order_run_refs(run);
	uint64_t times = ((uint64_t)lane->left + per - 1) / per;

	put(out, run, n);
	if (run[1] <= times) {
		advance(order, lane, (int64_t)(run[1] * per));
		loci_order_used(order, &lane->queue, n);
		return;
	}
	piece[1] = times;
	run[1] -= times;
	for (size_t i = 3; i + 1 < n; i += 2)
		run[i] += times * run[i + 1];
	advance(order, lane, (int64_t)(times * per));
}

/* A thread that was made is waited for. */
static int expect(struct loci_ordered *order, uint64_t thread)
{
	struct loci_order_lane *lane;

	if (thread > UINT32_MAX)
		return 0;
	lane = loci_order_lane(order, (uint32_t)thread);
	if (!lane)
		return -ENOMEM;
	lane->lives = lane->expected = true;
	if (lane->where == LANE_AWAY)
		loci_order_wake(order, lane);
	return 0;
}

/* What a marker that was given means for its lane. */
static int heed(struct loci_ordered *order, struct loci_order_lane *lane, const uint64_t *marker)
{
	switch (loci_word_kind(*marker)) {
	case LOCI_MARK_BLOCKED:
	case LOCI_MARK_RUNNING:
		lane->blocked = loci_word_kind(*marker) == LOCI_MARK_BLOCKED;
		return 0;
	case LOCI_MARK_THREAD_START:
		lane->lives = !order->samples;
		lane->expected = false;
		return 0;
	case LOCI_MARK_WINDOW_BEGIN:
	case LOCI_MARK_WINDOW_END:
		if (order->samples)
			lane->lives = loci_word_kind(*marker) == LOCI_MARK_WINDOW_BEGIN;
		return 0;
	case LOCI_MARK_THREAD_EXIT:
		lane->lives = lane->expected;
		lane->blocked = false;
		return 0;
	case LOCI_MARK_SYNC:
		if (loci_word_n_raw(*marker) < 2)
			return 0;
		if (marker[2])
			loci_order_synced(order, lane, loci_word_payload(*marker));
		return loci_word_payload(*marker) == LOCI_SYNC_THREAD_CREATE
			? expect(order, marker[1])
			: 0;
	default:
		return 0;
	}
}

static bool starts_block(uint64_t word)
{
	unsigned kind = loci_word_kind(word);

	return loci_word_is_marker(word) &&
		(kind == LOCI_MARK_BLOCK || kind == LOCI_MARK_RUN || kind == LOCI_MARK_RESUME);
}

/* The marker at the lane's front. */
static int step(
	struct loci_ordered *order, struct loci_order_lane *lane, struct loci_order_out *out)
{
	size_t n;
	const uint64_t *marker = loci_order_front(&lane->queue, &n);
	unsigned kind = loci_word_kind(*marker);
	int64_t refs;
	int r;

	n = 1 + loci_word_n_raw(*marker);
	if (kind == LOCI_MARK_SWITCH) {
		lane->passes = loci_order_pass(order, lane, (uint32_t)loci_word_payload(*marker),
			marker[1], n > LOCI_ORDER_GATED);
		if (lane->passes)
			loci_order_used(order, &lane->queue, n);
		else
			end_turn(order, lane);
		return 0;
	}
	switch_to(order, out, lane);
	refs = loci_order_count_marker(order, &lane->place, marker);
	if (refs < 0)
		return -ENOMEM;
	if (kind == LOCI_MARK_RUN && n > 2) {
		give_run(order, lane, out);
		return 0;
	}
	put(out, marker, n);
	advance(order, lane, refs);
	if (order->order == LOCI_ORDER_TIME)
		loci_order_pace_marker(order, lane, marker);
	r = heed(order, lane, marker);
	loci_order_used(order, &lane->queue, n);
	return r;
}

/* 1: there is no more room. */
static int walk(
	struct loci_ordered *order, struct loci_order_lane *lane, struct loci_order_out *out)
{
	int r = 0;

	while (r == 0 && order->turn == lane && lane->queue.n_words) {
		size_t room = out->cap - out->n, n, used;
		const uint64_t *words = loci_order_front(&lane->queue, &n);
		int64_t left = lane->left;

		if (room < ROOM)
			return 1;
		if (lane->left <= 0 && !lane->passes &&
			(loci_order_is_between(&lane->place) || starts_block(*words))) {
			end_turn(order, lane);
			break;
		}
		if (n >= room)
			n = room - 1;
		lane->passes = false;
		used = loci_order_count(order, &lane->place, words, n, &left);
		if (used) {
			switch_to(order, out, lane);
			put(out, words, used);
			advance(order, lane, lane->left - left);
			loci_order_used(order, &lane->queue, used);
		} else {
			r = step(order, lane, out);
		}
	}
	return r;
}

/* Nothing else will come before this is out. */
static bool is_last(const struct loci_ordered *order)
{
	return order->ended || order->barrier;
}

static bool is_full(const struct loci_ordered *order)
{
	return order->held >= order->held_max ||
		order->n_chunks * LOCI_ORDER_CHUNK >= 2 * order->held_max;
}

static void begin_turn(struct loci_ordered *order, struct loci_order_lane *lane)
{
	order->turn = lane;
	lane->where = LANE_TURN;
	lane->left = order->n_ready ? loci_order_turn_of(order, lane) : ENDLESS;
	loci_order_reached(order, lane);
}

/* A lane that is empty is waited for, unless it is blocked and others are far enough ahead. */
static bool is_awaited(const struct loci_ordered *order, const struct loci_order_lane *lane)
{
	return lane->lives && !(lane->blocked && order->held >= order->ahead);
}

/* Of those that are ready; NULL: there is none, or (by time stamps) it has none yet. */
static struct loci_order_lane *first_to_go(struct loci_ordered *order, bool goes_on)
{
	struct loci_order_lane *lane;

	if (order->order == LOCI_ORDER_TIME && goes_on && !order->told_time)
		loci_order_forget_time(order);
	while ((lane = loci_order_first_ready(order)) && order->order == LOCI_ORDER_TIME) {
		uint64_t clock = lane->clock;
		bool known = loci_order_pace(order, lane);

		if (lane->clock == clock && (known || goes_on || !is_awaited(order, lane)))
			break;
		lane->where = LANE_TURN;
		loci_order_ready(order, lane);
		if (lane->clock == clock)
			return NULL;
	}
	return lane;
}

/* The lane that has something to give now; NULL: more has to arrive. */
static struct loci_order_lane *choose(struct loci_ordered *order)
{
	bool goes_on = is_last(order) || is_full(order);

	if (order->n_blocked && !goes_on && order->held < order->ahead)
		return NULL;
	for (;;) {
		struct loci_order_lane *lane = order->turn;

		if (!lane) {
			lane = first_to_go(order, goes_on);
			if (lane)
				begin_turn(order, lane);
			else if (order->n_ready)
				return NULL;
			else if (!goes_on || !loci_order_give_up(order))
				return NULL;
			continue;
		}
		if (lane->queue.n_words)
			return lane;
		if (!goes_on && is_awaited(order, lane))
			return NULL;
		order->counts.went_on += lane->lives && !lane->blocked && !is_last(order);
		order->turn = NULL;
		loci_order_away(order, lane);
	}
}

int loci_order_turns(struct loci_ordered *order, struct loci_order_out *out, struct loci_err *err)
{
	for (;;) {
		struct loci_order_lane *lane;
		int r;

		if (!give_markers(order, &order->at_once, out))
			return 0;
		lane = choose(order);
		if (!lane)
			return 1;
		if (order->order == LOCI_ORDER_TIME)
			loci_order_pace(order, lane); /* the walk ahead stays ahead */
		r = walk(order, lane, out);
		if (r != 0)
			return r < 0 ? loci_err_nomem(err) : 0;
	}
}
