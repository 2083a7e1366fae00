// SPDX-License-Identifier: GPL-2.0-or-later
/* What the stack engine holds, for others: the most recent blocks come back from who kept them
 * (recent.h), and all of its blocks can be seen in order. */
#include "engine/stack_state.h"

/* A block has got a place: what leads to it there. */
static void know(struct loci_stack *stack, unsigned place)
{
	uint64_t key = *loci_stack_key(stack->place[place]);

	stack->key[place] = key;
	stack->hint[key >> LOCI_STACK_HINT_SHIFT] = (uint8_t)place;
}

void loci_stack_rank_top(struct loci_stack *stack)
{
	struct loci_stack_map *map = &stack->map;
	struct loci_stack_slots *slots = &stack->slots;

	for (uint64_t b = 0; b < map->n_homes + map->n_spare; b++)
		for (unsigned i = 0; i < LOCI_STACK_WAYS; i++) {
			uint32_t *slot = &map->bucket[b].slot[i];
			uint64_t rank;

			if (*slot < LOCI_STACK_DEEP)
				continue;
			rank = loci_stack_slots_after(slots, *slot - LOCI_STACK_DEEP);
			if (rank < LOCI_STACK_RANKED)
				stack->place[rank] = slot;
		}
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++) {
		uint32_t *slot = stack->place[i];

		if (!slot)
			continue;
		know(stack, i);
		if (i >= LOCI_STACK_RANKED)
			continue;
		if (slots->use)
			stack->use[i] = slots->use[loci_stack_use_index(*slot - LOCI_STACK_DEEP)];
		loci_stack_slots_clear(slots, *slot - LOCI_STACK_DEEP);
		*slot = i + 1;
	}
}

/* The stamp and the word of a block that others kept. */
static void take_back(
	struct loci_stack *stack, unsigned place, const struct loci_recent *recent, unsigned from)
{
	uint64_t *stamp = loci_stack_stamp(stack->place[place]);
	uint64_t dirty = *stamp & LOCI_STACK_BIN_COLD;

	if (dirty < recent->farthest[from])
		dirty = recent->farthest[from];
	*stamp = recent->time[from] << LOCI_STACK_BIN_BITS | dirty;
	stack->use[place] = recent->use[from];
	know(stack, place);
}

void loci_stack_leave_recent(struct loci_stack *stack, const struct loci_recent *recent,
	const uint64_t stack_count[LOCI_RECENT])
{
	loci_stack_add_recent(stack, recent, stack_count);
	if (!stack->sample)
		loci_stack_rank_top(stack);
	for (unsigned i = 0; i < LOCI_STACK_RANKED; i++)
		stack->rank[i] = (uint8_t)(stack->rank[i] + LOCI_RECENT);
	for (unsigned i = 0; i < LOCI_RECENT; i++) {
		unsigned place = LOCI_STACK_RANKED + i;

		/* Places not taken are below those that are. */
		stack->rank[place] = (uint8_t)(i < recent->n ? recent->ranks >> 8 * i & 0xff : i);
		if (i < recent->n)
			take_back(stack, place, recent, i);
	}
	stack->recent = false;
}

static unsigned n_places(const struct loci_stack *stack)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		n += stack->place[i] != NULL;
	return n;
}

size_t loci_stack_n_held(const struct loci_stack *stack)
{
	return loci_stack_n_deep(stack) + n_places(stack);
}

void loci_stack_held(const struct loci_stack *stack, uint64_t *ret_block, uint64_t *ret_use)
{
	const struct loci_stack_map *map = &stack->map;
	uint64_t n_deep = loci_stack_n_deep(stack), n = loci_stack_n_held(stack);
	const struct loci_stack_slots *slots = &stack->slots;

	for (uint64_t b = 0; b < map->n_homes + map->n_spare; b++)
		for (unsigned i = 0; i < LOCI_STACK_WAYS; i++) {
			uint32_t slot = map->bucket[b].slot[i];
			uint64_t at;

			if (slot < LOCI_STACK_DEEP)
				continue;
			slot -= LOCI_STACK_DEEP;
			at = n_deep - 1 - loci_stack_slots_after(slots, slot);
			ret_block[at] = loci_stack_block_of(map->bucket[b].key[i]);
			if (ret_use && slots->use)
				ret_use[at] = slots->use[loci_stack_use_index(slot)];
		}
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++) {
		uint64_t at = n - 1 - stack->rank[i];

		if (!stack->place[i])
			continue;
		ret_block[at] = loci_stack_block_of(stack->key[i]);
		if (ret_use && slots->use)
			ret_use[at] = stack->use[i];
	}
}
