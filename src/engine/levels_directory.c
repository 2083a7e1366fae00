// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of the caches that threads share or have to themselves may have a block, or lost it. */
#include "engine/levels_shared_state.h"

#include "engine/stack_line.h"

#include <errno.h>

int loci_shared_make_room(struct loci_levels_shared *shared, struct loci_err *err)
{
	/* A touch of a chunk adds at most one holder for each part. */
	uint64_t holders = shared->map.chunk * LOCI_LEVELS + 1;

	while (!loci_stack_map_has_room(&shared->map)) {
		uint64_t n_homes = loci_stack_map_next_homes(&shared->map);

		if (n_homes > LOCI_STACK_MAX_HOMES ||
			loci_stack_map_grow(&shared->map, n_homes, NULL) < 0)
			return loci_err_nomem(err);
	}
	if (loci_shared_reach(&shared->holder, &shared->holder_room, shared->n_holders + holders,
		    sizeof(*shared->holder)) < 0)
		return loci_err_nomem(err);
	return 0;
}

static uint32_t *entry_of(struct loci_levels_shared *shared, uint64_t block)
{
	uint64_t hash = loci_stack_hash(block);
	uint32_t *entry =
		kernel_find(shared->map.bucket + loci_stack_home(hash, shared->map.n_homes), hash);

	if (!*entry) {
		shared->map.n_entries++;
		*loci_stack_key(entry) = hash;
		*loci_stack_stamp(entry) = 0;
		*entry = LOCI_STACK_DEEP;
	}
	return entry;
}

static struct loci_shared_holder *find_holder(
	struct loci_levels_shared *shared, const uint32_t *entry, unsigned part, uint32_t group)
{
	for (uint32_t i = *entry - LOCI_STACK_DEEP; i; i = shared->holder[i].next)
		if (shared->holder[i].part == part && shared->holder[i].group == group)
			return &shared->holder[i];
	return NULL;
}

static void add_holder(
	struct loci_levels_shared *shared, uint32_t *entry, unsigned part, uint32_t group)
{
	uint32_t item = shared->free_holder;

	if (item)
		shared->free_holder = shared->holder[item].next;
	else
		item = ++shared->n_holders;
	shared->holder[item] = (struct loci_shared_holder){
		.next = *entry - LOCI_STACK_DEEP, .group = group, .part = (uint8_t)part
	};
	*entry = LOCI_STACK_DEEP + item;
}

/* Another touches the block. */
static void not_known(struct loci_shared_member *member, uint64_t block)
{
	if (member->known[loci_shared_known_at(block)] == block)
		member->known[loci_shared_known_at(block)] = block + 1; /* none */
}

static struct loci_levels_taken take_from(struct loci_shared_cache *cache, uint64_t block)
{
	struct loci_shared_newest *newest = &cache->newest;

	if (newest->block && newest->block[block % newest->sets] == block)
		newest->is[block % newest->sets] = 0;
	return loci_levels_invalidate(cache->levels, block);
}

/* The caches of a part that are not the member's lose the block. */
static int take_from_others(
	struct loci_levels_shared *shared, uint32_t *entry, struct loci_shared_look *look)
{
	uint32_t item, previous = 0;

	for (item = *entry - LOCI_STACK_DEEP; item;) {
		struct loci_shared_holder *holder = &shared->holder[item];
		const struct loci_shared_part *part = &shared->part[holder->part];
		struct loci_shared_cache *cache = &part->group[holder->group];
		struct loci_levels *levels = cache->levels;
		struct loci_levels_taken taken = { 0 };
		uint32_t next = holder->next;

		if (holder->group != loci_shared_group(part, look->member)) {
			/* one that has lost it has it again only by a miss, which clears that */
			if (levels && !holder->lost)
				taken = take_from(cache, look->block);
			holder->lost = levels ? holder->lost | taken.levels : 0;
			look->transfer |= (uint8_t)(taken.dirty << part->first);
			if (part->first == 0 && taken.levels & 1 &&
				loci_shared_add_evicted(shared, taken.eviction) < 0)
				return -ENOMEM;
			if (!holder->lost) {
				if (previous)
					shared->holder[previous].next = next;
				else
					*entry = LOCI_STACK_DEEP + next;
				holder->next = shared->free_holder;
				shared->free_holder = item;
				item = next;
				continue;
			}
		}
		previous = item;
		item = next;
	}
	return 0;
}

int loci_shared_look(struct loci_levels_shared *shared, struct loci_shared_look *look)
{
	uint32_t *entry = entry_of(shared, look->block);
	uint64_t *alone = loci_stack_stamp(entry);

	for (unsigned i = 0; i < shared->n_parts; i++) {
		const struct loci_shared_part *part = &shared->part[i];
		uint32_t group = loci_shared_group(part, look->member);
		struct loci_shared_holder *holder;

		if (part->threads == LOCI_SHARED_BY_ALL)
			continue;
		holder = find_holder(shared, entry, i, group);
		if (holder) {
			look->coherence |= (uint8_t)(holder->lost << part->first) & look->missed;
			holder->lost = 0;
		} else {
			add_holder(shared, entry, i, group);
		}
	}
	if (*alone && *alone != look->member + 1ull) {
		not_known(shared->member[*alone - 1], look->block);
		*alone = 0;
	}
	if (!look->is_write)
		return 0;
	*alone = look->member + 1ull;
	shared->member[look->member]->known[loci_shared_known_at(look->block)] = look->block;
	return take_from_others(shared, entry, look);
}

int loci_shared_add_holders(struct loci_levels_shared *shared, unsigned part, uint32_t group,
	const struct loci_levels_line *line, size_t n, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (i % shared->map.chunk == 0)
			r = loci_shared_make_room(shared, err);
		if (r == 0)
			add_holder(shared, entry_of(shared, line[i].block), part, group);
	}
	return r;
}
