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

static const _Alignas(32) uint8_t lane_byte[64] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
	14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36,
	37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
	60, 61, 62, 63 };

/* Adds one to the lower of 32 ranks, and makes those of none 0; returns which are not lower. */
static inline __m256i raise(uint8_t *rank, int which, __m256i than, __m256i none)
{
	__m256i ranks = part(rank, which);
	__m256i not_lower = _mm256_cmpeq_epi8(_mm256_max_epu8(ranks, than), ranks);

	_mm256_store_si256((__m256i *)rank + which,
		_mm256_andnot_si256(none,
			_mm256_add_epi8(_mm256_sub_epi8(ranks, _mm256_set1_epi8(-1)), not_lower)));
	return not_lower;
}

static inline uint32_t raise_list(uint8_t *rank, __m256i than, __m256i no_low, __m256i no_high)
{
	__m256i low = raise(rank, 0, than, no_low), high = raise(rank, 1, than, no_high);

	return LOCI_SETS_WAYS - (uint32_t)__builtin_popcountll(bits(low, high));
}

/* Of the list, the slot that is made 0, as masks of both halves, had the rank than. */
static inline uint32_t raise_cluster(
	uint8_t *rank, unsigned list, __m256i than, __m256i low, __m256i high)
{
	const __m256i none = _mm256_setzero_si256();
	uint32_t fine = raise_list(rank + list, than, low, high);
	uint32_t middle = fine + raise_list(rank + (list ^ 128), than, none, none);

	raise_list(rank + (list ^ 64), than, none, none);
	raise_list(rank + (list ^ 192), than, none, none);
	return fine << 16 | middle << 8;
}

static inline uint32_t cluster_renew(uint8_t *rank, unsigned list, unsigned slot)
{
	uint32_t coarse = rank[list + slot];
	__m256i at = _mm256_set1_epi8((char)slot);

	return coarse |
		raise_cluster(rank, list, _mm256_set1_epi8((char)coarse),
			_mm256_cmpeq_epi8(part(lane_byte, 0), at),
			_mm256_cmpeq_epi8(part(lane_byte, 1), at));
}

static inline unsigned cluster_replace(uint8_t *rank, unsigned list, uint32_t *ret_rank)
{
	__m256i low = part(rank + list, 0), high = part(rank + list, 1);
	__m256i both = _mm256_max_epu8(low, high);
	__m128i most =
		_mm_max_epu8(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));

	/* The largest of bytes is the complement of the smallest of complements, as words. */
	most = _mm_max_epu8(most, _mm_srli_epi16(most, 8));
	most = _mm_minpos_epu16(_mm_or_si128(
		_mm_xor_si128(most, _mm_set1_epi8(-1)), _mm_set1_epi16((short)0xff00)));
	most = _mm_xor_si128(most, _mm_set1_epi8(-1));
	both = _mm256_broadcastb_epi8(most);
	low = _mm256_cmpeq_epi8(low, both);
	high = _mm256_cmpeq_epi8(high, both);
	*ret_rank = (uint8_t)_mm_cvtsi128_si32(most);
	raise_cluster(rank, list, both, low, high);
	return (unsigned)__builtin_ctzll(bits(low, high));
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

static const _Alignas(16) uint16_t lane_word[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

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
