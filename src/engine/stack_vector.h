/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the stack kernel needs of an instruction set: AVX-512, or else vectors of the width the
 * compiler was told of. Included by kernels only. */
#ifndef LOCI_ENGINE_STACK_VECTOR_H
#define LOCI_ENGINE_STACK_VECTOR_H

#include "engine/stack_state.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static inline __attribute__((always_inline)) unsigned kernel_popcount(uint64_t word)
{
#if defined(__POPCNT__) || !defined(__x86_64__)
	return (unsigned)__builtin_popcountll(word);
#else
	word -= (word >> 1) & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (unsigned)((word * 0x0101010101010101u) >> 56);
#endif
}

#if defined(__AVX512VBMI__)

struct kernel_ranks {
	__m512i v;
};

static inline __attribute__((always_inline)) void kernel_load_ranks(
	struct kernel_ranks *ranks, const uint8_t *from)
{
	ranks->v = _mm512_load_si512(from);
}

static inline __attribute__((always_inline)) void kernel_store_ranks(
	const struct kernel_ranks *ranks, uint8_t *to)
{
	_mm512_store_si512(to, ranks->v);
}

/* A block of the top becomes the most recent: all that were more recent sink by one. Returns the
 * rank it had. From one touch to the next this is four instructions long. */
static inline __attribute__((always_inline)) unsigned kernel_raise(
	struct kernel_ranks *ranks, unsigned place)
{
	__m512i v = ranks->v, had = _mm512_permutexvar_epi8(_mm512_set1_epi8((char)place), v);
	__m512i above = _mm512_min_epu8(_mm512_subs_epu8(had, v), _mm512_set1_epi8(1));

	ranks->v = _mm512_maskz_add_epi8(~(1ull << place), v, above);
	return (uint8_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(had));
}

/* A block enters the top: all sink by one, and the place of the deepest, which is returned, is its
 * own. What has no rank gets no further than the largest number. */
static inline __attribute__((always_inline)) unsigned kernel_push(
	struct kernel_ranks *ranks, unsigned n_ranked)
{
	__mmask64 deepest =
		_mm512_cmpeq_epi8_mask(ranks->v, _mm512_set1_epi8((char)(n_ranked - 1)));

	ranks->v = _mm512_maskz_adds_epu8(~deepest, ranks->v, _mm512_set1_epi8(1));
	return (unsigned)__builtin_ctzll(deepest);
}

/* Which of a bucket's keys equals a hash, as bits. What is loaded here is not stored to on most
 * touches: a load that overlaps a smaller store just made has to wait. */
static inline __attribute__((always_inline)) unsigned kernel_match(
	const struct loci_stack_bucket *b, uint64_t hash)
{
	return _mm256_cmpeq_epi64_mask(
		       _mm256_load_si256((const __m256i *)b), _mm256_set1_epi64x((long long)hash)) &
		7u;
}

/* By n less in all siblings before one. */
static inline __attribute__((always_inline)) void kernel_lower_near(
	uint16_t *near, uint32_t line, uint32_t n)
{
	uint16_t *siblings = near + (line & ~(LOCI_STACK_NEAR - 1u));
	__mmask32 before = (1u << (line & (LOCI_STACK_NEAR - 1))) - 1;
	__m512i v = _mm512_load_si512(siblings);

	_mm512_store_si512(
		siblings, _mm512_mask_sub_epi16(v, before, v, _mm512_set1_epi16((short)n)));
}

static inline __attribute__((always_inline)) void kernel_lower_far(
	uint32_t *far, uint32_t group, uint32_t n)
{
	uint32_t *siblings = far + (group & ~(LOCI_STACK_FAR - 1u));
	__mmask16 before = (__mmask16)((1u << (group & (LOCI_STACK_FAR - 1))) - 1);
	__m512i v = _mm512_load_si512(siblings);

	_mm512_store_si512(
		siblings, _mm512_mask_sub_epi32(v, before, v, _mm512_set1_epi32((int)n)));
}

#else

#if defined(__AVX2__)
#define KERNEL_VECTOR 32
#else
#define KERNEL_VECTOR 16
#endif

/* Signed, since that is what vectors compare: all values are small, or wrap as they should. */
typedef int8_t kernel_v8 __attribute__((vector_size(KERNEL_VECTOR)));
typedef int16_t kernel_v16 __attribute__((vector_size(KERNEL_VECTOR)));
typedef int32_t kernel_v32 __attribute__((vector_size(KERNEL_VECTOR)));

struct kernel_ranks {
	int8_t rank[LOCI_STACK_TOP] __attribute__((aligned(64)));
};

static inline __attribute__((always_inline)) void kernel_load_ranks(
	struct kernel_ranks *ranks, const uint8_t *from)
{
	memcpy(ranks->rank, from, LOCI_STACK_TOP);
}

static inline __attribute__((always_inline)) void kernel_store_ranks(
	const struct kernel_ranks *ranks, uint8_t *to)
{
	memcpy(to, ranks->rank, LOCI_STACK_TOP);
}

/* As ranks are distinct, the block's own is the only one equal to it. */
static inline __attribute__((always_inline)) void kernel_sink(
	struct kernel_ranks *ranks, int8_t from)
{
	kernel_v8 *v = (kernel_v8 *)ranks->rank;

	for (unsigned i = 0; i < LOCI_STACK_TOP / KERNEL_VECTOR; i++)
		v[i] = (v[i] - (kernel_v8)(v[i] < from)) & (kernel_v8)(v[i] != from);
}

/* A block of the top becomes the most recent: all that were more recent sink by one. Returns the
 * rank it had. */
static inline __attribute__((always_inline)) unsigned kernel_raise(
	struct kernel_ranks *ranks, unsigned place)
{
	int8_t had = ranks->rank[place];

	kernel_sink(ranks, had);
	return (unsigned)had;
}

static inline __attribute__((always_inline)) unsigned kernel_deepest(
	const struct kernel_ranks *ranks, unsigned n_ranked)
{
#if defined(__AVX2__)
	const __m256i *v = (const __m256i *)ranks->rank;
	__m256i wanted = _mm256_set1_epi8((char)(n_ranked - 1));
	uint64_t found = 0;

	for (unsigned i = 0; i < LOCI_STACK_TOP / 32; i++)
		found |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v[i], wanted))
			<< (32 * i);
	return (unsigned)__builtin_ctzll(found);
#elif defined(__SSE2__)
	const __m128i *v = (const __m128i *)ranks->rank;
	__m128i wanted = _mm_set1_epi8((char)(n_ranked - 1));
	uint64_t found = 0;

	for (unsigned i = 0; i < LOCI_STACK_TOP / 16; i++)
		found |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], wanted))
			<< (16 * i);
	return (unsigned)__builtin_ctzll(found);
#else
	unsigned place = 0;

	while ((unsigned)ranks->rank[place] != n_ranked - 1)
		place++;
	return place;
#endif
}

/* A block enters the top: all sink by one, and the place of the deepest, which is returned, is its
 * own. */
static inline __attribute__((always_inline)) unsigned kernel_push(
	struct kernel_ranks *ranks, unsigned n_ranked)
{
	unsigned place = kernel_deepest(ranks, n_ranked);

	kernel_sink(ranks, (int8_t)(n_ranked - 1));
	return place;
}

static inline __attribute__((always_inline)) unsigned kernel_match(
	const struct loci_stack_bucket *b, uint64_t hash)
{
#if defined(__AVX2__)
	__m256i same = _mm256_cmpeq_epi64(
		_mm256_load_si256((const __m256i *)b), _mm256_set1_epi64x((long long)hash));

	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same)) & 7u;
#else
	return (unsigned)(b->key[0] == hash) | (unsigned)(b->key[1] == hash) << 1 |
		(unsigned)(b->key[2] == hash) << 2;
#endif
}

/* By n less in all siblings before one. */
static inline __attribute__((always_inline)) void kernel_lower_near(
	uint16_t *near, uint32_t line, uint32_t n)
{
	static const int16_t index[LOCI_STACK_NEAR]
		__attribute__((aligned(64))) = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
			15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
	kernel_v16 *v = (kernel_v16 *)(near + (line & ~(LOCI_STACK_NEAR - 1u)));

	for (unsigned i = 0; i < 64 / KERNEL_VECTOR; i++)
		v[i] -= (((const kernel_v16 *)index)[i] < (int16_t)(line & (LOCI_STACK_NEAR - 1))) &
			(int16_t)n;
}

static inline __attribute__((always_inline)) void kernel_lower_far(
	uint32_t *far, uint32_t group, uint32_t n)
{
	static const int32_t index[LOCI_STACK_FAR] __attribute__((aligned(64))) = { 0, 1, 2, 3, 4,
		5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	kernel_v32 *v = (kernel_v32 *)(far + (group & ~(LOCI_STACK_FAR - 1u)));

	for (unsigned i = 0; i < 64 / KERNEL_VECTOR; i++)
		v[i] -= (((const kernel_v32 *)index)[i] < (int32_t)(group & (LOCI_STACK_FAR - 1))) &
			(int32_t)n;
}

#endif
#endif
