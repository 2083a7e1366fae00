// SPDX-License-Identifier: GPL-2.0-or-later
/* What arrives is put into the lanes of its threads. What holds for all of them (definitions,
 * strings) goes out at once, before anything that may use it; where it replaces what held until
 * then, all that is held goes out before. UNDEFINE says nothing that a reader needs.
 *
 * Numbers. A marker that has one is put behind the number of its gate. Where words stand in the
 * order they executed in (LOCI_CAP_ORDER) it is its rank that counts, not what it says: so streams
 * whose SYNCs have numbers of the process are read as well, and nothing is waited for that was not
 * recorded. There, what follows a module's loading in any thread stays behind it. */
#include "stream/order_place.h"
#include "stream/sequence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MARK(kind) (1ull << (LOCI_MARK_##kind))

static bool is_of(unsigned kind, uint64_t kinds)
{
	return kind < 64 && kinds >> kind & 1;
}

/* Kinds that stand for references, apart from BLOCK. */
static bool refers(unsigned kind)
{
	return is_of(kind, MARK(RUN) | MARK(RESUME) | MARK(WIDE));
}

static bool makes_thread(const uint64_t *marker)
{
	return loci_word_kind(*marker) == LOCI_MARK_SYNC &&
		loci_word_payload(*marker) == LOCI_SYNC_THREAD_CREATE &&
		loci_word_n_raw(*marker) >= 2;
}

/* The gate and the number of a marker; 0: it has none. */
static int number_of(
	struct loci_ordered *order, const uint64_t *marker, uint32_t *ret_gate, uint64_t *ret)
{
	size_t n = 1 + loci_word_n_raw(*marker);
	int r = 0;

	*ret_gate = LOCI_GATE_PROCESS;
	if (loci_word_kind(*marker) != LOCI_MARK_SYNC) {
		*ret = loci_sequence_of(marker, n);
	} else {
		*ret = n > 2 ? marker[2] : 0;
		r = *ret ? loci_order_gate_of(order, marker[1], ret_gate) : 0;
	}
	if (r == 0 && *ret && order->numbers_arrive_in_order)
		*ret = ++order->gate[*ret_gate].arrived;
	return r;
}

/* Whether bytes of the string's last word are NUL. */
static bool is_whole_string(const uint64_t *marker)
{
	unsigned n_raw = loci_word_n_raw(*marker);

	return n_raw && memchr(&marker[n_raw], 0, sizeof(*marker));
}

/* Learns what all threads need. Returns 1 where something else is replaced, which is still used,
 * and learns nothing then. */
static int learn(struct loci_ordered *order, const uint64_t *marker, struct loci_err *err)
{
	uint64_t id = loci_word_payload(*marker);
	bool is_known;

	switch (loci_word_kind(*marker)) {
	case LOCI_MARK_DEFINE:
		is_known = loci_block_is_defined(loci_definitions_find(&order->defs, id));
		if (is_known && loci_order_holds(order) &&
			!loci_definitions_agree(&order->defs, *marker, marker + 1))
			return 1;
		order->redefines = is_known;
		return loci_order_learn(order, marker, err);
	case LOCI_MARK_DEFINE_MORE:
		if (order->redefines && loci_order_holds(order))
			return 1;
		return loci_order_learn(order, marker, err);
	case LOCI_MARK_STRING:
		if (loci_idmap_get(&order->strings, id) != LOCI_IDMAP_NONE)
			return loci_order_holds(order);
		if (is_whole_string(marker) && loci_idmap_put(&order->strings, id, 0) < 0)
			return loci_err_nomem(err);
		return 0;
	default:
		return 0;
	}
}

/* While there is one thread. */

/* 1: another has to come before. */
static int pass_number(struct loci_ordered *order, const uint64_t *marker)
{
	uint32_t gate;
	uint64_t number;
	int r = number_of(order, marker, &gate, &number);

	if (r == 0 && number > order->gate[gate].next)
		return 1;
	if (r == 0 && number == order->gate[gate].next)
		order->gate[gate].next++;
	return r;
}

/* Whether there is no other thread until now. */
static bool may_be_only(const struct loci_ordered *order, uint32_t thread)
{
	return !order->only_known || order->only == thread;
}

static void be_only(struct loci_ordered *order, uint32_t thread)
{
	order->only = thread;
	order->only_known = true;
}

/* 1: it cannot pass. */
static int pass_marker(struct loci_ordered *order, const uint64_t *marker, struct loci_err *err)
{
	unsigned kind = loci_word_kind(*marker);
	bool starts = kind == LOCI_MARK_THREAD_START;
	uint32_t thread = starts ? (uint32_t)loci_word_payload(*marker) : order->in_thread;
	int r;

	if (kind == LOCI_MARK_SWITCH) {
		order->in_thread = (uint32_t)loci_word_payload(*marker);
		return 0;
	}
	starts |= refers(kind);
	if (makes_thread(marker) || (starts && !may_be_only(order, thread)))
		return 1;
	r = learn(order, marker, err);
	if (r == 0)
		r = pass_number(order, marker);
	if (r != 0)
		return r == -ENOMEM ? loci_err_nomem(err) : r;
	if (starts)
		be_only(order, thread);
	if (is_of(kind, MARK(BLOCKED) | MARK(RUNNING)) && thread == order->only)
		order->only_blocked = kind == LOCI_MARK_BLOCKED;
	return 0;
}

static int cut_off(const uint64_t *marker, size_t n_words, struct loci_err *err)
{
	return loci_err_set(err, EBADMSG,
		"marker of kind 0x%02x with %u raw words is cut off after %zu",
		loci_word_kind(*marker), loci_word_n_raw(*marker), n_words - 1);
}

ssize_t loci_order_through(
	struct loci_ordered *order, const uint64_t *words, size_t n_words, struct loci_err *err)
{
	size_t at = 0;

	while (at < n_words) {
		size_t marker = loci_sequence_marker(words, n_words, at);
		int r = 0;

		if (marker > at) {
			if (!may_be_only(order, order->in_thread))
				break;
			be_only(order, order->in_thread);
		}
		at = marker;
		if (at == n_words)
			break;
		if (loci_word_n_raw(words[at]) >= n_words - at)
			return at ? (ssize_t)at : cut_off(words + at, n_words - at, err);
		r = pass_marker(order, words + at, err);
		if (r < 0)
			return r;
		if (r > 0)
			break;
		at += 1 + (size_t)loci_word_n_raw(words[at]);
	}
	return (ssize_t)at;
}

/* With several. */

static int put_gate(struct loci_ordered *order, struct loci_order_lane *lane, uint32_t gate,
	uint64_t number, bool only_waits)
{
	uint64_t words[3] = { loci_mark_word(LOCI_MARK_SWITCH, only_waits ? 2 : 1, gate), number };

	return loci_order_put_marker(order, &lane->queue, words);
}

/* The lane is about to get words. */
static int put_fence(struct loci_ordered *order, struct loci_order_lane *lane)
{
	uint64_t fence = order->gate[LOCI_GATE_MODULES].arrived;

	if (lane->fence == fence)
		return 0;
	lane->fence = fence;
	return put_gate(order, lane, LOCI_GATE_MODULES, fence + 1, true);
}

static int put_numbered(struct loci_ordered *order, struct loci_order_lane *lane,
	const uint64_t *marker, uint32_t gate, uint64_t number)
{
	int r = number ? put_gate(order, lane, gate, number, false) : 0;

	return r < 0 ? r : loci_order_put_marker(order, &lane->queue, marker);
}

/* A thread that has been made by another begins after that. So its BEGIN goes before its START,
 * which others may wait for: whether they do must not depend on what has arrived. */
struct loci_order_start {
	uint64_t number;
	uint32_t gate;
	uint64_t words[];
};

static int keep_start(
	struct loci_order_lane *lane, const uint64_t *marker, uint32_t gate, uint64_t number)
{
	size_t bytes = (1 + (size_t)loci_word_n_raw(*marker)) * sizeof(*marker);

	lane->start = malloc(sizeof(*lane->start) + bytes);
	if (!lane->start)
		return -ENOMEM;
	lane->start->number = number;
	lane->start->gate = gate;
	memcpy(lane->start->words, marker, bytes);
	return 0;
}

static int put_start(struct loci_ordered *order, struct loci_order_lane *lane)
{
	struct loci_order_start *start = lane->start;
	int r;

	if (!start)
		return 0;
	lane->start = NULL;
	r = put_numbered(order, lane, start->words, start->gate, start->number);
	free(start);
	return r;
}

/* It has words. */
static void come_back(struct loci_ordered *order, struct loci_order_lane *lane)
{
	if (lane->where == LANE_AWAY && lane->queue.n_words)
		loci_order_back(order, lane);
}

int loci_order_settle(struct loci_ordered *order)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < order->n_lanes; i++) {
		r = put_start(order, order->lane[i]);
		come_back(order, order->lane[i]);
	}
	return r;
}

static bool begins(const uint64_t *marker)
{
	return loci_word_kind(*marker) == LOCI_MARK_SYNC &&
		loci_word_payload(*marker) == LOCI_SYNC_THREAD_BEGIN;
}

static int put_refs(struct loci_ordered *order, const uint64_t *words, size_t n)
{
	struct loci_order_lane *lane = loci_order_lane(order, order->in_thread);
	int r;

	if (!lane)
		return -ENOMEM;
	lane->lives = true;
	r = put_fence(order, lane);
	if (r == 0)
		r = put_start(order, lane);
	if (r == 0)
		r = loci_order_put(order, &lane->queue, words, n);
	come_back(order, lane);
	return r;
}

/* The start and the end of a thread are its own words, whoever tells of them. */
static uint32_t owner(const struct loci_ordered *order, const uint64_t *marker)
{
	return is_of(loci_word_kind(*marker), MARK(THREAD_START) | MARK(THREAD_EXIT))
		? (uint32_t)loci_word_payload(*marker)
		: order->in_thread;
}

static int put_marker(struct loci_ordered *order, const uint64_t *marker)
{
	struct loci_order_lane *lane = loci_order_lane(order, owner(order, marker));
	unsigned kind = loci_word_kind(*marker);
	uint64_t number;
	uint32_t gate;
	int r;

	if (!lane)
		return -ENOMEM;
	order->told_time |= kind == LOCI_MARK_TIME;
	lane->lives |= refers(kind) || kind == LOCI_MARK_THREAD_START;
	r = put_fence(order, lane);
	if (r == 0 && !begins(marker))
		r = put_start(order, lane);
	if (r == 0)
		r = number_of(order, marker, &gate, &number);
	if (r == 0 && kind == LOCI_MARK_THREAD_START)
		return keep_start(lane, marker, gate, number);
	if (r == 0)
		r = put_numbered(order, lane, marker, gate, number);
	if (r == 0 && begins(marker))
		r = put_start(order, lane);
	if (r == 0 && kind == LOCI_MARK_MODULE_LOAD && order->numbers_arrive_in_order) {
		lane->fence = ++order->gate[LOCI_GATE_MODULES].arrived;
		r = put_gate(order, lane, LOCI_GATE_MODULES, lane->fence, false);
	}
	come_back(order, lane);
	return r;
}

/* 1: not before all that is held. */
static int sort_marker(struct loci_ordered *order, const uint64_t *marker, struct loci_err *err)
{
	unsigned kind = loci_word_kind(*marker);
	struct loci_order_queue *queue = NULL;
	int r;

	if (is_of(kind, MARK(SWITCH) | MARK(THREAD_START) | MARK(THREAD_EXIT)) &&
		loci_word_payload(*marker) > UINT32_MAX)
		return loci_err_set(err, EBADMSG, "thread id %" PRIu64 " has more than 32 bits",
			loci_word_payload(*marker));
	if (kind == LOCI_MARK_SWITCH) {
		order->in_thread = (uint32_t)loci_word_payload(*marker);
		return 0;
	}
	if (is_of(kind, MARK(PAD) | MARK(UNDEFINE)))
		return 0;
	r = learn(order, marker, err);
	if (r != 0)
		return r;
	if (kind == LOCI_MARK_END)
		queue = &order->at_end;
	else if (is_of(kind, MARK(DEFINE) | MARK(DEFINE_MORE) | MARK(STRING) | MARK(PROCESS)) ||
		(kind == LOCI_MARK_MODULE_LOAD &&
			!loci_sequence_of(marker, 1 + loci_word_n_raw(*marker))))
		queue = &order->at_once;
	r = queue ? loci_order_put_marker(order, queue, marker) : put_marker(order, marker);
	return r < 0 ? loci_err_nomem(err) : 0;
}

int loci_order_sort(struct loci_ordered *order, struct loci_err *err)
{
	while (order->in_at < order->n_in) {
		size_t at = order->in_at, marker = loci_sequence_marker(order->in, order->n_in, at);
		int r;

		if (marker > at && put_refs(order, order->in + at, marker - at) < 0)
			return loci_err_nomem(err);
		order->in_at = marker;
		if (marker == order->n_in)
			break;
		if (loci_word_n_raw(order->in[marker]) >= order->n_in - marker)
			return cut_off(order->in + marker, order->n_in - marker, err);
		r = sort_marker(order, order->in + marker, err);
		order->barrier = r > 0;
		if (r > 0)
			return loci_order_settle(order) < 0 ? loci_err_nomem(err) : 0;
		if (r < 0)
			return r;
		order->in_at += 1 + (size_t)loci_word_n_raw(order->in[marker]);
	}
	if (order->held > order->counts.most_held)
		order->counts.most_held = order->held;
	return 0;
}
