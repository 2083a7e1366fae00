/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the vector kernels of the per-set engine share: BMI2 and bytes sixteen at a time. */
#ifndef LOCI_ENGINE_SETS_BMI2_H
#define LOCI_ENGINE_SETS_BMI2_H

#include "engine/sets_state.h"

#include <immintrin.h>

static inline uint64_t low_bits(uint64_t word, unsigned n)
{
	return _bzhi_u64(word, n);
}

static inline uint64_t next_bit(uint64_t word, uint64_t own)
{
	return _pdep_u64(own, word);
}

static inline sets_row without(sets_row pair, uint64_t own)
{
	__m128i words = (__m128i)pair, below = _mm_set1_epi64x((long long)(own - 1));

#if defined(__AVX512VL__)
	return (sets_row)_mm_ternarylogic_epi64(below, words, _mm_srli_epi64(words, 1), 0xca);
#else
	return (sets_row)_mm_or_si128(
		_mm_and_si128(below, words), _mm_andnot_si128(below, _mm_srli_epi64(words, 1)));
#endif
}

static inline unsigned count_bits(uint64_t word)
{
	return (unsigned)__builtin_popcountll(word);
}

static inline sets_row row_larger(sets_row a, sets_row b)
{
	return (sets_row)_mm_max_epu8((__m128i)a, (__m128i)b);
}

static inline sets_row row_sum(sets_row a, sets_row b)
{
	__m128i sum = _mm_add_epi8((__m128i)a, (__m128i)b);

	return (sets_row)_mm_min_epu8(sum, _mm_set1_epi8(LOCI_SETS_WAYS));
}

#endif
