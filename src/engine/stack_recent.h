/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What enters and leaves the most recent blocks, which others keep (recent.h). They have the last
 * places of the top, without ranks: in their stamps stands what is dirty of them. A block that
 * enters gives its place in the rest of the top to the one that leaves. Included by stack_kernel.h
 * only. */
#ifndef LOCI_ENGINE_STACK_RECENT_H
#define LOCI_ENGINE_STACK_RECENT_H

INLINE void kernel_hash_recent(struct loci_stack_chunk *runs, const struct loci_stack_touches *t)
{
	size_t i = 0;

	for (; i + BATCH <= t->n; i += BATCH)
		kernel_hash(t->block + i, BATCH, runs->hash + i);
	for (; i < t->n; i++)
		runs->hash[i] = loci_stack_hash(t->block[i]);
	kernel_pad(runs, t->n);
}

/* The first write to a block that stays. */
INLINE void kernel_recent_stays(struct loci_stack *stack, size_t i,
	const struct loci_stack_touches *t, struct kernel_mode mode)
{
	unsigned place = LOCI_STACK_RANKED + (t->recent.place[i] & (LOCI_RECENT - 1));
	uint32_t dirty = stack->stamp[place] & LOCI_STACK_BIN_COLD, rank = t->recent.rank[i];

	if (dirty < t->recent.farthest[i])
		dirty = t->recent.farthest[i];
	stack->counts->stack[rank]++;
	stack->counts->dirty[dirty]++;
	stack->stamp[place] &= ~(uint64_t)LOCI_STACK_BIN_COLD;
	if (t->ret_distance)
		t->ret_distance[i] = rank;
	if (mode.uses)
		t->ret_last_use[i] = 0;
}

/* What is left of a block when it enters. */
struct kernel_entrant {
	struct kernel_touch touch; /* whose place is where the one that leaves is now */
	uint32_t *entry;
};

/* A block of the top's rest: the one that leaves takes its place. */
INLINE struct kernel_entrant kernel_recent_top(struct loci_stack *stack, struct kernel_ranks *ranks,
	unsigned place, unsigned leaving, struct kernel_mode mode)
{
	struct kernel_entrant entrant = { kernel_touch_top(stack, ranks, place, mode),
		stack->place[place] };
	uint64_t key = stack->key[leaving];

	entrant.touch.distance = entrant.touch.bin += LOCI_RECENT;
	stack->place[place] = stack->place[leaving];
	stack->key[place] = key;
	stack->hint[key >> LOCI_STACK_HINT_SHIFT] = (uint8_t)place;
	*stack->place[place] = place + 1;
	return entrant;
}

/* As kernel_touch_found; but here most blocks are from below the top. */
INLINE struct kernel_entrant kernel_recent_found(struct loci_stack *stack,
	struct kernel_ranks *ranks, uintptr_t found, uint64_t hash, unsigned leaving,
	struct kernel_mode mode)
{
	struct kernel_deep deep = { .entry = kernel_entry(stack, found, hash, mode), .hash = hash };
	uint32_t slot = *deep.entry;

	if (slot - 1 < LOCI_STACK_RANKED)
		return kernel_recent_top(stack, ranks, slot - 1, leaving, mode);
	deep.stamp = *loci_stack_stamp(deep.entry);
	kernel_take_deep(stack, &deep, mode);
	if (stack->place[leaving])
		deep.place = kernel_enter(
			stack, ranks, stack->place[leaving], stack->key[leaving], mode);
	return (struct kernel_entrant){
		{ deep.distance, deep.stamp, deep.last_use, deep.bin, deep.place }, deep.entry
	};
}

INLINE void kernel_recent_stage(struct loci_stack *stack, const struct kernel_ring *ring,
	struct kernel_ranks *ranks, size_t i, const struct loci_stack_touches *t,
	struct kernel_mode mode)
{
	uint64_t hash = stack->runs.hash[i], left_time = t->recent.left_time[i], leaving_dirty;
	unsigned hint = stack->hint[hash >> LOCI_STACK_HINT_SHIFT], place = t->recent.place[i];
	struct kernel_entrant entrant;

	if (place & LOCI_RECENT_STAYS) {
		kernel_recent_stays(stack, i, t, mode);
		return;
	}
	place += LOCI_STACK_RANKED;
	leaving_dirty = stack->stamp[place] & LOCI_STACK_BIN_COLD;
	if (leaving_dirty < t->recent.farthest[i])
		leaving_dirty = t->recent.farthest[i];
	if (stack->key[hint] == hash)
		entrant = kernel_recent_top(stack, ranks, hint, place, mode);
	else
		entrant =
			kernel_recent_found(stack, ranks, ring->found[i % RING], hash, place, mode);
	if (left_time) {
		stack->stamp[entrant.touch.place] =
			left_time << LOCI_STACK_BIN_BITS | leaving_dirty;
		if (mode.uses)
			stack->use[entrant.touch.place] = t->use[i];
	}
	stack->place[place] = entrant.entry;
	stack->key[place] = hash;
	*entrant.entry = place + 1;
	stack->stamp[place] = t->recent.time[i] << LOCI_STACK_BIN_BITS |
		kernel_count(stack, &entrant.touch, hash, t->recent.time[i], t->is_write[i], mode);
	if (t->ret_distance)
		t->ret_distance[i] = entrant.touch.distance;
	if (mode.uses)
		t->ret_last_use[i] = entrant.touch.last_use;
}

#endif
