/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of the most recent blocks, a byte for each place: the number of more recent ones. With
 * AVX-512, or else vectors of the width the compiler was told of. Included by kernels only. */
#ifndef LOCI_ENGINE_RANKS_H
#define LOCI_ENGINE_RANKS_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define KERNEL_PLACES 64

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

/* The places of what is more recent than a place's, as bits. */
static inline __attribute__((always_inline)) uint64_t kernel_newer(
	const struct kernel_ranks *ranks, unsigned place)
{
	__m512i had = _mm512_permutexvar_epi8(_mm512_set1_epi8((char)place), ranks->v);

	return _cvtmask64_u64(_mm512_cmplt_epu8_mask(ranks->v, had));
}

#else

#if defined(__AVX2__)
#define KERNEL_VECTOR 32
#else
#define KERNEL_VECTOR 16
#endif

/* Signed, since that is what vectors compare: all values are small, or wrap as they should. */
typedef int8_t kernel_v8 __attribute__((vector_size(KERNEL_VECTOR)));

struct kernel_ranks {
	int8_t rank[KERNEL_PLACES] __attribute__((aligned(64)));
};

static inline __attribute__((always_inline)) void kernel_load_ranks(
	struct kernel_ranks *ranks, const uint8_t *from)
{
	memcpy(ranks->rank, from, KERNEL_PLACES);
}

static inline __attribute__((always_inline)) void kernel_store_ranks(
	const struct kernel_ranks *ranks, uint8_t *to)
{
	memcpy(to, ranks->rank, KERNEL_PLACES);
}

/* As ranks are distinct, the block's own is the only one equal to it. */
static inline __attribute__((always_inline)) void kernel_sink(
	struct kernel_ranks *ranks, int8_t from)
{
	kernel_v8 *v = (kernel_v8 *)ranks->rank;

	for (unsigned i = 0; i < KERNEL_PLACES / KERNEL_VECTOR; i++)
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

	for (unsigned i = 0; i < KERNEL_PLACES / 32; i++)
		found |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v[i], wanted))
			<< (32 * i);
	return (unsigned)__builtin_ctzll(found);
#elif defined(__SSE2__)
	const __m128i *v = (const __m128i *)ranks->rank;
	__m128i wanted = _mm_set1_epi8((char)(n_ranked - 1));
	uint64_t found = 0;

	for (unsigned i = 0; i < KERNEL_PLACES / 16; i++)
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

/* The places of what is more recent than a place's, as bits. */
static inline __attribute__((always_inline)) uint64_t kernel_newer(
	const struct kernel_ranks *ranks, unsigned place)
{
	int8_t had = ranks->rank[place];
	uint64_t newer = 0;

#if defined(__AVX2__)
	const __m256i *v = (const __m256i *)ranks->rank;

	for (unsigned i = 0; i < KERNEL_PLACES / 32; i++)
		newer |= (uint64_t)(uint32_t)_mm256_movemask_epi8(
				 _mm256_cmpgt_epi8(_mm256_set1_epi8(had), v[i]))
			<< (32 * i);
#elif defined(__SSE2__)
	const __m128i *v = (const __m128i *)ranks->rank;

	for (unsigned i = 0; i < KERNEL_PLACES / 16; i++)
		newer |= (uint64_t)(uint32_t)_mm_movemask_epi8(
				 _mm_cmplt_epi8(v[i], _mm_set1_epi8(had)))
			<< (16 * i);
#else
	for (unsigned i = 0; i < KERNEL_PLACES; i++)
		newer |= (uint64_t)(ranks->rank[i] < had) << i;
#endif
	return newer;
}

#endif
#endif
