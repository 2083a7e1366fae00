// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/touch_clock.h"

#include "analyse/grow.h"

#include <math.h>

void loci_touch_clock_fini(struct loci_touch_clock *clock)
{
	free(clock->mark);
	*clock = (struct loci_touch_clock){ 0 };
}

int loci_touch_clock_add(
	struct loci_touch_clock *clock, uint32_t thread, uint64_t count, double gap, double rate)
{
	if (loci_grow_little(&clock->mark, &clock->cap, clock->n + 1, sizeof(*clock->mark)) < 0)
		return -ENOMEM;
	clock->mark[clock->n++] = (struct loci_touch_clock_mark){ thread, count, gap, gap * rate };
	return 0;
}

static int in_order(const void *left, const void *right)
{
	const struct loci_touch_clock_mark *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->count > b->count) - (a->count < b->count);
}

void loci_touch_clock_settle(struct loci_touch_clock *clock)
{
	double refs = 0, touches = 0, squares = 0;

	if (clock->n)
		qsort(clock->mark, clock->n, sizeof(*clock->mark), in_order);
	for (size_t i = 0; i < clock->n; i++) {
		struct loci_touch_clock_mark *mark = &clock->mark[i];

		if (mark->refs > 0)
			squares += mark->touches / mark->refs * mark->touches;
		refs = mark->refs += refs;
		touches = mark->touches += touches;
	}
	clock->rate = refs > 0 ? touches / refs : 1;
	clock->spread = refs > 0 ? sqrt(fmax(squares / refs - clock->rate * clock->rate, 0)) : 0;
}

/* How many marks are of threads before, or of this one up to its count. */
static size_t marks_upto(const struct loci_touch_clock *clock, uint32_t thread, uint64_t count)
{
	const struct loci_touch_clock_mark sought = { .thread = thread, .count = count };
	size_t low = 0, high = clock->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (in_order(&clock->mark[middle], &sought) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void loci_touch_clock_between(const struct loci_touch_clock *clock, uint32_t thread, uint64_t after,
	uint64_t upto, double *ret_refs, double *ret_touches)
{
	size_t from = marks_upto(clock, thread, after), to = marks_upto(clock, thread, upto);

	*ret_refs = *ret_touches = 0;
	if (from >= to)
		return;
	*ret_refs = clock->mark[to - 1].refs - (from ? clock->mark[from - 1].refs : 0);
	*ret_touches = clock->mark[to - 1].touches - (from ? clock->mark[from - 1].touches : 0);
}

double loci_touch_clock_at(const struct loci_touch_clock *clock, uint32_t thread, uint64_t count)
{
	double refs, touches;

	if (!count)
		return 0;
	loci_touch_clock_between(clock, thread, count - 1, count, &refs, &touches);
	return refs > 0 ? touches / refs : 0;
}

double loci_touch_clock_gap(const struct loci_touch_clock *clock)
{
	return clock->n ? clock->mark[clock->n - 1].refs / (double)clock->n : 0;
}
