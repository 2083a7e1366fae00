/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel of the per-set engine, included once per instruction set by a file that defines
 * SETS_RUN, the function's name, what sets_tree.h, sets_lookup.h and sets_visits.h need, and
 *
 *	count_bits(word)
 *	count_two(a, b)			bits of a, and 256 times those of b
 *	row_larger(a, b)		the larger of each byte; none is above 64
 *	row_sum(a, b)			the sum, but no more than 64
 *	low_bits(word, n)		the n lowest bits
 *	top_name(top, place, block)	sets the planes
 *	struct stamps			those of the top, in registers where there are enough
 *	stamps_load(top), stamps_store(top, stamps)
 *	stamps_newer(stamps, stamp)	the places with a larger one, as bits
 *	stamps_set(stamps, place, stamp)
 *
 * Stamps are stored by whole vectors where they are loaded by whole vectors: a load waits long for
 * a narrower store. */
#include "engine/sets_lookup.h"
#include "engine/sets_tree.h"
#include "engine/sets_visits.h"

static always_inline void count_pairs(uint64_t (*pairs)[SETS_PAIRS], uint64_t bytes)
{
	/* Six bits of each byte. */
	bytes = (bytes & 0x003f003f003f003fu) | (bytes >> 2 & 0x0fc00fc00fc00fc0u);
#pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++)
		pairs[i][bytes >> 16 * i & 0xffff]++;
}

static always_inline void count_row(struct sets_tally *tally, sets_row row)
{
	count_pairs(tally->pairs, row[0]);
	if (row[1])
		count_pairs(tally->pairs + 4, row[1]);
}

/* Of a row that may have levels where the block is absent. */
static always_inline void count_far(struct sets_tally *tally, sets_row row)
{
	tally->absent[count_bits(row[0] & SETS_ABSENT) + count_bits(row[1] & SETS_ABSENT)]++;
	count_pairs(tally->pairs, row[0]);
	count_pairs(tally->pairs + 4, row[1]);
}

static __attribute__((noinline)) void count_written(struct loci_sets *sets)
{
	for (unsigned i = 0; i < sets->n_written; i++) {
		sets->dirty.single[sets->written[i].row0]++;
		count_far(&sets->dirty, sets->written[i].row);
	}
	sets->n_written = 0;
}

/* What changes with every touch, in registers where there are enough. */
struct turn {
	struct stamps stamps;
	unsigned clock, tail, last, before, n_written;
	sets_row row; /* positions of the last touch */
	unsigned row0;
};

static always_inline struct turn turn_begin(struct loci_sets *sets)
{
	struct sets_top *top = &sets->top;

	if (top->clock > SETS_LAST_STAMP - SETS_WRITTEN)
		sets_top_renumber(top);
	return (struct turn){ stamps_load(top), top->clock, top->tail, top->last, top->before,
		sets->n_written, sets->row, sets->row0 };
}

static always_inline void turn_end(struct loci_sets *sets, const struct turn *turn)
{
	struct sets_top *top = &sets->top;

	stamps_store(top, &turn->stamps);
	top->clock = turn->clock;
	top->tail = turn->tail;
	top->last = turn->last;
	top->before = turn->before;
	sets->n_written = turn->n_written;
	sets->row = turn->row;
	sets->row0 = turn->row0;
	count_written(sets);
}

/* Whether the tail has been reached, the stamp of the oldest place. It is looked for a step at a
 * time: a loop would be hard to predict. */
static always_inline bool is_oldest(const struct sets_top *top, unsigned tail)
{
	return top->stamp_of[top->log[tail]] == tail;
}

static always_inline void renew(struct sets_top *top, struct turn *turn, unsigned place)
{
	turn->clock++;
	top->stamp_of[place] = (uint16_t)turn->clock;
	top->log[turn->clock] = (uint8_t)place;
	stamps_set(&turn->stamps, place, (int16_t)turn->clock);
	turn->tail += !is_oldest(top, turn->tail);
	turn->before = turn->last;
	turn->last = place;
}

/* The block of a place has been touched with these dirty levels. */
static always_inline void leave_dirty(struct loci_sets *sets, struct turn *turn, unsigned place,
	sets_row dirty, unsigned dirty0, bool write)
{
	struct sets_top *top = &sets->top;
	uint64_t keep = (uint64_t)write - 1;

	sets->written[turn->n_written].row = dirty;
	sets->written[turn->n_written].row0 = dirty0;
	turn->n_written += write;
	top->dirty[place] = dirty & keep;
	top->dirty0[place] = (uint8_t)(dirty0 & keep);
}

/* The block of a place was found at these positions. */
static always_inline void settle(struct loci_sets *sets, struct turn *turn, unsigned place,
	unsigned position, sets_row row, bool write)
{
	struct sets_top *top = &sets->top;
	unsigned dirty0 = top->dirty0[place];

	turn->row = row;
	turn->row0 = position;
	leave_dirty(sets, turn, place, row_larger(row, top->dirty[place]),
		position > dirty0 ? position : dirty0, write);
}

/* The block that was touched last is written. */
static always_inline void rewrite(struct loci_sets *sets)
{
	struct turn turn = turn_begin(sets);
	unsigned place = turn.last;

	leave_dirty(sets, &turn, place, sets->top.dirty[place], sets->top.dirty0[place], true);
	turn_end(sets, &turn);
}

/* Position 1 in all sets that hold both, in all others 0. */
static always_inline void touch_before(
	struct loci_sets *sets, struct turn *turn, uint64_t block, bool write)
{
	struct sets_top *top = &sets->top;
	unsigned place = turn->before;
	uint64_t differ = block ^ top->block[turn->last];
	unsigned shared = (unsigned)__builtin_ctzll(differ | 1 << LOCI_SETS_MAX_BITS);

	sets->turns[shared]++;
	renew(top, turn, place);
	settle(sets, turn, place, 1, sets_ones[shared], write);
}

#if !defined(SETS_TOP_SAME)

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

/* How many of some places have a block in the same set. Leaves those that agree in 16 bits. */
static always_inline sets_row top_same(const struct sets_top *top, uint64_t *places, uint64_t block)
{
	uint64_t low = count_same(top, places, block, 0, 6), high = 0;

	if (*places) {
		low |= count_same(top, places, block, 6, 2) << 48;
		if (*places)
			high = count_same(top, places, block, 8, 8);
	}
	return (sets_row){ low, high };
}

static always_inline sets_row top_newer_same(
	const struct sets_top *top, uint64_t places, uint64_t block)
{
	return top_same(top, &places, block);
}

#endif

static always_inline void touch_near(
	struct loci_sets *sets, struct turn *turn, unsigned place, uint64_t block, bool write)
{
	struct sets_top *top = &sets->top;
	uint64_t newer = stamps_newer(&turn->stamps, (int16_t)top->stamp_of[place]);
	unsigned position = count_bits(newer);
	sets_row row = top_newer_same(top, newer, block);

	sets->position.single[position]++;
	count_row(&sets->position, row);
	renew(top, turn, place);
	settle(sets, turn, place, position, row, write);
}

static always_inline unsigned hash(uint64_t block)
{
	return (unsigned)(block * 0x9e3779b97f4a7c15u >> (64 - SETS_HINT_BITS));
}

/* The block has no place yet: that of the oldest, which leaves, or one that is free. */
static always_inline unsigned enter(struct loci_sets *sets, struct turn *turn, uint64_t block)
{
	struct sets_top *top = &sets->top;
	unsigned place = top->n;

	if (place == SETS_TOP) {
		while (!is_oldest(top, turn->tail))
			turn->tail++;
		place = top->log[turn->tail];
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

/* Of a block that has no place. */
static always_inline void touch_far(
	struct loci_sets *sets, struct turn *turn, uint64_t block, sets_row row, bool write)
{
	struct sets_top *top = &sets->top;
	sets_row dirty = { SETS_ABSENT, SETS_ABSENT };
	unsigned position, place;

	if (directory_take(&sets->directory, block, &dirty, &position))
		row = row_sum(row, tree_take(&sets->tree, block, position));
	else
		row = dirty;
	sets->position.single[LOCI_SETS_WAYS]++;
	count_far(&sets->position, row);
	place = enter(sets, turn, block);
	top->dirty[place] = dirty;
	renew(top, turn, place);
	settle(sets, turn, place, LOCI_SETS_WAYS, row, write);
}

/* Of one that has none, or has lost its hint to another. */
static always_inline void touch_lost(
	struct loci_sets *sets, struct turn *turn, uint64_t block, bool write)
{
	struct sets_top *top = &sets->top;
	uint64_t same = low_bits(UINT64_MAX, top->n);
	sets_row row = top_same(top, &same, block);

	for (; __builtin_expect(same != 0, 0); same &= same - 1) {
		unsigned place = (unsigned)__builtin_ctzll(same);

		if (top->block[place] == block) {
			top->hint[hash(block)] = (uint8_t)place;
			touch_near(sets, turn, place, block, write);
			return;
		}
	}
	touch_far(sets, turn, block, row, write);
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
	struct loci_sets *sets, struct turn *turn, uint64_t block, bool write)
{
	struct sets_top *top = &sets->top;
	unsigned place;

	if (block == top->block[turn->before] && top->n > 1) {
		touch_before(sets, turn, block, write);
		return;
	}
	place = top->hint[hash(block)];
	if (block == top->block[place] && place < top->n)
		touch_near(sets, turn, place, block, write);
	else
		touch_lost(sets, turn, block, write);
}

/* No more than SETS_WRITTEN. */
static always_inline void visit(struct loci_sets *sets, const struct sets_visits *visits,
	unsigned from, unsigned to, bool far)
{
	struct turn turn = turn_begin(sets);

	for (unsigned i = from; i < to; i++) {
		if (far && i + SETS_AHEAD_HEAD < visits->n)
			look_ahead(sets, visits->block + i);
		touch(sets, &turn, visits->block[i], visits->is_write[i]);
	}
	turn_end(sets, &turn);
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
		if (visits.is_write[0] && top->dirty0[top->last])
			rewrite(sets);
		for (unsigned i = 1; i < visits.n; i += SETS_WRITTEN)
			visit(sets, &visits, i,
				visits.n - i < SETS_WRITTEN ? visits.n : i + SETS_WRITTEN, far);
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
