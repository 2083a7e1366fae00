/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the vector kernels of the per-set engine share: BMI2 and bytes sixteen at a time. */
#ifndef LOCI_ENGINE_SETS_BMI2_H
#define LOCI_ENGINE_SETS_BMI2_H

#include "engine/sets_state.h"

#include <immintrin.h>
#include <string.h>

static inline uint64_t low_bits(uint64_t word, unsigned n)
{
	return _bzhi_u64(word, n);
}

static inline uint64_t next_bit(uint64_t word, uint64_t own)
{
	return _pdep_u64(own, word);
}

static inline uint64_t first_bit(uint64_t word)
{
	return _tzcnt_u64(word);
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

static inline uint64_t count_two(uint64_t a, uint64_t b)
{
	return count_bits(a) | count_bits(b) << 8;
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

static inline sets_row row_pairs(sets_row row)
{
	return (sets_row)_mm_maddubs_epi16((__m128i)row, _mm_set1_epi16(SETS_PAIR << 8 | 1));
}

typedef __m256i wide;

static inline wide wide_of(sets_row levels, unsigned single)
{
	return _mm256_inserti128_si256(
		_mm256_castsi128_si256((__m128i)levels), _mm_cvtsi32_si128((int)single), 1);
}

static inline wide wide_load(const struct sets_wide *from)
{
	return _mm256_load_si256((const __m256i *)from);
}

static inline void wide_store(struct sets_wide *to, wide from)
{
	_mm256_store_si256((__m256i *)to, from);
}

static inline wide wide_larger(wide a, wide b)
{
	return _mm256_max_epu8(a, b);
}

static inline wide wide_keep(wide all, uint64_t mask)
{
	return _mm256_and_si256(all, _mm256_set1_epi64x((long long)mask));
}

/* The writes of 64 touches, as bits, for those of which other says that they are of another block
 * than the touch before. To the others ~other adds a one each: where there is a write among those
 * after one that is kept, the sum carries to the next one that is kept, or beyond the end. */
static inline void gather_writes(struct sets_visits *visits, uint64_t other, uint64_t writes)
{
	uint8_t *is_write = visits->is_write + visits->n;
	unsigned long long sum;
	bool carry = __builtin_uaddll_overflow(writes & ~other, ~other, &sum);
	uint64_t later = _pext_u64(sum, other), kept = _pext_u64(writes, other) | later >> 1;

	is_write[-1] |= (uint8_t)(later & 1);
	for (unsigned i = 0; i < 64; i += 8) {
		uint64_t bytes = _pdep_u64(kept >> i, 0x0101010101010101u);

		memcpy(is_write + i, &bytes, 8);
	}
	visits->n += count_bits(other);
	visits->is_write[visits->n - 1] |= carry;
}

#endif
