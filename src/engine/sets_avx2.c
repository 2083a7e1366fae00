// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel with AVX2. */
#include "engine/sets_group.h"

#include <immintrin.h>

#define SETS_GROUP sets_group_avx2

static inline __m256i part(const void *plane, int which)
{
	return _mm256_load_si256((const __m256i *)plane + which);
}

static inline uint64_t bits(__m256i low, __m256i high)
{
	return (uint32_t)_mm256_movemask_epi8(low) |
		(uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

static inline uint64_t list_match(
	const struct sets_cluster *cluster, unsigned list, const uint8_t *bytes)
{
	const uint8_t *high = cluster->high + list, *next = cluster->next + list;
	__m256i first = _mm256_set1_epi8((char)bytes[7]);
	__m256i second = _mm256_set1_epi8((char)bytes[6]);

	return bits(_mm256_and_si256(_mm256_cmpeq_epi8(part(high, 0), first),
			    _mm256_cmpeq_epi8(part(next, 0), second)),
		_mm256_and_si256(_mm256_cmpeq_epi8(part(high, 1), first),
			_mm256_cmpeq_epi8(part(next, 1), second)));
}

static inline uint32_t list_newer(const uint16_t *stamp, uint16_t limit)
{
	__m256i than = _mm256_set1_epi16((short)limit);
	__m256i low = _mm256_packs_epi16(
		_mm256_cmpgt_epi16(part(stamp, 0), than), _mm256_cmpgt_epi16(part(stamp, 1), than));
	__m256i high = _mm256_packs_epi16(
		_mm256_cmpgt_epi16(part(stamp, 2), than), _mm256_cmpgt_epi16(part(stamp, 3), than));

	return (uint32_t)__builtin_popcountll(bits(low, high));
}

static inline unsigned list_oldest(const uint16_t *stamp)
{
	__m256i least = _mm256_min_epu16(_mm256_min_epu16(part(stamp, 0), part(stamp, 1)),
		_mm256_min_epu16(part(stamp, 2), part(stamp, 3)));
	__m128i half = _mm_minpos_epu16(
		_mm_min_epu16(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1)));
	uint64_t found;

	least = _mm256_broadcastw_epi16(half);
	/* Two bits a slot. */
	found = bits(_mm256_cmpeq_epi16(part(stamp, 0), least),
		_mm256_cmpeq_epi16(part(stamp, 1), least));
	if (found)
		return (unsigned)__builtin_ctzll(found) / 2;
	found = bits(_mm256_cmpeq_epi16(part(stamp, 2), least),
		_mm256_cmpeq_epi16(part(stamp, 3), least));
	return 32 + (unsigned)__builtin_ctzll(found) / 2;
}

static const _Alignas(
	32) uint16_t lane_word[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

static inline void list_stamp(uint16_t *stamp, unsigned slot, uint16_t value)
{
	__m256i *quarter = (__m256i *)(stamp + (slot & 48));
	__m256i at = _mm256_cmpeq_epi16(part(lane_word, 0), _mm256_set1_epi16(slot & 15));

	_mm256_store_si256(quarter,
		_mm256_blendv_epi8(
			_mm256_load_si256(quarter), _mm256_set1_epi16((short)value), at));
}

static inline void list_name(
	struct sets_cluster *cluster, unsigned list, unsigned slot, const uint8_t *bytes)
{
	cluster->high[list + slot] = bytes[7];
	cluster->next[list + slot] = bytes[6];
}

static inline unsigned lanes(__m256i low, __m256i high)
{
	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(low)) |
		(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4;
}

static inline unsigned head_match(const struct sets_head *head, uint64_t block)
{
	__m256i wanted = _mm256_set1_epi64x((long long)block);

	return lanes(_mm256_cmpeq_epi64(part(head->block, 0), wanted),
		_mm256_cmpeq_epi64(part(head->block, 1), wanted));
}

static inline unsigned head_same(const struct sets_head *head, uint64_t block, uint64_t mask)
{
	__m256i under = _mm256_set1_epi64x((long long)mask);
	__m256i wanted = _mm256_set1_epi64x((long long)(block & mask));

	return lanes(_mm256_cmpeq_epi64(_mm256_and_si256(part(head->block, 0), under), wanted),
		_mm256_cmpeq_epi64(_mm256_and_si256(part(head->block, 1), under), wanted));
}

static inline unsigned head_newer(const struct sets_head *head, uint16_t stamp)
{
	__m128i newer = _mm_cmpgt_epi16(
		_mm_load_si128((const __m128i *)head->stamp), _mm_set1_epi16((short)stamp));

	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(newer, _mm_setzero_si128()));
}

static inline void head_stamp(struct sets_head *head, unsigned slot, uint16_t stamp)
{
	__m128i *stamps = (__m128i *)head->stamp;
	__m128i at = _mm_cmpeq_epi16(
		_mm_load_si128((const __m128i *)lane_word), _mm_set1_epi16((short)slot));

	_mm_store_si128(
		stamps, _mm_blendv_epi8(_mm_load_si128(stamps), _mm_set1_epi16((short)stamp), at));
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
