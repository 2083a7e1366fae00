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
		if (level->stamp[slot] && level->block[slot] == block)
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

static int by_block(const void *a, const void *b)
{
	const struct loci_levels_line *x = a, *y = b;

	return (x->block > y->block) - (x->block < y->block);
}

static int by_time(const void *a, const void *b)
{
	const struct loci_levels_line *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* Lines of the same block become one. */
static size_t unite(struct loci_levels_line *line, size_t n)
{
	size_t to = 0;

	qsort(line, n, sizeof(*line), by_block);
	for (size_t i = 0; i < n; i++) {
		if (!to || line[to - 1].block != line[i].block) {
			line[to++] = line[i];
			continue;
		}
		line[to - 1].levels |= line[i].levels;
		line[to - 1].dirty |= line[i].dirty;
		line[to - 1].bytes |= line[i].bytes;
		line[to - 1].owner |= line[i].owner; /* only one has it */
	}
	return to;
}

int loci_levels_lines(const struct loci_levels *levels, uint8_t wanted,
	struct loci_levels_line **ret, size_t *ret_n)
{
	struct loci_levels_line *line;
	size_t n = 0, to = 0;

	for (unsigned i = 0; i < levels->n; i++)
		n += levels->level[i].n_slots;
	line = malloc((n + 1) * sizeof(*line));
	if (!line)
		return -ENOMEM;
	n = 0;
	for (unsigned i = 0; i < levels->n; i++) {
		const struct loci_level *level = &levels->level[i];

		for (uint32_t slot = 0; slot < level->n_slots; slot++)
			if (level->stamp[slot])
				line[n++] = (struct loci_levels_line){
					.block = level->block[slot],
					.time = time_of(levels, i, level->block[slot], slot),
					.levels = level->bit,
					.dirty = dirty_of(level, slot),
					.owner = i ? 0 : levels->owner[slot],
					.bytes = i ? 0 : levels->bytes[slot],
				};
	}
	n = unite(line, n);
	for (size_t i = 0; i < n; i++)
		if (line[i].levels & wanted)
			line[to++] = line[i];
	qsort(line, to, sizeof(*line), by_time);
	*ret = line;
	*ret_n = to;
	return 0;
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

void loci_levels_restore(struct loci_levels *levels, const struct loci_levels_line *line, size_t n)
{
	static const uint8_t no_write;

	for (size_t i = 0; i < n; i++) {
		struct loci_levels_eviction evicted;
		uint8_t missed, dirty;
		struct loci_levels_batch batch = { .block = &line[i].block,
			.is_write = &no_write,
			.bytes = &line[i].bytes,
			.owner = &line[i].owner,
			.n = 1,
			.ret_missed = &missed,
			.ret_dirty = &dirty,
			.ret_evicted = &evicted };

		loci_levels_feed(levels, &batch);
	}
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < levels->n; k++)
			if (!levels->level[k].held)
				set_dirty(levels, &levels->level[k], &line[i]);
}
