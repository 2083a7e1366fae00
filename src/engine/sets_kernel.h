/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel of the per-set engine, included once per instruction set by a file that defines
 * SETS_RUN, the function's name, what sets_tree.h, sets_lookup.h, sets_top.h and sets_visits.h
 * need, and
 *
 *	count_bits(word)
 *	count_two(a, b)			bits of a, and 256 times those of b
 *	row_larger(a, b)		the larger of each byte; none is above 64
 *	row_sum(a, b)			the sum, but no more than 64
 *	row_pairs(row)			of bytes 0 and 1, 2 and 3, ... the first and SETS_PAIR
 *					times the second, words of 16 bits
 *	low_bits(word, n)		the n lowest bits
 *	struct planes			those of the top, in registers where there are enough
 *	planes_load(top), planes_store(top, planes)
 *	planes_name(planes, place, block)
 *
 * The steps of a batch are those of struct sets_batch. */
#include "engine/sets_lookup.h"
#include "engine/sets_top.h"
#include "engine/sets_tree.h"
#include "engine/sets_visits.h"

static always_inline void count_pairs(uint32_t (*pairs)[SETS_PAIRS], uint64_t words)
{
#pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++)
		pairs[i][words >> 16 * i & 0xffff]++;
}

/* Of few levels, most often. */
static always_inline void count_row(struct sets_tally *tally, sets_row row)
{
	sets_row words = row_pairs(row);

	count_pairs(tally->pairs, words[0]);
	if (words[1])
		count_pairs(tally->pairs + 4, words[1]);
}

static always_inline void count_far(struct sets_tally *tally, sets_row row)
{
	sets_row words = row_pairs(row);

	count_pairs(tally->pairs, words[0]);
	count_pairs(tally->pairs + 4, words[1]);
}

static __attribute__((noinline)) void count_written(
	struct loci_sets *sets, const struct sets_wide *end)
{
	for (const struct sets_wide *written = sets->written; written < end; written++) {
		sets->dirty.single[written->single[0]]++;
		count_far(&sets->dirty, written->levels);
	}
}

#if !defined(SETS_PLANES_SAME)

/* At the n levels after first, an even number. */
static always_inline uint64_t count_same(
	const struct sets_top *top, uint64_t *places, uint64_t block, unsigned first, unsigned n)
{
	uint64_t counts = 0;

#pragma GCC unroll 4
	for (unsigned i = first; i < first + n; i += 2) {
		uint64_t one = *places & top->plane[block >> i & 1][i];

		*places = one & top->plane[block >> (i + 1) & 1][i + 1];
		counts |= count_two(one, *places) << 8 * (i - first);
	}
	return counts;
}

/* How many of some places have a block in the same set. */
static always_inline sets_row planes_same(
	const struct planes *planes, uint64_t places, uint64_t block)
{
	const struct sets_top *top = planes->top;
	uint64_t low = count_same(top, &places, block, 0, 6), high = 0;

	if (places) {
		low |= count_same(top, &places, block, 6, 2) << 48;
		if (places)
			high = count_same(top, &places, block, 8, 8);
	}
	return (sets_row){ low, high };
}

static always_inline sets_row planes_same_few(
	const struct planes *planes, uint64_t places, uint64_t block)
{
	return planes_same(planes, places, block);
}

#endif

/* What changes with every touch, in registers where there are enough. */
struct turn {
	struct kernel_ranks ranks;
	struct planes planes;
	unsigned last, before; /* places of the two most recent blocks */
	struct sets_wide *written;
	sets_row row; /* positions of the last touch */
	unsigned row0;
};

/* The block of a place was found at these positions, with these dirty levels before. */
static always_inline void settle(struct sets_top *top, struct turn *turn, unsigned place,
	wide positions, wide dirty, uint64_t write)
{
	dirty = wide_larger(dirty, positions);
	wide_store(turn->written, dirty);
	turn->written += write;
	wide_store(&top->dirty[place], wide_keep(dirty, write - 1));
	turn->before = turn->last;
	turn->last = place;
}

static always_inline void settle_near(struct sets_top *top, struct turn *turn, unsigned place,
	unsigned position, sets_row row, uint64_t write)
{
	turn->row = row;
	turn->row0 = position;
	settle(top, turn, place, wide_of(row, position), wide_load(&top->dirty[place]), write);
}

/* Position 1 in all sets that hold both, in all others 0. */
static always_inline void touch_before(
	struct loci_sets *sets, struct turn *turn, uint64_t block, uint64_t write)
{
	struct sets_top *top = &sets->top;
	unsigned place = turn->before;
	uint64_t differ = block ^ top->block[turn->last];
	unsigned shared = (unsigned)__builtin_ctzll(differ | 1 << LOCI_SETS_MAX_BITS);

	sets->turns[shared]++;
	kernel_raise(&turn->ranks, place);
	settle_near(top, turn, place, 1, sets_ones[shared], write);
}

static always_inline void touch_near(
	struct loci_sets *sets, struct turn *turn, unsigned place, uint64_t block, uint64_t write)
{
	struct sets_top *top = &sets->top;
	uint64_t newer = kernel_newer(&turn->ranks, place);
	unsigned position = count_bits(newer);
	sets_row row = planes_same_few(&turn->planes, newer, block);

	sets->position.single[position]++;
	count_row(&sets->position, row);
	kernel_raise(&turn->ranks, place);
	settle_near(top, turn, place, position, row, write);
}

/* Of a block that has no place: it gets that of the oldest, which leaves, or one that is free. */
static always_inline void touch_far(
	struct loci_sets *sets, struct turn *turn, uint64_t block, uint64_t write)
{
	struct sets_top *top = &sets->top;
	sets_row dirty = { SETS_ABSENT, SETS_ABSENT }, row = dirty;
	unsigned position, place;

	if (directory_take(&sets->directory, block, &dirty, &position))
		row = row_sum(planes_same(&turn->planes, UINT64_MAX, block),
			tree_take(&sets->tree, block, position));
	sets->position.single[LOCI_SETS_WAYS]++;
	count_far(&sets->position, row);
	place = kernel_push(&turn->ranks, SETS_TOP);
	if (top->n == SETS_TOP) {
		directory_put(&sets->directory, top->block[place], top->dirty[place].levels);
		tree_put(&sets->tree, top->block[place]);
		top_unlink(top, place);
	} else {
		top->n++;
	}
	top_link(top, place, block);
	planes_name(&turn->planes, place, block);
	turn->row = row;
	turn->row0 = LOCI_SETS_WAYS;
	settle(top, turn, place, wide_of(row, LOCI_SETS_WAYS), wide_of(dirty, LOCI_SETS_WAYS),
		write);
}

/* What the touches to come will look up: first the head, then the blocks of its chunk, then the one
 * found. */
#define SETS_AHEAD_HEAD  16
#define SETS_AHEAD_CHUNK 10
#define SETS_AHEAD_SLOT  4

static always_inline void look_ahead(const struct loci_sets *sets, const uint64_t *block)
{
	const struct sets_directory *directory = &sets->directory;
	uint64_t later = block[SETS_AHEAD_HEAD], soon = block[SETS_AHEAD_CHUNK];
	uint64_t next = block[SETS_AHEAD_SLOT], match;
	const struct sets_chunk *chunk;

	__builtin_prefetch(&directory->head[later & 0xffff], 1);
	__builtin_prefetch(tree_knot(&sets->tree, SETS_KNOTS - 1, later), 1);
	__builtin_prefetch(tree_knot(&sets->tree, SETS_KNOTS - 2, later), 1);
	if (directory->head[soon & 0xffff].chunk) {
		chunk = &directory->chunk[directory->head[soon & 0xffff].chunk - 1];
		for (unsigned i = 0; i < LOCI_SETS_WAYS; i += 16)
			__builtin_prefetch(&chunk->middle[i], 1);
		__builtin_prefetch(&chunk->high[0], 1);
		__builtin_prefetch(&chunk->high[32], 1);
	}
	if (!directory->head[next & 0xffff].chunk)
		return;
	chunk = &directory->chunk[directory->head[next & 0xffff].chunk - 1];
	match = match_words(chunk->middle, (uint32_t)(next >> 16));
	if (match)
		__builtin_prefetch(&chunk->dirty[__builtin_ctzll(match)], 1);
}

/* Of another block than the last one. */
static always_inline void touch(
	struct loci_sets *sets, struct turn *turn, uint64_t block, uint64_t write)
{
	struct sets_top *top = &sets->top;
	unsigned place;

	if (block == top->block[turn->before] && top->n > 1) {
		touch_before(sets, turn, block, write);
		return;
	}
	place = top_find(top, block);
	if (place != SETS_NOBODY)
		touch_near(sets, turn, place, block, write);
	else
		touch_far(sets, turn, block, write);
}

/* No more than SETS_BATCH. */
static always_inline void visit(struct loci_sets *sets, const struct sets_visits *visits,
	unsigned from, unsigned to, bool far)
{
	struct sets_top *top = &sets->top;
	struct turn turn = { .planes = planes_load(top),
		.last = top->last,
		.before = top->before,
		.written = sets->written,
		.row = sets->row,
		.row0 = sets->row0 };

	kernel_load_ranks(&turn.ranks, top->rank);
	for (unsigned i = from; i < to; i++) {
		if (far && i + SETS_AHEAD_HEAD < visits->n)
			look_ahead(sets, visits->block + i);
		touch(sets, &turn, visits->block[i], visits->is_write[i]);
	}
	kernel_store_ranks(&turn.ranks, top->rank);
	planes_store(top, &turn.planes);
	top->last = turn.last;
	top->before = turn.before;
	sets->row = turn.row;
	sets->row0 = turn.row0;
	count_written(sets, turn.written);
}

/* The block that was touched last is written. */
static always_inline void rewrite(struct loci_sets *sets)
{
	struct sets_wide *dirty = &sets->top.dirty[sets->top.last];

	sets->written[0] = *dirty;
	count_written(sets, sets->written + 1);
	*dirty = (struct sets_wide){ 0 };
}

static always_inline void run(
	struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n, bool far)
{
	struct sets_top *top = &sets->top;
	struct sets_visits visits;

	for (size_t from = 0, take; from < n; from += take) {
		uint64_t last = top->n ? top->block[top->last] : ~block[0];

		take = n - from < SETS_VISITS ? n - from : SETS_VISITS;
		gather(&visits, last, block + from, is_write + from, take);
		if (visits.is_write[0] && top->dirty[top->last].single[0])
			rewrite(sets);
		for (unsigned i = 1; i < visits.n; i += SETS_BATCH)
			visit(sets, &visits, i,
				visits.n - i < SETS_BATCH ? visits.n : i + SETS_BATCH, far);
		if (block[from + take - 1] == (take > 1 ? block[from + take - 2] : last)) {
			sets->row = (sets_row){ 0, 0 };
			sets->row0 = 0;
		}
	}
}

void SETS_RUN(
	struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n, bool far)
{
	sets->touches += n;
	sets->writes += count_writes(is_write, n);
	if (far)
		run(sets, block, is_write, n, true);
	else
		run(sets, block, is_write, n, false);
}
