/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel of the per-set engine, included once per instruction set by a file that defines
 * SETS_RUN, the function's name, what sets_tree.h and sets_lookup.h need, and
 *
 *	count_bits(word)
 *	row_larger(a, b)		the larger of each byte; none is above 64
 *	row_sum(a, b)			the sum, but no more than 64
 *	low_bits(word, n)		the n lowest bits
 *	top_name(top, place, block)	sets the planes
 *	top_newer(top, stamp)		the places with a larger stamp, as bits
 *	top_stamp(top, place, stamp)	sets the vectors' one
 *	top_oldest(top)			the place with the smallest, none being empty
 *
 * Stamps are stored by whole vectors where they are loaded by whole vectors: a load waits long for
 * a narrower store. */
#include "engine/sets_lookup.h"
#include "engine/sets_tree.h"

static always_inline void count_row(uint64_t (*count)[LOCI_SETS_WAYS + 1], sets_row row)
{
#pragma GCC unroll 8
	for (unsigned i = 0; i < 8; i++)
		count[1 + i][row[0] >> 8 * i & 0xff]++;
	if (!row[1])
		return;
#pragma GCC unroll 8
	for (unsigned i = 0; i < 8; i++)
		count[9 + i][row[1] >> 8 * i & 0xff]++;
}

static __attribute__((noinline)) void count_written(struct loci_sets *sets)
{
	for (unsigned i = 0; i < sets->n_written; i++) {
		sets->dirty[0][sets->written[i].row0]++;
		count_row(sets->dirty, sets->written[i].row);
	}
	sets->n_written = 0;
}

static always_inline void renew(struct sets_top *top, unsigned place)
{
	if (__builtin_expect(top->clock == SETS_LAST_STAMP, 0))
		sets_top_renumber(top);
	top->clock++;
	top->stamp_of[place] = top->clock;
	top_stamp(top, place, top->clock);
	top->before = top->last;
	top->last = place;
}

/* The block of a place has been touched with these dirty levels. */
static always_inline void leave_dirty(
	struct loci_sets *sets, unsigned place, sets_row dirty, unsigned dirty0, bool write)
{
	struct sets_top *top = &sets->top;
	uint64_t keep = (uint64_t)write - 1;

	sets->written[sets->n_written].row = dirty;
	sets->written[sets->n_written].row0 = dirty0;
	sets->n_written += write;
	top->dirty[place] = dirty & keep;
	top->dirty0[place] = (uint8_t)(dirty0 & keep);
	if (__builtin_expect(sets->n_written == SETS_WRITTEN, 0))
		count_written(sets);
}

/* The block of a place was found at these positions. */
static always_inline void settle(
	struct loci_sets *sets, unsigned place, unsigned position, sets_row row, bool write)
{
	struct sets_top *top = &sets->top;
	unsigned dirty0 = top->dirty0[place];

	sets->row = row;
	sets->row0 = position;
	leave_dirty(sets, place, row_larger(row, top->dirty[place]),
		position > dirty0 ? position : dirty0, write);
}

/* The block that was touched last is written. */
static always_inline void rewrite(struct loci_sets *sets)
{
	struct sets_top *top = &sets->top;
	unsigned place = top->last;

	leave_dirty(sets, place, top->dirty[place], top->dirty0[place], true);
}

/* Position 1 in all sets that hold both, in all others 0. */
static always_inline void touch_before(struct loci_sets *sets, uint64_t block, bool write)
{
	struct sets_top *top = &sets->top;
	unsigned place = top->before;
	uint64_t differ = block ^ top->block[top->last];
	unsigned shared = (unsigned)__builtin_ctzll(differ | 1 << LOCI_SETS_MAX_BITS);
	const uint64_t ones = 0x0101010101010101u;
	sets_row row = { shared < 8 ? low_bits(ones, 8 * shared) : ones,
		shared > 8 ? low_bits(ones, 8 * (shared - 8)) : 0 };

	sets->turns[shared]++;
	renew(top, place);
	settle(sets, place, 1, row, write);
}

#if !defined(SETS_TOP_SAME)

/* At the n levels after first. */
static always_inline uint64_t count_same(
	const struct sets_top *top, uint64_t *places, uint64_t block, unsigned first, unsigned n)
{
	uint64_t counts = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < n; i++) {
		*places &= top->plane[block >> (first + i) & 1][first + i];
		counts |= (uint64_t)count_bits(*places) << 8 * i;
	}
	return counts;
}

/* How many of some places have a block in the same set. Leaves those that agree in 16 bits. */
static always_inline sets_row top_same(const struct sets_top *top, uint64_t *places, uint64_t block)
{
	uint64_t low = count_same(top, places, block, 0, 8);

	return (sets_row){ low, *places ? count_same(top, places, block, 8, 8) : 0 };
}

#endif

/* The same at the n levels after first, and these are positions. */
static always_inline uint64_t find_same(
	struct loci_sets *sets, uint64_t *places, uint64_t block, unsigned first, unsigned n)
{
	uint64_t counts = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < n; i++) {
		unsigned position;

		*places &= sets->top.plane[block >> (first + i) & 1][first + i];
		position = count_bits(*places);
		sets->position[1 + first + i][position]++;
		counts |= (uint64_t)position << 8 * i;
	}
	return counts;
}

static always_inline void touch_near(
	struct loci_sets *sets, unsigned place, uint64_t block, bool write)
{
	struct sets_top *top = &sets->top;
	uint64_t newer = top_newer(top, top->stamp_of[place]), low, high = 0;
	unsigned position = count_bits(newer);

	sets->position[0][position]++;
	low = find_same(sets, &newer, block, 0, 6);
	if (newer) {
		low |= find_same(sets, &newer, block, 6, 2) << 48;
		if (newer)
			high = find_same(sets, &newer, block, 8, 8);
	}
	renew(top, place);
	settle(sets, place, position, (sets_row){ low, high }, write);
}

static always_inline unsigned hash(uint64_t block)
{
	return (unsigned)(block * 0x9e3779b97f4a7c15u >> (64 - SETS_HINT_BITS));
}

/* The block has no place yet: that of the oldest, which leaves, or one that is free. */
static always_inline unsigned enter(struct loci_sets *sets, uint64_t block)
{
	struct sets_top *top = &sets->top;
	unsigned place = top->n;

	if (place == SETS_TOP) {
		place = top_oldest(top);
		directory_put(&sets->directory, top->block[place], top->dirty[place]);
		tree_put(&sets->tree, top->block[place]);
	} else {
		top->n++;
	}
	top->block[place] = block;
	top->hint[hash(block)] = (uint8_t)place;
	top_name(top, place, block);
	return place;
}

static __attribute__((noinline)) void touch_far(struct loci_sets *sets, uint64_t block, bool write)
{
	struct sets_top *top = &sets->top;
	sets_row row, dirty = { SETS_ABSENT, SETS_ABSENT };
	uint64_t same = low_bits(UINT64_MAX, top->n);
	unsigned position, place;

	row = top_same(top, &same, block);
	/* Its hint was lost to another block. */
	for (; same; same &= same - 1) {
		place = (unsigned)__builtin_ctzll(same);
		if (top->block[place] == block) {
			top->hint[hash(block)] = (uint8_t)place;
			touch_near(sets, place, block, write);
			return;
		}
	}
	if (directory_take(&sets->directory, block, &dirty, &position))
		row = row_sum(row, tree_take(&sets->tree, block, position));
	else
		row = dirty;
	sets->position[0][LOCI_SETS_WAYS]++;
	count_row(sets->position, row);
	place = enter(sets, block);
	top->dirty[place] = dirty;
	renew(top, place);
	settle(sets, place, LOCI_SETS_WAYS, row, write);
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

static always_inline void touch(struct loci_sets *sets, uint64_t block, bool write)
{
	struct sets_top *top = &sets->top;
	unsigned place;

	if (block == top->block[top->before] && top->n > 1) {
		touch_before(sets, block, write);
		return;
	}
	place = top->hint[hash(block)];
	if (block == top->block[place] && place < top->n)
		touch_near(sets, place, block, write);
	else
		touch_far(sets, block, write);
}

static always_inline void run(struct loci_sets *sets, const uint64_t *block,
	const uint8_t *is_write, size_t n, size_t n_ahead)
{
	struct sets_top *top = &sets->top;
	uint64_t writes = 0;
	bool repeats = false;

	for (size_t i = 0; i < n; i++) {
		bool write = is_write && is_write[i];

		writes += write;
		if (i + SETS_AHEAD_HEAD < n_ahead)
			look_ahead(sets, block + i);
		repeats = block[i] == top->block[top->last] && top->n;
		if (!repeats)
			touch(sets, block[i], write);
		else if (write & (top->dirty0[top->last] > 0))
			rewrite(sets);
	}
	if (repeats) {
		sets->row = (sets_row){ 0, 0 };
		sets->row0 = 0;
	}
	count_written(sets);
	sets->touches += n;
	sets->writes += writes;
}

void SETS_RUN(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n,
	size_t n_ahead)
{
	if (n_ahead)
		run(sets, block, is_write, n, n_ahead);
	else
		run(sets, block, is_write, n, 0);
}
