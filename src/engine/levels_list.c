// SPDX-License-Identifier: GPL-2.0-or-later
/* Levels with more ways than are worth searching, fully associative ones above all. */
#include "engine/levels_state.h"

static uint64_t home(const struct loci_levels_list *list, uint64_t block)
{
	uint64_t hash = (block ^ block >> 32) * 0x9e3779b97f4a7c15u;

	return (hash ^ hash >> 32) & list->map_mask;
}

static uint64_t find(const struct loci_level *level, uint64_t block)
{
	const struct loci_levels_list *list = &level->list;
	uint64_t at = home(list, block);

	while (list->map[at] && level->block[list->map[at] - 1] != block)
		at = (at + 1) & list->map_mask;
	return at;
}

uint32_t loci_levels_list_find(const struct loci_level *level, uint64_t block)
{
	return level->list.map[find(level, block)] - 1; /* NONE is -1 */
}

/* Those after it that it kept from their homes move up. */
static void forget(struct loci_level *level, uint64_t block)
{
	struct loci_levels_list *list = &level->list;
	uint64_t hole = find(level, block);

	for (uint64_t at = (hole + 1) & list->map_mask; list->map[at];
		at = (at + 1) & list->map_mask) {
		uint64_t from = home(list, level->block[list->map[at] - 1]);

		if (((at - from) & list->map_mask) < ((at - hole) & list->map_mask))
			continue;
		list->map[hole] = list->map[at];
		hole = at;
	}
	list->map[hole] = 0;
}

/* The ends of a set's list: its older is the newest slot, its newer the oldest. */
static uint32_t ends(const struct loci_level *level, uint64_t set)
{
	return (uint32_t)(level->n_slots + set);
}

void loci_levels_list_unlink(struct loci_level *level, uint32_t slot)
{
	struct loci_levels_link *link = level->list.link;

	link[link[slot].newer].older = link[slot].older;
	link[link[slot].older].newer = link[slot].newer;
}

void loci_levels_list_link(struct loci_level *level, uint32_t slot)
{
	struct loci_levels_link *link = level->list.link;
	uint32_t end = ends(level, slot / level->stride), newest = link[end].older;

	link[slot] = (struct loci_levels_link){ .newer = end, .older = newest };
	link[newest].newer = slot;
	link[end].older = slot;
}

void loci_levels_list_empty(struct loci_level *level, uint32_t slot)
{
	struct loci_levels_link *link = level->list.link;
	uint32_t end = ends(level, slot / level->stride), oldest = link[end].newer;

	forget(level, level->block[slot]);
	level->stamp[slot] = 0;
	link[slot] = (struct loci_levels_link){ .newer = oldest, .older = end };
	link[oldest].older = slot;
	link[end].newer = slot;
}

uint32_t loci_levels_list_take(struct loci_level *level, uint64_t block)
{
	struct loci_levels_list *list = &level->list;
	uint64_t set = loci_levels_set(level, block);
	uint32_t slot, end = ends(level, set);

	if (list->used[set] < level->ways) {
		/* A list's ends meet themselves from its first block on. */
		if (!list->used[set])
			list->link[end] = (struct loci_levels_link){ end, end };
		slot = (uint32_t)(set * level->stride) + list->used[set]++;
	} else {
		slot = list->link[end].newer;
		loci_levels_list_unlink(level, slot);
		if (level->stamp[slot])
			forget(level, level->block[slot]);
	}
	level->block[slot] = block;
	list->map[find(level, block)] = slot + 1;
	return slot;
}
