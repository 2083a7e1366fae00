/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's inner loop, a template: stack_scalar.c, stack_avx2.c and stack_avx512.c define
 * KERNEL_NAME and include it, each compiled for its instruction set. Only the primitives at the
 * top differ between them.
 *
 * Touches pass through three stages, a batch apart: hash and prefetch the bucket; find the entry
 * and prefetch the bits of its slot; count. Only the last changes anything, so an entry found early
 * is where it was, and one not found is looked for again from the same bucket on. */
#include "engine/stack_state.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define BATCH 32

typedef uint8_t kernel_ranks __attribute__((vector_size(LOCI_STACK_TOP), aligned(64)));
typedef uint16_t kernel_near __attribute__((vector_size(64), aligned(64)));
typedef uint32_t kernel_far __attribute__((vector_size(64), aligned(64)));

static inline unsigned kernel_popcount(uint64_t word)
{
#if defined(__POPCNT__)
	return (unsigned)__builtin_popcountll(word);
#else
	word -= (word >> 1) & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (unsigned)((word * 0x0101010101010101u) >> 56);
#endif
}

/* Which place has the given rank. */
static inline unsigned kernel_place_of(const uint8_t *rank, uint8_t wanted)
{
#if defined(__AVX512BW__)
	return (unsigned)__builtin_ctzll(
		_mm512_cmpeq_epi8_mask(_mm512_load_si512(rank), _mm512_set1_epi8((char)wanted)));
#elif defined(__AVX2__)
	const __m256i *v = (const __m256i *)rank;
	__m256i w = _mm256_set1_epi8((char)wanted);
	uint64_t mask = 0;

	for (unsigned i = 0; i < LOCI_STACK_TOP / 32; i++)
		mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v[i], w))
			<< (32 * i);
	return (unsigned)__builtin_ctzll(mask);
#elif defined(__SSE2__)
	const __m128i *v = (const __m128i *)rank;
	__m128i w = _mm_set1_epi8((char)wanted);
	uint64_t mask = 0;

	for (unsigned i = 0; i < LOCI_STACK_TOP / 16; i++)
		mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], w)) << (16 * i);
	return (unsigned)__builtin_ctzll(mask);
#else
	unsigned place = 0;

	while (rank[place] != wanted)
		place++;
	return place;
#endif
}

/* The entry of a hash, or the empty one where it belongs. */
static inline loci_stack_where kernel_find(
	const struct loci_stack_bucket *bucket, uint64_t home, uint64_t hash)
{
	for (;; home++) {
		const struct loci_stack_bucket *b = &bucket[home];
		unsigned found;

#if defined(__AVX512F__)
		__m512i line = _mm512_load_si512(b);

		found = _mm512_cmpeq_epi64_mask(line, _mm512_set1_epi64((long long)hash)) & 7u;
		found |= (unsigned)_mm512_testn_epi32_mask(line, line) >> 12 & 7u;
#else
		found = (unsigned)(b->key[0] == hash) | (unsigned)(b->key[1] == hash) << 1 |
			(unsigned)(b->key[2] == hash) << 2;
		found |= (unsigned)!b->slot[0] | (unsigned)!b->slot[1] << 1 |
			(unsigned)!b->slot[2] << 2;
#endif
		if (__builtin_expect(found != 0, 1))
			return (loci_stack_where)home << 2 | (unsigned)__builtin_ctz(found);
	}
}

/* Adds to the counts of all siblings before one. */
static inline void kernel_add_near(uint16_t *near, uint32_t line, int change)
{
	static const kernel_near index = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
		17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
	kernel_near *v = (kernel_near *)(near + (line & ~(LOCI_STACK_NEAR - 1u)));

	*v += (kernel_near)(index < (uint16_t)(line & (LOCI_STACK_NEAR - 1))) & (uint16_t)change;
}

static inline void kernel_add_far(uint32_t *far, uint32_t group, int change)
{
	static const kernel_far index = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	kernel_far *v = (kernel_far *)(far + (group & ~(LOCI_STACK_FAR - 1u)));

	*v += (kernel_far)(index < (group & (LOCI_STACK_FAR - 1))) & (uint32_t)change;
}

static const uint64_t kernel_words_before[8] = { 0, 0, 0x1, 0x201, 0x40201, 0x8040201, 0x1008040201,
	0x201008040201 };

/* Counts the set bits after a slot and clears it. */
static inline uint64_t kernel_take_slot(struct loci_stack_slots *slots, uint32_t slot)
{
	uint32_t line = slot >> 9, group = line / LOCI_STACK_NEAR;
	unsigned word = slot >> 6 & 7;
	struct loci_stack_line *l = &slots->line[line];
	uint64_t counts = l->word[0], bits = l->word[word];
	uint64_t after =
		kernel_popcount(bits >> 1 >> (slot & 63)) + (counts >> (9 * (word - 1)) & 511);

	l->word[0] = counts - kernel_words_before[word];
	l->word[word] = bits & ~(1ull << (slot & 63));
	if (line == slots->open) {
		slots->open_live--;
		return after;
	}
	after += slots->open_live + slots->near[line];
	kernel_add_near(slots->near, line, -1);
	for (unsigned i = 0; i < slots->n_far; i++) {
		after += slots->far[i][group];
		kernel_add_far(slots->far[i], group, -1);
		group /= LOCI_STACK_FAR;
	}
	return after;
}

/* Gives the block that leaves the top the next slot. */
static inline uint32_t kernel_new_slot(struct loci_stack_slots *slots)
{
	uint32_t slot = slots->next;
	struct loci_stack_line *l = &slots->line[slot >> 9];

	l->word[0] += kernel_words_before[slot >> 6 & 7];
	l->word[slot >> 6 & 7] |= 1ull << (slot & 63);
	slots->open_live++;
	slots->next++;
	if (__builtin_expect(!(slots->next & 511), 0))
		loci_stack_slots_close_line(slots);
	return slot;
}

/* The block becomes the most recent one; all that were more recent than it sink by one. As ranks
 * are distinct, its own is the only one equal to it. */
static inline void kernel_raise(uint8_t *rank, uint8_t from)
{
	kernel_ranks *v = (kernel_ranks *)rank;

	*v = (*v - (kernel_ranks)(*v < from)) & (kernel_ranks)(*v != from);
}

/* The distance of a block that is not in the top, which it enters in place of the deepest there. A
 * block that is new has no slot to take, and no distance. */
static inline uint64_t kernel_enter(struct loci_stack *stack, loci_stack_where where, uint32_t slot)
{
	struct loci_stack_bucket *bucket = stack->map.bucket;
	unsigned place = kernel_place_of(stack->rank, LOCI_STACK_TOP - 1);
	loci_stack_where leaving = stack->place[place];
	uint64_t distance = LOCI_INFINITE;

	kernel_raise(stack->rank, LOCI_STACK_TOP - 1);
	if (slot)
		distance = stack->n_top + kernel_take_slot(&stack->slots, slot - LOCI_STACK_DEEP);
	else
		stack->map.n_entries++;
	stack->slots.live -= slot != 0;
	if (__builtin_expect(leaving != LOCI_STACK_NOWHERE, 1)) {
		bucket[leaving >> 2].slot[leaving & 3] =
			kernel_new_slot(&stack->slots) + LOCI_STACK_DEEP;
		stack->slots.live++;
	} else {
		stack->n_top++;
	}
	stack->place[place] = where;
	bucket[where >> 2].slot[where & 3] = place + 1;
	return distance;
}

static inline void kernel_touch(struct loci_stack *stack, loci_stack_where where, uint64_t hash,
	unsigned is_write, uint64_t now, uint64_t *ret_distance)
{
	struct loci_stack_counts *counts = stack->counts;
	struct loci_stack_bucket *b = &stack->map.bucket[where >> 2];
	uint32_t slot = b->slot[where & 3], bin, bin_time, dirty;
	uint64_t distance, stamp;

	if (__builtin_expect(slot != 0 && b->key[where & 3] != hash, 0)) {
		where = kernel_find(stack->map.bucket, where >> 2, hash);
		b = &stack->map.bucket[where >> 2];
		slot = b->slot[where & 3];
	}
	stamp = b->stamp[where & 3];
	bin_time = loci_stack_bin(now - (stamp >> LOCI_STACK_BIN_BITS));
	dirty = stamp & LOCI_STACK_BIN_COLD;
	if (slot - 1 < LOCI_STACK_TOP) {
		distance = stack->rank[slot - 1];
		kernel_raise(stack->rank, (uint8_t)distance);
		distance <<= stack->shift;
		bin = loci_stack_bin(distance);
	} else {
		distance = kernel_enter(stack, where, slot);
		if (__builtin_expect(slot != 0, 1)) {
			distance <<= stack->shift;
			bin = loci_stack_bin(distance);
		} else {
			b->key[where & 3] = hash;
			bin = bin_time = LOCI_STACK_BIN_COLD;
		}
	}
	counts->stack[bin]++;
	counts->time[bin_time]++;
	dirty = dirty > bin ? dirty : bin;
	counts->dirty[dirty] += is_write;
	dirty &= is_write - 1;
	b->stamp[where & 3] = now << LOCI_STACK_BIN_BITS | dirty;
	if (ret_distance)
		*ret_distance = distance;
}

struct kernel_batch {
	uint64_t hash[BATCH];
	uint64_t home[BATCH];
	loci_stack_where where[BATCH];
	size_t n;
};

static inline void kernel_hash(
	const struct loci_stack *stack, struct kernel_batch *batch, const uint64_t *block, size_t n)
{
	batch->n = n;
	for (size_t i = 0; i < n; i++) {
		batch->hash[i] = loci_stack_hash(block[i]);
		batch->home[i] = loci_stack_home(batch->hash[i], stack->map.n_homes);
		__builtin_prefetch(&stack->map.bucket[batch->home[i]], 1);
	}
}

static inline void kernel_look_up(const struct loci_stack *stack, struct kernel_batch *batch)
{
	const struct loci_stack_bucket *bucket = stack->map.bucket;

	for (size_t i = 0; i < batch->n; i++) {
		loci_stack_where where = kernel_find(bucket, batch->home[i], batch->hash[i]);
		uint32_t slot = bucket[where >> 2].slot[where & 3];

		batch->where[i] = where;
		if (slot >= LOCI_STACK_DEEP) {
			slot -= LOCI_STACK_DEEP;
			__builtin_prefetch(&stack->slots.line[slot >> 9], 1);
			__builtin_prefetch(&stack->slots.near[slot >> 9], 1);
		}
	}
}

static inline __attribute__((always_inline)) void kernel_run(struct loci_stack *stack,
	const uint64_t *block, const uint8_t *is_write, const uint64_t *when, size_t n,
	uint64_t *ret_distance)
{
	struct kernel_batch batch[3];
	uint64_t now = stack->now;
	size_t hashed = 0, done = 0;

	batch[1].n = batch[2].n = 0;
	for (unsigned turn = 0; done < n; turn = turn == 2 ? 0 : turn + 1) {
		struct kernel_batch *first = &batch[turn],
				    *third = &batch[turn == 2 ? 0 : turn + 1];
		struct kernel_batch *second = &batch[turn == 0 ? 2 : turn - 1];
		size_t take = n - hashed < BATCH ? n - hashed : BATCH;

		kernel_hash(stack, first, block + hashed, take);
		hashed += take;
		kernel_look_up(stack, second);
		for (size_t i = 0; i < third->n; i++, done++)
			kernel_touch(stack, third->where[i], third->hash[i],
				is_write ? is_write[done] : 0, when ? when[done] : now + done,
				ret_distance ? ret_distance + done : NULL);
	}
	stack->now = now + n;
}

/* One body for each combination of what callers give, so that the loop does not ask. */
void KERNEL_NAME(struct loci_stack *stack, const uint64_t *block, const uint8_t *is_write,
	const uint64_t *when, size_t n, uint64_t *ret_distance)
{
	if (when)
		kernel_run(stack, block, is_write, when, n, ret_distance);
	else if (!ret_distance && is_write)
		kernel_run(stack, block, is_write, NULL, n, NULL);
	else if (!ret_distance)
		kernel_run(stack, block, NULL, NULL, n, NULL);
	else
		kernel_run(stack, block, is_write, NULL, n, ret_distance);
}
