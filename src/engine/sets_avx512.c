// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel with AVX-512 (F, BW, VL). */
#include "engine/sets_group.h"

#include <immintrin.h>

#define SETS_GROUP sets_group_avx512

static inline uint64_t list_match(
	const struct sets_cluster *cluster, unsigned list, const uint8_t *bytes)
{
	__mmask64 match = _mm512_cmpeq_epi8_mask(
		_mm512_load_si512(cluster->high + list), _mm512_set1_epi8((char)bytes[7]));

	return _mm512_mask_cmpeq_epi8_mask(
		match, _mm512_load_si512(cluster->next + list), _mm512_set1_epi8((char)bytes[6]));
}

static inline uint32_t list_newer(const uint16_t *stamp, uint16_t limit)
{
	__m512i than = _mm512_set1_epi16((short)limit);
	__mmask32 low = _mm512_cmpgt_epi16_mask(_mm512_load_si512(stamp), than);
	__mmask32 high = _mm512_cmpgt_epi16_mask(_mm512_load_si512(stamp + 32), than);

	return (uint32_t)__builtin_popcountll(_mm512_kunpackd(high, low));
}

static inline unsigned list_oldest(const uint16_t *stamp)
{
	__m512i low = _mm512_load_si512(stamp), high = _mm512_load_si512(stamp + 32);
	__m512i least = _mm512_min_epu16(low, high);
	__m256i half = _mm256_min_epu16(
		_mm512_castsi512_si256(least), _mm512_extracti64x4_epi64(least, 1));
	__m128i quarter = _mm_minpos_epu16(
		_mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));

	least = _mm512_broadcastw_epi16(quarter);
	return (unsigned)__builtin_ctzll(_mm512_kunpackd(
		_mm512_cmpeq_epi16_mask(high, least), _mm512_cmpeq_epi16_mask(low, least)));
}

static inline void list_stamp(uint16_t *stamp, unsigned slot, uint16_t value)
{
	uint16_t *half = stamp + (slot & 32);

	_mm512_store_si512(half,
		_mm512_mask_set1_epi16(
			_mm512_load_si512(half), (__mmask32)1 << (slot & 31), (short)value));
}

static inline void set_byte(uint8_t *plane, unsigned slot, uint8_t byte)
{
	_mm512_store_si512(plane,
		_mm512_mask_set1_epi8(_mm512_load_si512(plane), (__mmask64)1 << slot, (char)byte));
}

static inline void list_name(
	struct sets_cluster *cluster, unsigned list, unsigned slot, const uint8_t *bytes)
{
	set_byte(cluster->high + list, slot, bytes[7]);
	set_byte(cluster->next + list, slot, bytes[6]);
}

static inline unsigned head_match(const struct sets_head *head, uint64_t block)
{
	return _mm512_cmpeq_epi64_mask(
		_mm512_load_si512(head->block), _mm512_set1_epi64((long long)block));
}

static inline unsigned head_same(const struct sets_head *head, uint64_t block, uint64_t mask)
{
	return _mm512_testn_epi64_mask(_mm512_xor_si512(_mm512_load_si512(head->block),
					       _mm512_set1_epi64((long long)block)),
		_mm512_set1_epi64((long long)mask));
}

static inline unsigned head_newer(const struct sets_head *head, uint16_t stamp)
{
	return _mm_cmpgt_epi16_mask(
		_mm_load_si128((const __m128i *)head->stamp), _mm_set1_epi16((short)stamp));
}

static inline void head_stamp(struct sets_head *head, unsigned slot, uint16_t stamp)
{
	__m128i *stamps = (__m128i *)head->stamp;

	_mm_store_si128(stamps,
		_mm_mask_set1_epi16(_mm_load_si128(stamps), (__mmask8)(1 << slot), (short)stamp));
}

static inline uint64_t settle(uint32_t positions, uint32_t *dirty, uint32_t write)
{
	__m128i position =
		_mm_min_epu8(_mm_cvtsi32_si128((int)positions), _mm_set1_epi8(LOCI_SETS_WAYS));
	__m128i level = _mm_max_epu8(position, _mm_cvtsi32_si128((int)*dirty));

	*dirty =
		(uint32_t)_mm_cvtsi128_si32(_mm_andnot_si128(_mm_cvtsi32_si128((int)write), level));
	return (uint64_t)_mm_cvtsi128_si64(_mm_unpacklo_epi32(position, level));
}

#include "engine/sets_kernel.h"
