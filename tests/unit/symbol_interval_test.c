/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flattened ranges against painting every address one by one; interned strings. */
#include "check.h"
#include "symbol/interval.h"
#include "symbol/pool.h"

#include <stdlib.h>

#define SPACE 512

static uint64_t state = 88172645463325252u;

static unsigned draw(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % below);
}

/* Splits [low, high) into nested ranges; painted[] gets the innermost id. */
static void nest(struct loci_intervals *intervals, uint32_t *painted, unsigned low, unsigned high,
	uint32_t depth, uint32_t *next)
{
	uint32_t id = (*next)++;

	CHECK(loci_intervals_add(intervals, low, high, id, depth) == 0);
	for (unsigned i = low; i < high; i++)
		painted[i] = id;
	for (unsigned at = low; at < high && depth < 6;) {
		unsigned from = at + draw(8), to = from + 1 + draw(high - low);

		if (to > high || draw(3) == 0)
			break;
		nest(intervals, painted, from, to, depth + 1, next);
		at = to;
	}
}

static void check_nested(void)
{
	for (int round = 0; round < 500; round++) {
		struct loci_intervals intervals = { 0 };
		uint32_t painted[SPACE], next = 0;

		memset(painted, 0xff, sizeof(painted));
		for (unsigned at = 0; at + 60 < SPACE;) {
			unsigned low = at + draw(5), high = low + 1 + draw(50);

			nest(&intervals, painted, low, high, 0, &next);
			at = high;
		}
		/* In any order. */
		for (size_t i = intervals.n; i > 1; i--) {
			size_t j = draw((unsigned)i);
			struct loci_interval one = intervals.items[i - 1];

			intervals.items[i - 1] = intervals.items[j];
			intervals.items[j] = one;
		}
		CHECK(loci_intervals_flatten(&intervals) == 0);
		for (uint64_t at = 0; at < SPACE; at++) {
			const struct loci_interval *found = loci_intervals_find(&intervals, at);

			CHECK_U64(found ? found->id : UINT32_MAX, painted[at]);
		}
		for (size_t i = 1; i < intervals.n; i++)
			CHECK(intervals.items[i - 1].high <= intervals.items[i].low);
		loci_intervals_fini(&intervals);
	}
}

/* Ranges that cross: the later one wins, and nothing is lost behind it. */
static void check_crossed(void)
{
	struct loci_intervals intervals = { 0 };

	CHECK(loci_intervals_add(&intervals, 10, 30, 1, 0) == 0);
	CHECK(loci_intervals_add(&intervals, 20, 40, 2, 0) == 0);
	CHECK(loci_intervals_add(&intervals, 5, 5, 3, 0) == 0);
	CHECK(loci_intervals_add(&intervals, 100, UINT64_MAX, 4, 0) == 0);
	CHECK(loci_intervals_flatten(&intervals) == 0);
	CHECK(!loci_intervals_find(&intervals, 5) && !loci_intervals_find(&intervals, 40));
	CHECK_U64(loci_intervals_find(&intervals, 10)->id, 1);
	CHECK_U64(loci_intervals_find(&intervals, 19)->id, 1);
	CHECK_U64(loci_intervals_find(&intervals, 25)->id, 2);
	CHECK_U64(loci_intervals_find(&intervals, 39)->id, 2);
	CHECK_U64(loci_intervals_find(&intervals, UINT64_MAX - 1)->id, 4);
	CHECK(!loci_intervals_find(&intervals, UINT64_MAX));
	loci_intervals_fini(&intervals);
}

static void check_pool(void)
{
	struct loci_pool pool = { 0 };
	const char *kept[3000];
	char text[32];

	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		kept[i] = loci_pool_string(&pool, text);
		CHECK_STR(kept[i], text);
	}
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		CHECK(loci_pool_string(&pool, text) == kept[i]);
	}
	CHECK(loci_pool_bytes(&pool, "name 17 and more", 7) == kept[17]);
	CHECK(loci_pool_format(&pool, "name %d", 2999) == kept[2999]);
	CHECK(loci_pool_string(&pool, NULL) == NULL);
	CHECK(loci_pool_alloc(&pool, 1 << 20) != NULL);
	CHECK(loci_pool_string(&pool, "") == loci_pool_string(&pool, ""));
	loci_pool_fini(&pool);
}

int main(void)
{
	check_nested();
	check_crossed();
	check_pool();
	return check_status();
}
