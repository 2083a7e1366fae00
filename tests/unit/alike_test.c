// SPDX-License-Identifier: GPL-2.0-or-later
/* Touches that are told as one against counting them one by one. */
#include "check.h"
#include "rnd.h"

#include "analyse/alike.h"

#include <string.h>

#define ROWS     7
#define CONTEXTS 3
#define LEVELS   3
#define LOOPS    4

static uint64_t use_of(uint32_t row, uint32_t context, bool is_write, uint64_t clock)
{
	return row | (uint64_t)context << LOCI_USE_CONTEXT | (uint64_t)is_write << LOCI_USE_WRITE |
		clock << LOCI_USE_CLOCK;
}

/* By row of the use, whether it wrote, row of the reuse, loop, recycled. */
struct wanted {
	uint64_t refs, bins[256], misses[LEVELS], first_hits[LEVELS];
};
static struct wanted wanted[ROWS][2][ROWS][LOOPS][2];
static uint64_t rows[ROWS][256], contexts[CONTEXTS][256];

/* loops: LOCI_NO_LOOP is told apart from others by the bits that are kept. */
static uint32_t loop_of(unsigned i)
{
	return i ? i * 1000 : LOCI_NO_LOOP;
}

static struct wanted *wanted_of(const struct loci_pair *pair)
{
	unsigned loop = 0;

	for (unsigned i = 0; i < LOOPS; i++)
		if (pair->loop == loop_of(i))
			loop = i;
	CHECK_U64(pair->loop, loop_of(loop));
	return &wanted[loci_use_row(pair->use)][loci_use_write(pair->use)]
		      [loci_use_row(pair->reuse)][loop][pair->recycled];
}

static void want(struct wanted *w, unsigned bin, unsigned missed)
{
	unsigned hit = 0;

	w->refs++;
	w->bins[bin]++;
	for (; missed >> hit & 1; hit++)
		;
	for (unsigned i = 0; i < LEVELS; i++)
		w->misses[i] += missed >> i & 1;
	if (hit < LEVELS)
		w->first_hits[hit]++;
}

/* A touch of random kind, most of them of few kinds. */
static void touch(struct loci_alikes *alikes, uint64_t kinds)
{
	uint64_t kind = rnd(10) ? rnd(10) : rnd(kinds);
	uint32_t from = kind % ROWS, row = kind / 3 % ROWS, context = kind / 5 % CONTEXTS;
	bool is_write = kind / 7 % 2, recycled = kind % 11 == 0;
	unsigned loop = kind / 13 % LOOPS, bin = (unsigned)(kind * 7 % 256);
	unsigned missed = (1u << kind % (LEVELS + 1)) - 1;
	uint64_t reuse = use_of(row, context, false, rnd(LOCI_CLOCK_MASK));

	rows[row][bin]++;
	contexts[context][bin]++;
	if (bin >= LOCI_SPREAD_UNSAMPLED) {
		CHECK(loci_alikes_add(alikes, 0, reuse, 0, false, bin) == 0);
		return;
	}
	want(&wanted[from][is_write][row][loop][recycled], bin, missed);
	CHECK(loci_alikes_add(alikes, use_of(from, 0, is_write, rnd(LOCI_CLOCK_MASK)), reuse,
		      loop_of(loop), recycled, LOCI_ALIKE_PAIR | missed << 8 | bin) == 0);
}

/* Pairs in contexts are added to those without. */
static void check_pairs(const struct loci_pairs *pairs)
{
	uint64_t refs = 0, left = 0;

	for (size_t i = 0; i < pairs->n; i++) {
		struct wanted *w = wanted_of(&pairs->pair[i]);
		uint64_t bins[256] = { 0 };

		loci_spread_far_collect(&pairs->pair[i].distance, bins);
		refs += pairs->pair[i].refs;
		w->refs -= pairs->pair[i].refs;
		for (unsigned k = 0; k < 256; k++)
			w->bins[k] -= bins[k];
		for (unsigned k = 0; k < LEVELS; k++) {
			w->misses[k] -= pairs->level[i * LEVELS + k].misses;
			w->first_hits[k] -= pairs->level[i * LEVELS + k].first_hits;
		}
	}
	CHECK(refs > 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(left); i++)
		left |= ((const uint64_t *)wanted)[i];
	CHECK_U64(left, 0);
}

static void check_spread(const struct loci_spread *spread, uint64_t (*want)[256], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bins[256] = { 0 };

		loci_spread_collect(spread, i, bins);
		CHECK(!memcmp(bins, want[i], sizeof(bins)));
	}
}

int main(void)
{
	static struct loci_alikes alikes;
	static struct loci_pairs pairs;
	struct loci_spread by_row = { 0 }, by_context = { 0 };

	loci_pairs_init(&pairs, LEVELS);
	alikes = (struct loci_alikes){ .rows = &by_row, .contexts = &by_context, .pairs = &pairs };
	CHECK(loci_spread_reserve(&by_row, ROWS) == 0);
	CHECK(loci_spread_reserve(&by_context, CONTEXTS) == 0);
	for (unsigned batch = 0; batch < 100; batch++) {
		uint64_t kinds = 1 + rnd(20000);

		for (uint64_t n = rnd(4096); n > 0; n--)
			touch(&alikes, kinds);
		CHECK(loci_alikes_tell(&alikes) == 0);
	}
	check_spread(&by_row, rows, ROWS);
	check_spread(&by_context, contexts, CONTEXTS);
	check_pairs(&pairs);
	loci_spread_fini(&by_row);
	loci_spread_fini(&by_context);
	loci_pairs_fini(&pairs);
	return check_status();
}
