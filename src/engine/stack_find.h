/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stages of the stack kernel that find the entries of runs before these are counted: nothing
 * changes here, memory is only asked for. Included by stack_kernel.h only. */
#ifndef LOCI_ENGINE_STACK_FIND_H
#define LOCI_ENGINE_STACK_FIND_H

#include "engine/stack_line.h"
#include "engine/stack_runs.h"

#define BATCH      LOCI_STACK_BATCH
/* How many runs ahead of counting a home is asked for, those not in their homes are followed, and
 * an entry is looked for; the first two a batch at a time. */
#define AHEAD_HOME (3 * BATCH)
#define AHEAD_AWAY BATCH
#define AHEAD_FIND 8
#define RING       (4 * BATCH) /* a power of two, at least AHEAD_HOME + BATCH */

/* What callers give, and so what a body of the loop is compiled for. */
struct kernel_mode {
	bool sampling, uses, runs, recent;
	/* Only counts are wanted, or what enters the most recent blocks, which comes from below
	 * them. Then blocks in the top are found as soon in the map as by hints, and those below
	 * it sooner. */
	bool no_hints;
	bool finger; /* not resting (stack_state.h) */
};

/* Of runs: first the home, then the bucket where the block should be, after the second stage the
 * slot of the entry, plus UNSURE if that may not be the block's; 0: it was in the top. */
struct kernel_ring {
	uintptr_t found[RING];
};

#define UNSURE ((uintptr_t)1)

/* Lines of slots up to which they stay in the machine's caches anyhow. */
#define NEAR_LINES 4096

INLINE struct loci_stack_bucket *kernel_home(
	struct loci_stack *stack, uint64_t hash, struct kernel_mode mode)
{
	if (mode.sampling && !loci_stack_sampled(hash, stack->sample->shift))
		return stack->sample->front + loci_stack_home(hash, LOCI_STACK_FRONT_HOMES);
	return stack->map.bucket + loci_stack_home(hash, stack->map.n_homes);
}

/* The homes of a batch; each is asked for when its turn comes. */
INLINE void kernel_first_stage(
	struct loci_stack *stack, struct kernel_ring *ring, size_t from, struct kernel_mode mode)
{
	const uint64_t *hash = stack->runs.hash + from;
	uintptr_t *found = &ring->found[from % RING];

	kernel_homes(hash, BATCH, stack->map.bucket, stack->map.n_homes, found);
	for (size_t i = 0; mode.sampling && i < BATCH; i++)
		if (!loci_stack_sampled(hash[i], stack->sample->shift))
			found[i] = (uintptr_t)kernel_home(stack, hash[i], mode);
}

/* The buckets of a batch's blocks, of which one in seven is not in its home before the map grows.
 * Which ones is hard to predict: no branch. */
INLINE void kernel_away_stage(struct loci_stack *stack, struct kernel_ring *ring, size_t from)
{
	const uint64_t *hash = stack->runs.hash + from;
	uintptr_t *found = &ring->found[from % RING];

	if (stack->map.n_homes <= stack->tuning.near_homes)
		return;
	for (size_t i = 0; i < BATCH; i++) {
		struct loci_stack_bucket *home = (struct loci_stack_bucket *)found[i];
		unsigned away = loci_stack_away(home, hash[i]) & -!kernel_match(home, hash[i]);

		found[i] = (uintptr_t)(home + away);
		__builtin_prefetch(home + away, 1);
	}
}

/* An entry may be in none of these buckets: the next ones are only asked for. */
INLINE void kernel_second_stage(
	struct loci_stack *stack, struct kernel_ring *ring, size_t i, struct kernel_mode mode)
{
	struct loci_stack_bucket *bucket = (struct loci_stack_bucket *)ring->found[i % RING];
	uint64_t hash = stack->runs.hash[i];
	uint32_t *entry, slot;
	unsigned match;

	if (!mode.no_hints &&
		__builtin_expect(
			stack->key[stack->hint[hash >> LOCI_STACK_HINT_SHIFT]] == hash, 1)) {
		ring->found[i % RING] = 0;
		return;
	}
	match = kernel_match(bucket, hash);
	entry = &bucket->slot[__builtin_ctz(match | 4)];
	if (__builtin_expect(!match, 0)) {
		entry = loci_stack_first_empty(bucket);
		if (*entry) {
			__builtin_prefetch(bucket + 1, 1);
			__builtin_prefetch(bucket + 2, 1);
		}
	}
	slot = *entry;
	ring->found[i % RING] = (uintptr_t)entry + ((!match | !slot) ? UNSURE : 0);
	/* Some slot, if it has none. Never a branch: whether a block is deep is hard to predict. */
	if (mode.sampling)
		slot &= -(uint32_t)(slot != LOCI_STACK_DEAD);
	slot = (slot > LOCI_STACK_DEEP + 64 ? slot : LOCI_STACK_DEEP + 64) - LOCI_STACK_DEEP;
	if (mode.uses)
		__builtin_prefetch(&stack->slots.use[loci_stack_use_index(slot)]);
	if (stack->slots.n_lines <= NEAR_LINES)
		return;
	__builtin_prefetch(&stack->slots.line[slot >> 9], 1);
	__builtin_prefetch(&stack->slots.near[slot >> 9], 1);
}

/* Where a block is that no hint led to: one from below the top, or one whose hint another took. */
INLINE uint32_t *kernel_entry(
	struct loci_stack *stack, uintptr_t found, uint64_t hash, struct kernel_mode mode)
{
	uint32_t *entry = (uint32_t *)(found & ~UNSURE);

	if (!mode.no_hints && __builtin_expect(!found, 0)) /* it has left the top since */
		return kernel_find(kernel_home(stack, hash, mode), hash);
	if (found & UNSURE && *loci_stack_key(entry) != hash && *entry)
		return kernel_find(loci_stack_bucket_of(entry), hash);
	return entry;
}

/* A block that is new gets its entry. */
INLINE void kernel_add(
	struct loci_stack *stack, uint32_t *entry, uint64_t hash, struct kernel_mode mode)
{
	stack->map.n_entries++;
	*loci_stack_key(entry) = hash;
	loci_stack_set_away(kernel_home(stack, hash, mode), loci_stack_bucket_of(entry), hash);
}

#endif
