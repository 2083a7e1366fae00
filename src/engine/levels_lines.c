// SPDX-License-Identifier: GPL-2.0-or-later
/* Single lines of the simulator of named caches, off the hot path: others' writes take them away,
 * and another simulator takes them over. levels_state.h says where a level keeps what. */
#include "engine/levels_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t find(const struct loci_level *level, uint64_t block)
{
	uint32_t base;

	if (level->is_list)
		return loci_levels_list_find(level, block);
	base = (uint32_t)loci_levels_set(level, block) * level->stride;
	for (uint32_t slot = base; slot < base + level->ways; slot++)
		if (level->block[slot] == block && level->stamp[slot])
			return slot;
	return LOCI_LEVELS_NONE;
}

static bool is_inside(const struct loci_level *level, uint32_t slot)
{
	return level->stamp[slot] >= LOCI_LEVELS_INSIDE;
}

static void empty(struct loci_level *level, uint32_t slot)
{
	if (level->is_list) {
		if (!is_inside(level, slot))
			loci_levels_list_unlink(level, slot);
		loci_levels_list_empty(level, slot);
		return;
	}
	level->stamp[slot] = 0;
	/* What is never found where it stands. With one set a block is put back before any place
	 * that it has been in, so that it is found first. */
	if (level->sets > 1)
		level->block[slot] = slot / level->stride == 0;
}

/* Takes a block from a level and its descendants, in which it is dirty as its parent knows, if that
 * has it. */
static void take(struct loci_levels *levels, struct loci_level *level, uint64_t block,
	struct loci_levels_taken *taken)
{
	uint32_t slot = find(level, block);

	if (slot != LOCI_LEVELS_NONE) {
		taken->levels |= level->bit;
		if (level->dirty)
			taken->dirty |= level->dirty[slot];
		else if (!is_inside(level, slot))
			taken->dirty |= level->stamp[slot] & LOCI_LEVELS_DIRTY;
		if (level == levels->level)
			taken->eviction = (struct loci_levels_eviction){
				.owner = levels->owner[slot],
				.used_bytes = (uint32_t)__builtin_popcountll(levels->bytes[slot]),
			};
		empty(level, slot);
	}
	for (unsigned children = level->children; children; children &= children - 1)
		take(levels, &levels->level[__builtin_ctz(children)], block, taken);
}

struct loci_levels_taken loci_levels_invalidate(struct loci_levels *levels, uint64_t block)
{
	struct loci_levels_taken taken = { 0 };

	for (unsigned i = 0; i < levels->n; i++)
		if (!levels->level[i].held)
			take(levels, &levels->level[i], block, &taken);
	return taken;
}

/* When a block was touched last: those inside a parent know it from there. */
static uint64_t time_of(const struct loci_levels *levels, unsigned i, uint64_t block, uint32_t slot)
{
	const struct loci_level *level = &levels->level[i];

	if (!level->held || !is_inside(level, slot))
		return level->stamp[slot] >> LOCI_LEVELS_TIME_SHIFT;
	for (unsigned parent = i; parent-- > 0;)
		if (levels->level[parent].children & level->bit)
			return time_of(levels, parent, block, find(&levels->level[parent], block));
	return 0;
}

/* The levels that a line is dirty in, of those that this one speaks for. */
static uint8_t dirty_of(const struct loci_level *level, uint32_t slot)
{
	if (level->dirty)
		return level->dirty[slot];
	return is_inside(level, slot) ? 0 : level->stamp[slot] & LOCI_LEVELS_DIRTY;
}

struct dated {
	uint64_t time;
	uint32_t line;
};

#define DIGIT_BITS 11

/* By time, digit by digit from the lowest on. Returns where they are then. */
static struct dated *sort(struct dated *from, struct dated *to, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= from[i].time;
	for (unsigned shift = 0; shift < 64 && all >> shift; shift += DIGIT_BITS) {
		size_t start[(1 << DIGIT_BITS) + 1] = { 0 };
		struct dated *swap = from;

		for (size_t i = 0; i < n; i++)
			start[(from[i].time >> shift) % (1 << DIGIT_BITS) + 1]++;
		for (unsigned k = 1; k < 1 << DIGIT_BITS; k++)
			start[k] += start[k - 1];
		for (size_t i = 0; i < n; i++)
			to[start[(from[i].time >> shift) % (1 << DIGIT_BITS)]++] = from[i];
		from = to;
		to = swap;
	}
	return from;
}

/* Lines of all levels in the order of their times, those of one block united: all levels know the
 * same last touch of it. Returns how many there are. */
static size_t put_in_order(struct loci_levels_line *to, const struct loci_levels_line *line,
	const struct dated *dated, size_t n)
{
	size_t n_to = 0;

	for (size_t i = 0; i < n; i++) {
		const struct loci_levels_line *from = &line[dated[i].line];

		if (!n_to || to[n_to - 1].time != from->time) {
			to[n_to++] = *from;
			continue;
		}
		to[n_to - 1].levels |= from->levels;
		to[n_to - 1].dirty |= from->dirty;
		to[n_to - 1].bytes |= from->bytes;
		to[n_to - 1].owner |= from->owner; /* only one has it */
	}
	return n_to;
}

static size_t n_lines(const struct loci_levels *levels)
{
	size_t n = 0;

	for (unsigned i = 0; i < levels->n; i++)
		for (uint32_t slot = 0; slot < levels->level[i].n_slots; slot++)
			n += levels->level[i].stamp[slot] != 0;
	return n;
}

static void collect(
	const struct loci_levels *levels, struct loci_levels_line *line, struct dated *dated)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < levels->n; i++) {
		const struct loci_level *level = &levels->level[i];

		for (uint32_t slot = 0; slot < level->n_slots; slot++) {
			if (!level->stamp[slot])
				continue;
			line[n] = (struct loci_levels_line){
				.block = level->block[slot],
				.time = time_of(levels, i, level->block[slot], slot),
				.levels = level->bit,
				.dirty = dirty_of(level, slot),
				.owner = i ? 0 : levels->owner[slot],
				.bytes = i ? 0 : levels->bytes[slot],
			};
			dated[n] = (struct dated){ line[n].time, n };
			n++;
		}
	}
}

int loci_levels_lines(
	const struct loci_levels *levels, struct loci_levels_line **ret, size_t *ret_n)
{
	size_t n = n_lines(levels);
	struct loci_levels_line *line = malloc((n + 1) * sizeof(*line));
	struct loci_levels_line *ordered = malloc((n + 1) * sizeof(*ordered));
	struct dated *dated = malloc((2 * n + 1) * sizeof(*dated));
	int r = -ENOMEM;

	if (line && ordered && dated) {
		collect(levels, line, dated);
		*ret_n = put_in_order(ordered, line, sort(dated, dated + n, n), n);
		*ret = ordered;
		ordered = NULL;
		r = 0;
	}
	free(line);
	free(ordered);
	free(dated);
	return r;
}

static void set_dirty(
	struct loci_levels *levels, struct loci_level *level, const struct loci_levels_line *line)
{
	uint32_t slot = find(level, line->block);

	if (slot == LOCI_LEVELS_NONE) {
		for (unsigned i = level->children; i; i &= i - 1)
			set_dirty(levels, &levels->level[__builtin_ctz(i)], line);
		return;
	}
	if (level->dirty)
		level->dirty[slot] |= line->dirty & level->dominion;
	else
		level->stamp[slot] |= line->dirty & level->dominion;
}

#define TOGETHER 256 /* lines that are fed at once */

static void feed(struct loci_levels *levels, const struct loci_levels_line *line, size_t n)
{
	static const uint8_t no_write[TOGETHER];
	uint64_t block[TOGETHER], bytes[TOGETHER];
	uint32_t owner[TOGETHER];
	uint8_t missed[TOGETHER], dirty[TOGETHER];
	struct loci_levels_eviction evicted[TOGETHER];
	struct loci_levels_batch batch = { .block = block,
		.is_write = no_write,
		.bytes = bytes,
		.owner = owner,
		.n = n,
		.ret_missed = missed,
		.ret_dirty = dirty,
		.ret_evicted = evicted };

	for (size_t i = 0; i < n; i++) {
		block[i] = line[i].block;
		bytes[i] = line[i].bytes;
		owner[i] = line[i].owner;
	}
	loci_levels_feed(levels, &batch);
}

void loci_levels_restore(struct loci_levels *levels, const struct loci_levels_line *line, size_t n)
{
	for (size_t i = 0; i < n; i += TOGETHER)
		feed(levels, line + i, n - i < TOGETHER ? n - i : TOGETHER);
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < levels->n; k++)
			if (!levels->level[k].held)
				set_dirty(levels, &levels->level[k], &line[i]);
}
