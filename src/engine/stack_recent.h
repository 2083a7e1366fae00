/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What enters and leaves the most recent blocks, which others keep (recent.h). They have the last
 * places of the top, without ranks: in their stamps stands what is dirty of them.
 *
 * That is all of the top: of what enters here most comes from further away, so that ranks would
 * cost more than they spare, and a block that leaves gets a slot at once. Where blocks are sampled,
 * the rest of the top is needed, for what is exact then (stack_sample.c): a block that enters gives
 * its place in there to the one that leaves. Included by stack_kernel.h only. */
#ifndef LOCI_ENGINE_STACK_RECENT_H
#define LOCI_ENGINE_STACK_RECENT_H

/* The hashes of those that enter. Returns how many they are. */
INLINE size_t kernel_hash_recent(struct loci_stack_chunk *runs, const struct loci_stack_touches *t)
{
	size_t i = 0, n = 0;

	for (; i + BATCH <= t->n; i += BATCH) {
		uint64_t place[BATCH / 8];

		memcpy(place, t->recent.place + i, BATCH);
		if ((place[0] | place[1]) & LOCI_RECENT_STAYS * LOCI_RECENT_ONES) {
			for (size_t k = i; k < i + BATCH; k++) {
				runs->hash[n] = loci_stack_hash(t->block[k]);
				n += t->recent.place[k] < LOCI_RECENT_STAYS;
			}
			continue;
		}
		kernel_hash(t->block + i, BATCH, runs->hash + n);
		n += BATCH;
	}
	for (; i < t->n; i++) {
		runs->hash[n] = loci_stack_hash(t->block[i]);
		n += t->recent.place[i] < LOCI_RECENT_STAYS;
	}
	if (n)
		kernel_pad(runs, n);
	return n;
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

/* The touch i is the n-th that enters, of a block from below. */
INLINE void kernel_recent_enters(struct loci_stack *stack, const struct kernel_ring *ring, size_t n,
	size_t i, const struct loci_stack_touches *t, struct kernel_mode mode)
{
	uint64_t hash = stack->runs.hash[n];
	unsigned place = LOCI_STACK_RANKED + t->recent.place[i];
	uint32_t *entry = kernel_entry(stack, ring->found[n % RING], hash, mode), slot = *entry;
	uint32_t *leaving = stack->place[place];
	uint64_t leaving_dirty = stack->stamp[place];
	struct kernel_touch touch = { .stamp = *loci_stack_stamp(entry) };

	if (__builtin_expect(slot != 0, 1)) {
		slot -= LOCI_STACK_DEEP;
		touch.distance = LOCI_RECENT + kernel_take(&stack->slots, slot, mode);
		touch.bin = loci_stack_bin(touch.distance);
		if (mode.uses)
			touch.last_use = stack->slots.use[loci_stack_use_index(slot)];
	} else {
		kernel_add(stack, entry, hash, mode);
		touch.distance = LOCI_INFINITE;
		touch.bin = LOCI_STACK_BIN_COLD;
	}
	if (__builtin_expect(leaving != NULL, 1)) {
		if (leaving_dirty < t->recent.farthest[i])
			leaving_dirty = t->recent.farthest[i];
		slot = kernel_new_slot(&stack->slots, mode.finger);
		*leaving = slot + LOCI_STACK_DEEP;
		*loci_stack_stamp(leaving) =
			t->recent.left_time[i] << LOCI_STACK_BIN_BITS | leaving_dirty;
		if (mode.uses)
			stack->slots.use[loci_stack_use_index(slot)] = t->use[i];
	}
	stack->place[place] = entry;
	*entry = place + 1;
	stack->stamp[place] =
		kernel_count(stack, &touch, hash, t->recent.time[i], t->is_write[i], mode);
	if (t->ret_distance)
		t->ret_distance[i] = touch.distance;
	if (mode.uses)
		t->ret_last_use[i] = touch.last_use;
}

/* The same, where the rest of the top has ranks. */
INLINE void kernel_recent_enters_ranked(struct loci_stack *stack, const struct kernel_ring *ring,
	struct kernel_ranks *ranks, size_t n, size_t i, const struct loci_stack_touches *t,
	struct kernel_mode mode)
{
	uint64_t hash = stack->runs.hash[n], left_time = t->recent.left_time[i], leaving_dirty;
	unsigned hint = stack->hint[hash >> LOCI_STACK_HINT_SHIFT];
	unsigned place = LOCI_STACK_RANKED + t->recent.place[i];
	struct kernel_entrant entrant;

	leaving_dirty = stack->stamp[place] & LOCI_STACK_BIN_COLD;
	if (leaving_dirty < t->recent.farthest[i])
		leaving_dirty = t->recent.farthest[i];
	if (stack->key[hint] == hash)
		entrant = kernel_recent_top(stack, ranks, hint, place, mode);
	else
		entrant =
			kernel_recent_found(stack, ranks, ring->found[n % RING], hash, place, mode);
	if (left_time) {
		stack->stamp[entrant.touch.place] =
			left_time << LOCI_STACK_BIN_BITS | leaving_dirty;
		if (mode.uses)
			stack->use[entrant.touch.place] = t->use[i];
	}
	stack->place[place] = entrant.entry;
	stack->key[place] = hash;
	*entrant.entry = place + 1;
	stack->stamp[place] =
		kernel_count(stack, &entrant.touch, hash, t->recent.time[i], t->is_write[i], mode);
	if (t->ret_distance)
		t->ret_distance[i] = entrant.touch.distance;
	if (mode.uses)
		t->ret_last_use[i] = entrant.touch.last_use;
}

/* What stays is looked for nowhere. */
INLINE void kernel_recent_stages(struct loci_stack *stack, struct kernel_ring *ring,
	struct kernel_ranks *ranks, const struct loci_stack_touches *t, struct kernel_mode mode)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->recent.place[i] & LOCI_RECENT_STAYS) {
			kernel_recent_stays(stack, i, t, mode);
			continue;
		}
		if (n % BATCH == 0) {
			kernel_first_stage(stack, ring, n + AHEAD_HOME, mode);
			kernel_away_stage(stack, ring, n + AHEAD_AWAY);
		}
		__builtin_prefetch((void *)ring->found[(n + AHEAD_HOME) % RING], 1);
		kernel_second_stage(stack, ring, n + AHEAD_FIND, mode);
		if (mode.sampling)
			kernel_recent_enters_ranked(stack, ring, ranks, n, i, t, mode);
		else
			kernel_recent_enters(stack, ring, n, i, t, mode);
		n++;
	}
}

#endif
