/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulator's inner loop, a template: levels_scalar.c, levels_avx2.c and levels_avx512.c define
 * KERNEL_NAME and include it, each compiled for its instruction set. Only the search of a set
 * differs between them. levels_state.h says why what happens here is exact. */
#include "engine/levels_state.h"

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* Which of n slots, a multiple of the vector's, hold a block: bits. */
INLINE uint64_t slots_match(const uint64_t *slot, unsigned n, uint64_t block)
{
	uint64_t match = 0;

#if defined(__AVX512F__)
	__m512i wanted = _mm512_set1_epi64((long long)block);

	for (unsigned i = 0; i < n; i += 8)
		match |= (uint64_t)_mm512_cmpeq_epi64_mask(_mm512_load_si512(slot + i), wanted)
			<< i;
#elif defined(__AVX2__)
	__m256i wanted = _mm256_set1_epi64x((long long)block);

	for (unsigned i = 0; i < n; i += 8) {
		const __m256i *v = (const __m256i *)(slot + i);
		__m256i low = _mm256_cmpeq_epi64(v[0], wanted);
		__m256i high = _mm256_cmpeq_epi64(v[1], wanted);

		match |= (uint64_t)(unsigned)(_mm256_movemask_pd(_mm256_castsi256_pd(low)) |
				 _mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4)
			<< i;
	}
#else
	for (unsigned i = 0; i < n; i++)
		match |= (uint64_t)(slot[i] == block) << i;
#endif
	return match;
}

/* The first of the smallest states: an empty slot, or the one touched longest ago. */
INLINE unsigned slots_oldest(const uint64_t *state, unsigned ways)
{
	unsigned oldest = 0;

	for (unsigned i = 1; i < ways; i++)
		oldest = state[i] < state[oldest] ? i : oldest;
	return oldest;
}

/* An empty slot, or one that only pads a set, holds the block 0, after all slots in use. */
INLINE uint32_t level_find(
	const struct loci_level *level, uint64_t block, uint32_t base, unsigned n)
{
	uint64_t match = slots_match(level->block + base, n, block);
	uint32_t slot = base + (uint32_t)__builtin_ctzll(match | 1ull << 63);

	return match && level->state[slot] ? slot : LOCI_LEVELS_NONE;
}

static uint64_t level_enter(struct loci_levels *levels, unsigned i, uint64_t block, uint32_t inner,
	uint64_t leaving, uint8_t *missed);

/* Every child's part in a block entering slot of a level and one leaving it, whose state is given,
 * 0 if the slot was empty. Returns where the block is dirty. */
INLINE uint64_t children_enter(struct loci_levels *levels, const struct loci_level *level,
	uint64_t block, uint32_t slot, uint64_t leaving, uint8_t *missed)
{
	uint64_t dirty = 0;

	for (unsigned children = level->children; children; children &= children - 1)
		dirty |= level_enter(
			levels, (unsigned)__builtin_ctz(children), block, slot, leaving, missed);
	return dirty;
}

/* A level takes in a block that it has not. Returns the slot; the state of the one that left is
 * still there. */
INLINE uint32_t level_take(struct loci_level *level, uint64_t block)
{
	uint32_t slot;

	if (level->is_list)
		return loci_levels_list_take(level, block);
	slot = (uint32_t)(loci_levels_set(level, block) * level->stride);
	slot += slots_oldest(level->state + slot, level->ways);
	level->block[slot] = block;
	return slot;
}

/* The parent of level i took a block in its slot inner, which another one left. */
static __attribute__((noinline)) uint64_t level_enter(struct loci_levels *levels, unsigned i,
	uint64_t block, uint32_t inner, uint64_t leaving, uint8_t *missed)
{
	struct loci_level *level = &levels->level[i];
	uint32_t base = (uint32_t)(loci_levels_set(level, block) * level->stride), slot;
	uint64_t dirty;

	if (leaving) {
		slot = level->held[inner];
		level->state[slot] =
			(leaving & ~(uint64_t)LOCI_LEVELS_DIRTY) | (leaving & level->dominion);
		if (level->is_list)
			loci_levels_list_link(level, slot);
	}
	slot = level->is_list ? loci_levels_list_find(level, block)
			      : level_find(level, block, base, level->stride);
	if (slot == LOCI_LEVELS_NONE) {
		*missed |= level->bit;
		slot = level_take(level, block);
		dirty = children_enter(levels, level, block, slot, level->state[slot], missed);
	} else {
		dirty = level->state[slot] & LOCI_LEVELS_DIRTY;
		if (level->is_list)
			loci_levels_list_unlink(level, slot);
	}
	level->held[inner] = slot;
	level->state[slot] = LOCI_LEVELS_INSIDE;
	return dirty;
}

/* A root missed: returns the slot, whose state says where the block is dirty and no time. */
static __attribute__((noinline)) uint32_t root_miss(struct loci_levels *levels,
	struct loci_level *level, uint64_t block, struct loci_levels_batch *batch, size_t touch)
{
	uint32_t slot = level_take(level, block);
	uint64_t leaving = level->state[slot];
	uint8_t missed = level->bit;

	level->state[slot] = children_enter(levels, level, block, slot, leaving, &missed);
	batch->ret_missed[touch] |= missed;
	if (level->bit != 1)
		return slot;
	if (leaving)
		batch->ret_evicted[batch->n_evicted++] = (struct loci_levels_eviction){
			.owner = levels->owner[slot],
			.used_bytes = (uint32_t)__builtin_popcountll(levels->bytes[slot]),
		};
	levels->bytes[slot] = 0;
	levels->owner[slot] = batch->owner[touch];
	return slot;
}

/* n: slots to search in a set. */
INLINE void root_touch(struct loci_levels *levels, struct loci_level *level, unsigned n,
	struct loci_levels_batch *batch, size_t touch, uint64_t now)
{
	uint64_t block = batch->block[touch], state;
	uint32_t base = (uint32_t)(loci_levels_set(level, block) * level->stride);
	uint32_t slot = level_find(level, block, base, n);
	uint8_t dirtied = level->dominion & -batch->is_write[touch];

	if (__builtin_expect(slot == LOCI_LEVELS_NONE, 0))
		slot = root_miss(levels, level, block, batch, touch);
	state = level->state[slot] & LOCI_LEVELS_DIRTY;
	batch->ret_dirty[touch] |= dirtied & ~state;
	level->state[slot] = now << LOCI_LEVELS_TIME_BITS | state | dirtied;
	if (level->bit == 1)
		levels->bytes[slot] |= batch->bytes[touch];
}

static void list_touch(struct loci_levels *levels, struct loci_level *level,
	struct loci_levels_batch *batch, size_t touch, uint64_t now)
{
	uint64_t block = batch->block[touch], state;
	uint32_t slot = loci_levels_list_find(level, block);
	uint8_t dirtied = level->dominion & -batch->is_write[touch];

	if (slot == LOCI_LEVELS_NONE)
		slot = root_miss(levels, level, block, batch, touch);
	else
		loci_levels_list_unlink(level, slot);
	loci_levels_list_link(level, slot);
	state = level->state[slot] & LOCI_LEVELS_DIRTY;
	batch->ret_dirty[touch] |= dirtied & ~state;
	level->state[slot] = now << LOCI_LEVELS_TIME_BITS | state | dirtied;
	if (level->bit == 1)
		levels->bytes[slot] |= batch->bytes[touch];
}

/* n: slots to search in a set, or 0: whatever the level says. */
INLINE void root_run(struct loci_levels *levels, struct loci_level *level, unsigned n,
	struct loci_levels_batch *batch)
{
	uint64_t now = levels->now;

	for (size_t i = 0; i < batch->n; i++)
		root_touch(levels, level, n ? n : level->stride, batch, i, now + i);
}

void KERNEL_NAME(struct loci_levels *levels, struct loci_levels_batch *batch)
{
	memset(batch->ret_missed, 0, batch->n);
	memset(batch->ret_dirty, 0, batch->n);
	for (unsigned i = 0; i < levels->n; i++) {
		struct loci_level *level = &levels->level[i];

		if (level->has_parent)
			continue;
		if (level->is_list)
			for (size_t touch = 0; touch < batch->n; touch++)
				list_touch(levels, level, batch, touch, levels->now + touch);
		else if (level->stride == 8)
			root_run(levels, level, 8, batch);
		else if (level->stride == 16)
			root_run(levels, level, 16, batch);
		else
			root_run(levels, level, 0, batch);
	}
	levels->now += batch->n;
}
