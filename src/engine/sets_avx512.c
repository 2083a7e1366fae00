// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel with AVX-512 (F, BW, VL) and BMI2. */
#include "engine/sets_bmi2.h"

#define SETS_RUN sets_run_avx512

/* The planes of bits that are set, in registers: those of the eight coarsest levels, and of the
 * others. Those that are clear are not asked for. */
struct planes {
	__m512i low, high;
};

static inline struct planes planes_load(struct sets_top *top)
{
	return (struct planes){ _mm512_load_si512(top->plane[1]),
		_mm512_load_si512(top->plane[1] + 8) };
}

static inline void planes_store(struct sets_top *top, const struct planes *planes)
{
	_mm512_store_si512(top->plane[1], planes->low);
	_mm512_store_si512(top->plane[1] + 8, planes->high);
}

static inline __m512i name(__m512i planes, __m512i own, uint64_t bits)
{
	planes = _mm512_andnot_si512(own, planes);
	return _mm512_mask_or_epi64(planes, (__mmask8)bits, planes, own);
}

static inline void planes_name(struct planes *planes, unsigned place, uint64_t block)
{
	uint64_t bit = (uint64_t)1 << place;
	__m512i own = _mm512_set1_epi64((long long)bit);

	planes->low = name(planes->low, own, block);
	planes->high = name(planes->high, own, block >> 8);
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

/* Of eight words each and all before it. */
static inline __m512i all_before(__m512i words)
{
	__m512i every = _mm512_set1_epi64(-1);

	words = _mm512_and_si512(words, _mm512_alignr_epi64(words, every, 7));
	words = _mm512_and_si512(words, _mm512_alignr_epi64(words, every, 6));
	return _mm512_and_si512(words, _mm512_alignr_epi64(words, every, 4));
}

static inline uint64_t last_of(__m512i words)
{
	return (uint64_t)_mm_extract_epi64(_mm512_extracti64x2_epi64(words, 3), 1);
}

/* The bits of some words that agree with those of a block. */
static inline __m512i agreeing(__m512i all, uint64_t bits)
{
	return _mm512_mask_xor_epi64(all, (__mmask8)~bits, all, _mm512_set1_epi64(-1));
}

#define SETS_PLANES_SAME

/* At the eight coarsest levels, and at the others. */
static inline __m512i same_low(const struct planes *planes, uint64_t places, uint64_t block)
{
	return _mm512_and_si512(
		all_before(agreeing(planes->low, block)), _mm512_set1_epi64((long long)places));
}

static inline __m512i same_high(const struct planes *planes, __m512i low, uint64_t block)
{
	return _mm512_and_si512(all_before(agreeing(planes->high, block >> 8)),
		_mm512_permutexvar_epi64(_mm512_set1_epi64(7), low));
}

static inline __m128i counts_of(__m512i words)
{
	return _mm512_cvtepi64_epi8(_mm512_popcnt_epi64(words));
}

static inline sets_row planes_same(const struct planes *planes, uint64_t places, uint64_t block)
{
	__m512i low = same_low(planes, places, block), high = same_high(planes, low, block);

	return (sets_row)_mm_unpacklo_epi64(counts_of(low), counts_of(high));
}

/* The same of a few places, which seldom agree in more than seven bits. */
static inline sets_row planes_same_few(const struct planes *planes, uint64_t places, uint64_t block)
{
	__m512i low = same_low(planes, places, block);
	__m128i counts = counts_of(low);

	if ((uint64_t)_mm_cvtsi128_si64(counts) >> 56 == 0)
		return (sets_row)counts;
	return (sets_row)_mm_unpacklo_epi64(counts, counts_of(same_high(planes, low, block)));
}

#define SETS_LIST_TAKE

/* All words of a list at once; each and all before it. */
static inline uint64_t list_take(
	uint64_t *list, unsigned width, unsigned n, uint64_t bits, uint64_t *own)
{
	uint64_t below;

	if (width == 8) {
		__m512i all = _mm512_load_si512(list), same = all_before(agreeing(all, bits));

		*own = next_bit(low_bits(last_of(same), n), *own);
		below = *own - 1;
		_mm512_store_si512(list,
			_mm512_ternarylogic_epi64(_mm512_set1_epi64((long long)below), all,
				_mm512_srli_epi64(all, 1), 0xca));
		same = _mm512_and_si512(same, _mm512_set1_epi64((long long)below));
		return (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(_mm512_popcnt_epi64(same)));
	} else {
		__m256i every = _mm256_set1_epi64x(-1),
			all = _mm256_load_si256((const __m256i *)list);
		__m256i same = _mm256_mask_xor_epi64(all, (__mmask8)~bits, all, every);

		same = _mm256_and_si256(same, _mm256_alignr_epi64(same, every, 3));
		same = _mm256_and_si256(same, _mm256_alignr_epi64(same, every, 2));
		*own = next_bit(
			low_bits((uint64_t)_mm_extract_epi64(_mm256_extracti128_si256(same, 1), 1),
				n),
			*own);
		below = *own - 1;
		_mm256_store_si256((__m256i *)list,
			_mm256_ternarylogic_epi64(_mm256_set1_epi64x((long long)below), all,
				_mm256_srli_epi64(all, 1), 0xca));
		same = _mm256_and_si256(same, _mm256_set1_epi64x((long long)below));
		return (uint64_t)_mm_cvtsi128_si64(_mm256_cvtepi64_epi8(_mm256_popcnt_epi64(same)));
	}
}

static inline void list_put(uint64_t *list, unsigned width, uint64_t bits)
{
	if (width == 8) {
		__m512i all = _mm512_slli_epi64(_mm512_load_si512(list), 1);

		_mm512_store_si512(
			list, _mm512_mask_or_epi64(all, (__mmask8)bits, all, _mm512_set1_epi64(1)));
	} else {
		__m256i all = _mm256_slli_epi64(_mm256_load_si256((const __m256i *)list), 1);

		_mm256_store_si256((__m256i *)list,
			_mm256_mask_or_epi64(all, (__mmask8)bits, all, _mm256_set1_epi64x(1)));
	}
}

#define SETS_GATHER

static inline void gather_64(
	struct sets_visits *visits, const uint64_t *block, const uint8_t *is_write)
{
	uint64_t *to = visits->block + visits->n, other = 0;
	__m512i writes = _mm512_loadu_si512(is_write);

#pragma GCC unroll 8
	for (unsigned i = 0; i < 64; i += 8) {
		__m512i some = _mm512_loadu_si512(block + i);
		__mmask8 kept = _mm512_cmpneq_epi64_mask(some, _mm512_loadu_si512(block + i - 1));

		_mm512_storeu_si512(to, _mm512_maskz_compress_epi64(kept, some));
		to += count_bits(kept);
		other |= (uint64_t)kept << i;
	}
	gather_writes(visits, other, _mm512_test_epi8_mask(writes, writes));
}

#include "engine/sets_kernel.h"
