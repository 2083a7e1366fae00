// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/order_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A second thread has turned up: the words are the first that do not pass. */
static int begin(
	struct loci_ordered *order, const uint64_t *words, size_t n_words, struct loci_err *err)
{
	size_t cap = n_words > LOCI_ORDER_READ ? n_words : LOCI_ORDER_READ;
	struct loci_order_lane *lane;

	order->in = malloc(cap * sizeof(*order->in));
	if (!order->in)
		return loci_err_nomem(err);
	memcpy(order->in, words, n_words * sizeof(*words));
	order->n_in = n_words;
	order->through = false;
	order->out_thread = order->in_thread;
	if (!order->only_known)
		return 0;
	lane = loci_order_lane(order, order->only);
	if (!lane)
		return loci_err_nomem(err);
	lane->lives = true;
	loci_order_ready(order, lane);
	lane->blocked = order->only_blocked;
	return 0;
}

static ssize_t read_source(
	struct loci_ordered *order, uint64_t *words, size_t cap, struct loci_err *err)
{
	ssize_t n = order->from->ops->read(order->from, words, cap, err);

	memcpy(order->source.note, order->from->note, sizeof(order->source.note));
	order->source.incomplete = order->from->incomplete;
	return n;
}

/* Words that need no order. 0: there are none. */
static ssize_t read_through(
	struct loci_ordered *order, uint64_t *words, size_t cap, struct loci_err *err)
{
	ssize_t n = read_source(order, words, cap, err), passed;
	int r;

	if (n <= 0) {
		order->ended = n != -EINTR;
		return n;
	}
	passed = loci_order_through(order, words, (size_t)n, err);
	if (passed < 0 || passed == n)
		return passed;
	r = begin(order, words + passed, (size_t)(n - passed), err);
	return r < 0 ? r : passed;
}

static void end(struct loci_ordered *order, int why, const struct loci_err *err)
{
	order->ended = true;
	order->failed = why;
	order->in_at = order->n_in = 0;
	order->failure = *err;
	if (loci_order_settle(order) < 0 && !order->failed)
		order->failed = loci_err_nomem(&order->failure);
}

/* More words for the lanes. -EINTR: not now. */
static int fetch(struct loci_ordered *order)
{
	struct loci_err err = { "" };
	ssize_t n = read_source(order, order->in, LOCI_ORDER_READ, &err);

	if (n == -EINTR)
		return -EINTR;
	order->in_at = 0;
	order->n_in = n > 0 ? (size_t)n : 0;
	if (n <= 0)
		end(order, (int)n, &err);
	return 0;
}

/* Once all else is out. */
static ssize_t finish(struct loci_ordered *order, struct loci_order_out *out, struct loci_err *err)
{
	while (order->at_end.n_words && out->cap - out->n > LOCI_RAW_MAX) {
		size_t n;
		const uint64_t *words = loci_order_front(&order->at_end, &n);

		n = 1 + loci_word_n_raw(*words);
		memcpy(out->words + out->n, words, n * sizeof(*words));
		out->n += n;
		loci_order_used(order, &order->at_end, n);
	}
	if (out->n)
		return (ssize_t)out->n;
	if (!order->source.note[0] && order->lacks_time)
		snprintf(order->source.note, sizeof(order->source.note),
			"there are no time stamps: threads are ordered by references");
	else if (!order->source.note[0] && order->counts.given_up)
		snprintf(order->source.note, sizeof(order->source.note),
			"%" PRIu64 " events that others waited for were not recorded: the order of "
			"threads is right but for those",
			order->counts.given_up);
	if (order->failed && err)
		*err = order->failure;
	return order->failed;
}

static ssize_t order_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct loci_ordered *order = (struct loci_ordered *)source;
	struct loci_order_out out = { words, 0, cap };

	if (order->order == LOCI_ORDER_ARRIVAL)
		return read_source(order, words, cap, err);
	while (order->through) {
		ssize_t n = read_through(order, words, cap, err);

		if (n != 0 || order->ended)
			return n;
	}
	for (;;) {
		struct loci_err failure = { "" };
		int r = order->barrier ? 0 : loci_order_sort(order, &failure);

		if (r < 0)
			end(order, r, &failure);
		r = loci_order_turns(order, &out, err);
		if (r < 0)
			return r;
		if (out.n)
			return (ssize_t)out.n;
		if (order->barrier)
			order->barrier = false;
		else if (order->ended)
			return finish(order, &out, err);
		else if (order->in_at == order->n_in && fetch(order) < 0)
			return -EINTR;
	}
}

static void order_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct loci_ordered *order = (const struct loci_ordered *)source;

	order->from->ops->progress(order->from, ret_done, ret_total);
}

static void order_close(struct loci_source *source)
{
	struct loci_ordered *order = (struct loci_ordered *)source;

	loci_source_close(order->from);
	loci_order_lanes_fini(order);
	loci_definitions_fini(&order->defs);
	loci_idmap_fini(&order->strings);
	loci_idmap_fini(&order->gate_ids);
	free(order->gate);
	free(order->accesses);
	free(order->in);
	free(order);
}

static const struct loci_source_ops order_ops = {
	.read = order_read,
	.progress = order_progress,
	.close = order_close,
};

int loci_order_new_take(struct loci_source *source, const struct loci_order_options *options,
	struct loci_source **ret, struct loci_err *err)
{
	struct loci_ordered *order = calloc(1, sizeof(*order));
	struct loci_order_gate *gate = calloc(LOCI_GATES, sizeof(*gate));

	if (!order || !gate) {
		free(order);
		free(gate);
		loci_source_close(source);
		return loci_err_nomem(err);
	}
	order->source.ops = &order_ops;
	order->source.info = source->info;
	order->from = source;
	order->order = options->order;
	order->turn_refs = options->turn_refs ? options->turn_refs : LOCI_ORDER_TURN;
	order->held_max = options->held_words                  ? options->held_words
		: source->info.capabilities & LOCI_CAP_SAMPLES ? LOCI_ORDER_HELD_SAMPLES
							       : LOCI_ORDER_HELD;
	order->ahead = order->held_max / LOCI_ORDER_AHEAD;
	order->numbers_arrive_in_order = source->info.capabilities & LOCI_CAP_ORDER;
	order->samples = source->info.capabilities & LOCI_CAP_SAMPLES;
	order->through = true;
	loci_definitions_init(&order->defs);
	for (unsigned i = 0; i < LOCI_GATES; i++)
		gate[i].next = 1;
	order->gate = gate;
	order->n_gates = order->gates_cap = LOCI_GATES;
	*ret = &order->source;
	return 0;
}

void loci_order_counts(const struct loci_source *order, struct loci_order_counts *ret)
{
	*ret = ((const struct loci_ordered *)order)->counts;
}
