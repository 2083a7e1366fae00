// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel with AVX-512 (F, BW, VL) and BMI2. */
#include "engine/sets_bmi2.h"

#define SETS_RUN sets_run_avx512

/* 32 bytes at once and no more: a word loaded from a store of 64 waits (Zen 4). */
static inline void top_name(struct sets_top *top, unsigned place, uint64_t block)
{
	uint64_t name = (uint64_t)1 << place;
	__m256i own = _mm256_set1_epi64x((long long)name);
	__m256i *clear = (__m256i *)top->plane[0], *set = (__m256i *)top->plane[1];

#pragma GCC unroll 4
	for (unsigned i = 0; i < LOCI_SETS_MAX_BITS / 4; i++) {
		__mmask8 bits = (__mmask8)(block >> 4 * i & 15);
		__m256i others = _mm256_andnot_si256(own, set[i]);

		set[i] = _mm256_mask_or_epi64(others, bits, others, own);
		others = _mm256_or_si256(own, clear[i]);
		clear[i] = _mm256_mask_andnot_epi64(others, bits, own, others);
	}
}

static inline uint64_t match_words(const uint32_t *word, uint32_t wanted)
{
	__m512i all = _mm512_set1_epi32((int)wanted);
	uint64_t match = 0;

	for (unsigned i = 0; i < 4; i++)
		match |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_load_si512(word + 16 * i), all)
			<< 16 * i;
	return match;
}

static inline uint64_t top_newer(const struct sets_top *top, int16_t stamp)
{
	__m512i than = _mm512_set1_epi16(stamp);

	return _mm512_cmpgt_epi16_mask(_mm512_load_si512(top->stamp), than) |
		(uint64_t)_mm512_cmpgt_epi16_mask(_mm512_load_si512(top->stamp + 32), than) << 32;
}

static inline void top_stamp(struct sets_top *top, unsigned place, int16_t stamp)
{
	int16_t *half = top->stamp + (place & 32);

	_mm512_store_si512(half,
		_mm512_mask_set1_epi16(
			_mm512_load_si512(half), (__mmask32)1 << (place & 31), stamp));
}

static inline unsigned top_oldest(const struct sets_top *top)
{
	__m512i both =
		_mm512_min_epi16(_mm512_load_si512(top->stamp), _mm512_load_si512(top->stamp + 32));
	__m256i half =
		_mm256_min_epi16(_mm512_castsi512_si256(both), _mm512_extracti64x4_epi64(both, 1));
	__m128i least = _mm_minpos_epu16(
		_mm_min_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
	__m512i all = _mm512_broadcastw_epi16(least);
	uint64_t low = _mm512_cmpeq_epi16_mask(_mm512_load_si512(top->stamp), all);
	uint64_t high = _mm512_cmpeq_epi16_mask(_mm512_load_si512(top->stamp + 32), all);

	return (unsigned)__builtin_ctzll(low | high << 32);
}

#define SETS_TOP_SAME

/* Four planes at once; each and all before it. */
static inline sets_row top_same(const struct sets_top *top, uint64_t *places, uint64_t block)
{
	__m256i every = _mm256_set1_epi64x(-1), last = _mm256_set1_epi64x((long long)*places);
	__m128i counts[4];

#pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++) {
		__m256i same = _mm256_load_si256((const __m256i *)top->plane[0] + i);

		same = _mm256_mask_load_epi64(
			same, (__mmask8)(block >> 4 * i), (const __m256i *)top->plane[1] + i);
		same = _mm256_and_si256(same, _mm256_alignr_epi64(same, every, 3));
		same = _mm256_and_si256(same, _mm256_alignr_epi64(same, every, 2));
		same = _mm256_and_si256(same, last);
		last = _mm256_permute4x64_epi64(same, 0xff);
		counts[i] = _mm256_cvtepi64_epi8(_mm256_popcnt_epi64(same));
	}
	*places = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(last));
	return (sets_row)_mm_unpacklo_epi64(
		_mm_unpacklo_epi32(counts[0], counts[1]), _mm_unpacklo_epi32(counts[2], counts[3]));
}

#define SETS_LIST_TAKE

/* All words of a list at once; each and all before it. */
static inline uint64_t list_take(
	uint64_t *list, unsigned width, unsigned n, uint64_t bits, uint64_t *own)
{
	uint64_t below;

	if (width == 8) {
		__m512i every = _mm512_set1_epi64(-1), all = _mm512_load_si512(list);
		__m512i same = _mm512_mask_xor_epi64(all, (__mmask8)~bits, all, every);

		same = _mm512_and_si512(same, _mm512_alignr_epi64(same, every, 7));
		same = _mm512_and_si512(same, _mm512_alignr_epi64(same, every, 6));
		same = _mm512_and_si512(same, _mm512_alignr_epi64(same, every, 4));
		*own = next_bit(low_bits((uint64_t)_mm_extract_epi64(
						 _mm512_extracti64x2_epi64(same, 3), 1),
					n),
			*own);
		below = *own - 1;
		_mm512_store_si512(list,
			_mm512_ternarylogic_epi64(_mm512_set1_epi64((long long)below), all,
				_mm512_srli_epi64(all, 1), 0xca));
		same = _mm512_and_si512(same, _mm512_set1_epi64((long long)below));
		return (uint64_t)_mm_cvtsi128_si64(
			_mm512_cvtepi64_epi8(_mm512_popcnt_epi64(same)));
	} else {
		__m256i every = _mm256_set1_epi64x(-1),
			all = _mm256_load_si256((const __m256i *)list);
		__m256i same = _mm256_mask_xor_epi64(all, (__mmask8)~bits, all, every);

		same = _mm256_and_si256(same, _mm256_alignr_epi64(same, every, 3));
		same = _mm256_and_si256(same, _mm256_alignr_epi64(same, every, 2));
		*own = next_bit(low_bits((uint64_t)_mm_extract_epi64(
						 _mm256_extracti128_si256(same, 1), 1),
					n),
			*own);
		below = *own - 1;
		_mm256_store_si256((__m256i *)list,
			_mm256_ternarylogic_epi64(_mm256_set1_epi64x((long long)below), all,
				_mm256_srli_epi64(all, 1), 0xca));
		same = _mm256_and_si256(same, _mm256_set1_epi64x((long long)below));
		return (uint64_t)_mm_cvtsi128_si64(
			_mm256_cvtepi64_epi8(_mm256_popcnt_epi64(same)));
	}
}

static inline void list_put(uint64_t *list, unsigned width, uint64_t bits)
{
	if (width == 8) {
		__m512i all = _mm512_slli_epi64(_mm512_load_si512(list), 1);

		_mm512_store_si512(list,
			_mm512_mask_or_epi64(all, (__mmask8)bits, all, _mm512_set1_epi64(1)));
	} else {
		__m256i all = _mm256_slli_epi64(_mm256_load_si256((const __m256i *)list), 1);

		_mm256_store_si256((__m256i *)list,
			_mm256_mask_or_epi64(all, (__mmask8)bits, all, _mm256_set1_epi64x(1)));
	}
}

#include "engine/sets_kernel.h"
