// SPDX-License-Identifier: GPL-2.0-or-later
/* How many references words stand for. Frames and callers are none. What runs without a reference
 * counts as one, lest a thread that makes none would stand still; so does each block of a range. */
#include "stream/order_place.h"

#include <errno.h>
#include <stdlib.h>

#define RANGE_BYTES    64
#define RANGE_REFS_MAX (1u << 20) /* no sensible range has more */
#define RUN_HEAD       2

int loci_order_learn(struct loci_ordered *order, const uint64_t *marker, struct loci_err *err)
{
	struct loci_definitions *defs = &order->defs;
	int r = loci_definitions_apply(defs, *marker, marker + 1, err);

	if (r <= 0)
		return r == -ENOMEM ? r : 0; /* who decodes it finds what is wrong with it */
	if (defs->n_refs >= order->accesses_cap) {
		size_t cap = 2 * (defs->n_refs + 64);
		void *larger = realloc(order->accesses, cap * sizeof(*order->accesses));

		if (!larger)
			return loci_err_nomem(err);
		order->accesses = larger;
		order->accesses_cap = cap;
		if (!order->n_accesses)
			order->accesses[0] = 0;
	}
	for (; order->n_accesses < defs->n_refs; order->n_accesses++) {
		uint8_t op = defs->kind[order->n_accesses].op;

		order->accesses[order->n_accesses + 1] = order->accesses[order->n_accesses] +
			(op != LOCI_OP_FRAME && op != LOCI_OP_CALLER);
	}
	return 0;
}

/* The cursor has changed. */
static void look(const struct loci_ordered *order, struct loci_order_place *place)
{
	const struct loci_cursor *cursor = &place->cursors.cursor;
	const struct loci_block *block;

	place->plain = false;
	if (!cursor->current)
		return;
	block = loci_definitions_find(&order->defs, cursor->block);
	place->plain = block->n_words == block->n_refs && block->n_refs;
}

static void start(const struct loci_ordered *order, struct loci_order_place *place, uint64_t id)
{
	const struct loci_block *block = loci_definitions_find(&order->defs, id);

	place->cursors.cursor = (struct loci_cursor){ 0 };
	if (loci_block_is_defined(block))
		loci_cursor_start(&place->cursors.cursor, block, id);
	place->plain = block->n_words == block->n_refs && block->n_refs;
}

/* An address or length of a block that has ranges, or where none is known. */
static int64_t value(const struct loci_ordered *order, struct loci_cursor *cursor, uint64_t word)
{
	uint32_t at = cursor->next;
	uint64_t blocks;

	if (cursor->first == cursor->last)
		return 1;
	if (order->defs.kind[at].n_words == 2 && !cursor->half) {
		cursor->half = true;
		return 0;
	}
	if (++cursor->next == cursor->last)
		cursor->next = cursor->first;
	if (!cursor->half)
		return order->accesses[at + 1] - order->accesses[at];
	cursor->half = false;
	blocks = word / RANGE_BYTES + (word % RANGE_BYTES != 0 || !word);
	return blocks < RANGE_REFS_MAX ? (int64_t)blocks : RANGE_REFS_MAX;
}

/* How many words are addresses, of the first n. */
static size_t addresses(const uint64_t *words, size_t n)
{
	size_t k = 0;

	for (; k + 8 <= n; k += 8) {
		uint64_t any = 0;

		for (unsigned i = 0; i < 8; i++)
			any |= words[k + i];
		if (loci_word_is_marker(any))
			break;
	}
	while (k < n && !loci_word_is_marker(words[k]))
		k++;
	return k;
}

/* Addresses of a plain block, which are nearly all there is: the rest of an execution, or so many
 * of them as are left. */
static size_t plain(const struct loci_ordered *order, struct loci_cursor *cursor,
	const uint64_t *words, size_t n, int64_t *left)
{
	const uint32_t *before = order->accesses;
	uint32_t size = cursor->last - cursor->first, rest = cursor->last - cursor->next;
	size_t k = addresses(words, n < rest ? n : rest), more;
	uint32_t whole;

	*left -= before[cursor->next + k] - before[cursor->next];
	if (k < rest) {
		cursor->next += (uint32_t)k;
		return k;
	}
	cursor->next = cursor->first;
	if (*left <= 0 || k == n || loci_word_is_marker(words[k]))
		return k;
	/* it begins again */
	whole = before[cursor->last] - before[cursor->first];
	more = whole ? ((uint64_t)*left + whole - 1) / whole * size : n - k;
	more = addresses(words + k, more < n - k ? more : n - k);
	rest = (uint32_t)(more % size);
	*left -= (int64_t)(more / size * whole) + before[cursor->first + rest] -
		before[cursor->first];
	cursor->next = cursor->first + rest;
	return k + more;
}

/* Whole executions of plain blocks, each behind its BLOCK, as most are: nothing need be known of
 * any but the last. Returns what follows them. */
static const uint64_t *whole_executions(const struct loci_ordered *order,
	struct loci_order_place *place, struct loci_cursor *cursor, const uint64_t *p,
	const uint64_t *end, int64_t *ret_left)
{
	const struct loci_block *direct = order->defs.direct, *last = NULL;
	const uint64_t n_direct = order->defs.n_direct;
	const uint32_t *before = order->accesses;
	int64_t left = *ret_left;

	while (p < end && left > 0) {
		uint64_t id = *p - loci_mark_word(LOCI_MARK_BLOCK, 0, 0), any = 0;
		const struct loci_block *block;
		uint32_t n;

		if (id >= n_direct)
			break;
		block = &direct[id];
		n = block->n_refs;
		if (!n || block->n_words != n || end - p <= n)
			break;
		for (uint32_t i = 1; i <= n; i++)
			any |= p[i];
		if (loci_word_is_marker(any))
			break;
		left -= before[block->first + n] - before[block->first];
		p += 1 + n;
		last = block;
	}
	if (last) {
		loci_cursor_start(cursor, last, (uint64_t)(last - direct));
		place->plain = true;
		*ret_left = left;
	}
	return p;
}

size_t loci_order_count(const struct loci_ordered *order, struct loci_order_place *place,
	const uint64_t *words, size_t n, int64_t *ret_left)
{
	struct loci_cursor cursor = place->cursors.cursor;
	const struct loci_block *direct = order->defs.direct;
	const uint64_t n_direct = order->defs.n_direct;
	const uint64_t *p = words, *end = words + n;
	int64_t left = *ret_left;

	while (p < end) {
		if (loci_word_is_marker(*p)) {
			uint64_t id;

			p = whole_executions(order, place, &cursor, p, end, &left);
			if (p == end || left <= 0)
				break;
			if (!loci_word_is_marker(*p))
				continue;
			id = *p - loci_mark_word(LOCI_MARK_BLOCK, 0, 0);
			if (id >= n_direct || !direct[id].n_refs)
				break;
			loci_cursor_start(&cursor, &direct[id], id);
			place->plain = direct[id].n_words == direct[id].n_refs;
			p++;
			continue;
		}
		if (place->plain)
			p += plain(order, &cursor, p, (size_t)(end - p), &left);
		else
			left -= value(order, &cursor, *p++);
		if (left <= 0 && cursor.next == cursor.first && !cursor.half)
			break;
	}
	place->cursors.cursor = cursor;
	*ret_left = left;
	return (size_t)(p - words);
}

/* Most threads have no handlers. */
static int enter(struct loci_threads *cursors, uint64_t signal)
{
	struct loci_cursor cursor = cursors->cursor;
	int r = cursors->thread ? 0 : loci_threads_init(cursors);

	cursors->cursor = cursor;
	return r < 0 ? r : loci_threads_enter(cursors, signal);
}

int64_t loci_order_count_marker(
	const struct loci_ordered *order, struct loci_order_place *place, const uint64_t *marker)
{
	struct loci_threads *cursors = &place->cursors;
	uint64_t id = loci_word_payload(*marker);
	unsigned n_raw = loci_word_n_raw(*marker);

	switch (loci_word_kind(*marker)) {
	case LOCI_MARK_BLOCK:
		start(order, place, id);
		return cursors->cursor.first == cursors->cursor.last;
	case LOCI_MARK_RUN:
		start(order, place, id);
		return n_raw < RUN_HEAD || marker[1] > INT64_MAX / LOCI_RAW_MAX
			? 1
			: (int64_t)(marker[1] * loci_order_run_refs(marker));
	case LOCI_MARK_WIDE:
		return n_raw ? value(order, &cursors->cursor, marker[1]) : 0;
	case LOCI_MARK_RESUME:
		cursors->cursor = (struct loci_cursor){ 0 };
		if (n_raw)
			loci_cursor_resume(
				&cursors->cursor, &order->defs, *marker, marker + 1, NULL);
		break;
	case LOCI_MARK_SIGNAL_ENTER:
		if (enter(cursors, id) < 0)
			return -ENOMEM;
		break;
	case LOCI_MARK_SIGNAL_LEAVE:
		if (cursors->thread)
			loci_threads_leave(cursors, &order->defs);
		else
			cursors->cursor = (struct loci_cursor){ 0 };
		break;
	default:
		return 0;
	}
	look(order, place);
	return 0;
}
