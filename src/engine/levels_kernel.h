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
	__asm__("" : "+r"(match)); /* else the compiler tests the mask apart, which takes longer */
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

INLINE uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* An empty slot, the first such, or the one touched longest ago: stamps know their way, so that the
 * smallest tells all. Four minima that do not wait for each other; by words, because stamps were
 * stored as words not long ago. */
INLINE unsigned slots_oldest(const uint64_t *stamp, unsigned ways)
{
	uint64_t least[4] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	unsigned way = 0;

	for (; way + 4 <= ways; way += 4) {
		least[0] = smaller(least[0], stamp[way]);
		least[1] = smaller(least[1], stamp[way + 1]);
		least[2] = smaller(least[2], stamp[way + 2]);
		least[3] = smaller(least[3], stamp[way + 3]);
	}
	for (; way < ways; way++)
		least[0] = smaller(least[0], stamp[way]);
	least[0] = smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
	if (__builtin_expect(least[0] != 0, 1))
		return (unsigned)((least[0] & LOCI_LEVELS_WAY) >> LOCI_LEVELS_WAY_SHIFT);
	for (way = 0; stamp[way]; way++)
		;
	return way;
}

/* What an empty slot, or one that only pads a set, holds is not found in it, unless there is only
 * one set: then it comes after all slots in use. */
INLINE uint32_t level_find(const struct loci_level *level, uint64_t block, unsigned n)
{
	uint32_t base = (uint32_t)loci_levels_set(level, block) * n;
	uint64_t match = slots_match(level->block + base, n, block);
	uint32_t slot = base + (uint32_t)__builtin_ctzll(match | 1ull << 63);

	if (__builtin_expect(!match, 0) || (level->sets == 1 && !level->stamp[slot]))
		return LOCI_LEVELS_NONE;
	return slot;
}

struct taken {
	uint32_t slot;
	uint64_t leaving; /* stamp of the block that was there; 0: none */
};

/* A level takes in a block that it has not. The slot's stamp will know the way, nothing else. */
INLINE struct taken level_take(struct loci_level *level, uint64_t block)
{
	struct taken taken;
	uint64_t way = 0;

	if (level->is_list)
		taken.slot = loci_levels_list_take(level, block);
	else {
		taken.slot = (uint32_t)loci_levels_set(level, block) * level->stride;
		way = slots_oldest(level->stamp + taken.slot, level->ways);
		taken.slot += (uint32_t)way;
		level->block[taken.slot] = block;
	}
	taken.leaving = level->stamp[taken.slot];
	level->stamp[taken.slot] = way << LOCI_LEVELS_WAY_SHIFT;
	return taken;
}

/* A block that enters a level may be asked of all its descendants, and the one that leaves its slot
 * stands in the children. */
INLINE void level_expect(const struct loci_levels *levels, const struct loci_level *level,
	uint64_t block, uint32_t slot)
{
	for (unsigned inside = level->dominion & ~level->bit; inside; inside &= inside - 1) {
		const struct loci_level *child = &levels->level[__builtin_ctz(inside)];
		uint64_t base = loci_levels_set(child, block) * child->stride;

		if (level->children & child->bit)
			__builtin_prefetch(child->stamp + child->held[slot], 1);
		for (unsigned i = 0; !child->is_list && i < child->stride; i += 8) {
			__builtin_prefetch(child->block + base + i, 1);
			__builtin_prefetch(child->stamp + base + i, 1);
		}
	}
}

static uint64_t level_enter(struct loci_levels *levels, struct loci_level *level, uint64_t block,
	struct taken inner, uint8_t *missed);

/* Every child's part in a block entering the slot of a level and another leaving it. Returns where
 * the one that enters is dirty. */
INLINE uint64_t children_enter(struct loci_levels *levels, const struct loci_level *level,
	uint64_t block, struct taken taken, uint8_t *missed)
{
	uint64_t dirty = 0;

	for (unsigned children = level->children; children; children &= children - 1)
		dirty |= level_enter(
			levels, &levels->level[__builtin_ctz(children)], block, taken, missed);
	return dirty;
}

static uint64_t level_enter(struct loci_levels *levels, struct loci_level *level, uint64_t block,
	struct taken inner, uint8_t *missed)
{
	uint64_t dirty;
	uint32_t slot;

	if (inner.leaving) {
		slot = level->held[inner.slot];
		level->stamp[slot] = (inner.leaving & LOCI_LEVELS_INSIDE) |
			(level->stamp[slot] & LOCI_LEVELS_WAY) | (inner.leaving & level->dominion);
		if (level->is_list)
			loci_levels_list_link(level, slot);
	}
	slot = level->is_list ? loci_levels_list_find(level, block)
			      : level_find(level, block, level->stride);
	if (slot == LOCI_LEVELS_NONE) {
		struct taken taken;

		taken = level_take(level, block);
		*missed |= level->bit;
		dirty = children_enter(levels, level, block, taken, missed);
		slot = taken.slot;
	} else {
		dirty = level->stamp[slot] & LOCI_LEVELS_DIRTY;
		if (level->is_list)
			loci_levels_list_unlink(level, slot);
	}
	level->held[inner.slot] = slot;
	level->stamp[slot] = (level->stamp[slot] & LOCI_LEVELS_WAY) | LOCI_LEVELS_INSIDE;
	return dirty;
}

/* What happens at a root and concerns its descendants, in order. */
struct event {
	uint32_t touch, slot;
	uint64_t leaving; /* stamp of the block that was in the slot; 0: none */
	bool is_miss;     /* else the first write to the block since it came */
};

#define CHUNK 512 /* touches between going through a root and telling its descendants */
#define AHEAD 8   /* events that memory is asked for before they are told */

struct events {
	struct event event[2 * CHUNK + AHEAD];
	size_t n;
};

/* A root missed: returns the slot, whose stamp knows no time yet. */
static __attribute__((noinline)) uint32_t root_miss(struct loci_levels *levels,
	struct loci_level *level, struct loci_levels_batch *batch, size_t touch,
	struct events *events)
{
	struct taken taken = level_take(level, batch->block[touch]);

	if (level == levels->level) {
		if (taken.leaving)
			batch->ret_evicted[batch->n_evicted++] = (struct loci_levels_eviction){
				.owner = levels->owner[taken.slot],
				.used_bytes =
					(uint32_t)__builtin_popcountll(levels->bytes[taken.slot]),
			};
		levels->bytes[taken.slot] = 0;
		levels->owner[taken.slot] = batch->owner[touch];
	}
	level->written[taken.slot] = 0;
	events->event[events->n++] = (struct event){ .touch = (uint32_t)touch,
		.slot = taken.slot,
		.leaving = taken.leaving,
		.is_miss = true };
	return taken.slot;
}

INLINE uint32_t list_touch(struct loci_levels *levels, struct loci_level *level,
	struct loci_levels_batch *batch, size_t touch, struct events *events)
{
	uint32_t slot = loci_levels_list_find(level, batch->block[touch]);

	if (slot == LOCI_LEVELS_NONE)
		slot = root_miss(levels, level, batch, touch, events);
	else
		loci_levels_list_unlink(level, slot);
	if (!batch->place)
		loci_levels_list_link(level, slot);
	return slot;
}

/* The descendants of a root, some touches later: what they have to say is where lines are dirty,
 * and nobody asks for that before. */
static __attribute__((noinline)) void root_tell(struct loci_levels *levels,
	struct loci_level *level, struct loci_levels_batch *batch, struct events *events)
{
	const struct event *event = events->event, *end = event + events->n;

	for (size_t i = 0; i < AHEAD; i++)
		events->event[events->n + i].is_miss = false;
	for (size_t i = 0; i < AHEAD && i < events->n; i++)
		if (event[i].is_miss)
			level_expect(levels, level, batch->block[event[i].touch], event[i].slot);
	for (; event < end; event++) {
		uint8_t *dirty = &level->dirty[event->slot], missed = level->bit;
		struct taken taken = { event->slot, event->leaving };

		if (event[AHEAD].is_miss)
			level_expect(
				levels, level, batch->block[event[AHEAD].touch], event[AHEAD].slot);
		if (!event->is_miss) {
			batch->ret_dirty[event->touch] |= level->dominion & (uint8_t) ~*dirty;
			*dirty = level->dominion;
			continue;
		}
		if (taken.leaving)
			taken.leaving |= *dirty;
		*dirty = (uint8_t)children_enter(
			levels, level, batch->block[event->touch], taken, &missed);
		batch->ret_missed[event->touch] |= missed;
	}
	events->n = 0;
}

/* What a body of the loop is compiled for. */
struct root_kind {
	unsigned slots; /* to search in a set, and sets are a power of two; 0: any, and any */
	bool is_list;
	bool is_first; /* level */
	bool recent;   /* only what enters and leaves the most recent blocks */
};

/* The block that was in a place of the most recent ones is one of many again. */
INLINE void root_release(struct loci_levels *levels, struct loci_level *level,
	const struct loci_levels_batch *batch, size_t touch, struct root_kind kind)
{
	uint32_t slot = level->recent[batch->place[touch]];

	level->stamp[slot] = batch->left_time[touch] << LOCI_LEVELS_TIME_SHIFT |
		(level->stamp[slot] & LOCI_LEVELS_WAY);
	if (kind.is_list)
		loci_levels_list_link(level, slot);
	if (kind.is_first)
		levels->bytes[slot] |= batch->bytes[touch];
}

/* A touch waits for none before it: what it stores it has not loaded, but for the bytes and, now
 * and then, what it finds clean. */
INLINE void root_touch(struct loci_levels *levels, struct loci_level *level,
	struct loci_levels_batch *batch, size_t from, size_t to, struct events *events,
	struct root_kind kind)
{
	struct loci_level fixed = *level; /* which no store below can change */
	const uint64_t *block = batch->block, *bytes = batch->bytes;
	const uint8_t *is_write = batch->is_write;
	uint64_t *stamp = level->stamp, *used = levels->bytes, now = levels->now;
	uint8_t *written = level->written;

	if (kind.slots) {
		fixed.stride = kind.slots;
		fixed.sets = fixed.set_mask + 1;
	}
	for (size_t i = from; i < to; i++) {
		uint32_t slot;
		uint64_t way;

		if (kind.recent && batch->place[i] & LOCI_RECENT_STAYS) {
			slot = level->recent[batch->place[i] & (LOCI_RECENT - 1)];
			goto found;
		}
		if (kind.recent && batch->left_time[i])
			root_release(levels, level, batch, i, kind);
		if (kind.is_list)
			slot = list_touch(levels, level, batch, i, events);
		else if ((slot = level_find(&fixed, block[i], fixed.stride)) == LOCI_LEVELS_NONE)
			slot = root_miss(levels, level, batch, i, events);
		way = kind.slots ? (slot & (kind.slots - 1)) << LOCI_LEVELS_WAY_SHIFT
				 : stamp[slot] & LOCI_LEVELS_WAY;
		if (kind.recent) {
			stamp[slot] = LOCI_LEVELS_INSIDE | way;
			level->recent[batch->place[i]] = slot;
		} else {
			stamp[slot] = (now + i) << LOCI_LEVELS_TIME_SHIFT | way;
		}
	found:
		if (__builtin_expect(is_write[i] & ~written[slot], 0)) {
			written[slot] = 1;
			events->event[events->n++] =
				(struct event){ .touch = (uint32_t)i, .slot = slot };
		}
		if (kind.is_first && !kind.recent)
			used[slot] |= bytes[i];
	}
}

INLINE void root_run(struct loci_levels *levels, struct loci_level *level,
	struct loci_levels_batch *batch, struct root_kind kind)
{
	struct events events;

	events.n = 0;
	for (size_t from = 0; from < batch->n; from += CHUNK) {
		size_t to = batch->n - from < CHUNK ? batch->n : from + CHUNK;

		root_touch(levels, level, batch, from, to, &events, kind);
		root_tell(levels, level, batch, &events);
	}
}

INLINE void levels_run(struct loci_levels *levels, struct loci_levels_batch *batch, bool recent)
{
	struct loci_level *first = &levels->level[0];

	if (first->is_list)
		root_run(levels, first, batch, (struct root_kind){ 0, true, true, recent });
	else if (first->stride == 8 && first->set_mask)
		root_run(levels, first, batch, (struct root_kind){ 8, false, true, recent });
	else if (first->stride == 16 && first->set_mask)
		root_run(levels, first, batch, (struct root_kind){ 16, false, true, recent });
	else
		root_run(levels, first, batch, (struct root_kind){ 0, false, true, recent });
	for (unsigned i = 1; i < levels->n; i++) {
		struct loci_level *level = &levels->level[i];

		if (level->held)
			continue;
		if (level->is_list)
			root_run(
				levels, level, batch, (struct root_kind){ 0, true, false, recent });
		else
			root_run(levels, level, batch,
				(struct root_kind){ 0, false, false, recent });
	}
}

void KERNEL_NAME(struct loci_levels *levels, struct loci_levels_batch *batch)
{
	memset(batch->ret_missed, 0, batch->n);
	memset(batch->ret_dirty, 0, batch->n);
	if (batch->place)
		levels_run(levels, batch, true);
	else
		levels_run(levels, batch, false);
	levels->now += batch->n;
}
