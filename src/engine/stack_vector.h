/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the stack kernel needs of an instruction set: AVX-512, or else vectors of the width the
 * compiler was told of. Included by kernels only. */
#ifndef LOCI_ENGINE_STACK_VECTOR_H
#define LOCI_ENGINE_STACK_VECTOR_H

#include "engine/ranks.h"
#include "engine/stack_state.h"

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

/* Signed, as kernel_v8. */
typedef int16_t kernel_v16 __attribute__((vector_size(KERNEL_VECTOR)));
typedef int32_t kernel_v32 __attribute__((vector_size(KERNEL_VECTOR)));

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
