/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/interval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void loci_intervals_fini(struct loci_intervals *intervals)
{
	free(intervals->items);
	memset(intervals, 0, sizeof(*intervals));
}

int loci_intervals_add(
	struct loci_intervals *intervals, uint64_t low, uint64_t high, uint32_t id, uint32_t depth)
{
	if (low >= high)
		return 0;
	if (intervals->n == intervals->cap) {
		size_t cap = intervals->cap ? intervals->cap * 2 : 64;
		void *items = realloc(intervals->items, cap * sizeof(*intervals->items));

		if (!items)
			return -ENOMEM;
		intervals->items = items;
		intervals->cap = cap;
	}
	intervals->items[intervals->n++] =
		(struct loci_interval){ .low = low, .high = high, .id = id, .depth = depth };
	return 0;
}

/* Outer ranges before the inner ones that begin with them. */
static int by_low(const void *a, const void *b)
{
	const struct loci_interval *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int emit(
	struct loci_intervals *out, const struct loci_interval *of, uint64_t low, uint64_t high)
{
	struct loci_interval *last = out->n ? &out->items[out->n - 1] : NULL;

	if (low < high && last && last->id == of->id && last->high == low) {
		last->high = high;
		return 0;
	}
	return loci_intervals_add(out, low, high, of->id, of->depth);
}

/* Pieces of the open ranges from *cursor up to limit; closes those that end there. */
static int advance(struct loci_intervals *out, const struct loci_interval **open, size_t *n_open,
	uint64_t *cursor, uint64_t limit)
{
	while (*n_open) {
		const struct loci_interval *top = open[*n_open - 1];
		uint64_t high = top->high < limit ? top->high : limit;

		if (high > *cursor) {
			int r = emit(out, top, *cursor, high);

			if (r < 0)
				return r;
			*cursor = high;
		}
		if (top->high > limit)
			break;
		(*n_open)--;
	}
	*cursor = limit;
	return 0;
}

int loci_intervals_flatten(struct loci_intervals *intervals)
{
	struct loci_intervals out = { 0 };
	const struct loci_interval **open;
	size_t n_open = 0;
	uint64_t cursor = 0;
	int r = 0;

	if (!intervals->n)
		return 0;
	qsort(intervals->items, intervals->n, sizeof(*intervals->items), by_low);
	open = malloc(intervals->n * sizeof(*open));
	if (!open)
		return -ENOMEM;
	for (size_t i = 0; i < intervals->n && r == 0; i++) {
		r = advance(&out, open, &n_open, &cursor, intervals->items[i].low);
		open[n_open++] = &intervals->items[i];
	}
	if (r == 0)
		r = advance(&out, open, &n_open, &cursor, UINT64_MAX);
	free(open);
	if (r < 0) {
		loci_intervals_fini(&out);
		return r;
	}
	free(intervals->items);
	*intervals = out;
	return 0;
}

const struct loci_interval *loci_intervals_find(
	const struct loci_intervals *intervals, uint64_t address)
{
	size_t low = 0, high = intervals->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (intervals->items[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= intervals->items[low - 1].high)
		return NULL;
	return &intervals->items[low - 1];
}
