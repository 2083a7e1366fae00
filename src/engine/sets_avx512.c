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

/* Adds one to the lower of 32 ranks, and makes those not to keep 0; returns which are lower. Not 64
 * at once: a byte loaded from a store of 64 waits (Zen 4). */
static inline uint64_t raise(uint8_t *rank, __m256i than, __mmask32 keep)
{
	__m256i ranks = _mm256_load_si256((const __m256i *)rank);
	__mmask32 lower = _mm256_cmplt_epu8_mask(ranks, than);

	ranks = _mm256_mask_add_epi8(ranks, lower, ranks, _mm256_set1_epi8(1));
	_mm256_store_si256((__m256i *)rank, _mm256_maskz_mov_epi8(keep, ranks));
	return lower;
}

static inline uint32_t raise_list(uint8_t *rank, __m256i than, uint64_t keep)
{
	uint64_t low = raise(rank, than, (__mmask32)keep);

	return (uint32_t)__builtin_popcountll(
		low | raise(rank + 32, than, (__mmask32)(keep >> 32)) << 32);
}

/* Of the list, the slot that is not to keep had the rank than. */
static inline uint32_t raise_cluster(uint8_t *rank, unsigned list, uint64_t keep, __m256i than)
{
	uint32_t fine = raise_list(rank + list, than, keep);
	uint32_t middle = fine + raise_list(rank + (list ^ 128), than, UINT64_MAX);

	raise_list(rank + (list ^ 64), than, UINT64_MAX);
	raise_list(rank + (list ^ 192), than, UINT64_MAX);
	return fine << 16 | middle << 8;
}

static inline uint32_t cluster_renew(uint8_t *rank, unsigned list, unsigned slot)
{
	uint32_t coarse = rank[list + slot];

	return coarse |
		raise_cluster(rank, list, ~((uint64_t)1 << slot), _mm256_set1_epi8((char)coarse));
}

static inline unsigned cluster_replace(uint8_t *rank, unsigned list, uint32_t *ret_rank)
{
	__m256i low = _mm256_load_si256((const __m256i *)(rank + list));
	__m256i high = _mm256_load_si256((const __m256i *)(rank + list) + 1);
	__m256i both = _mm256_max_epu8(low, high);
	__m128i most =
		_mm_max_epu8(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
	uint64_t oldest;

	/* The largest of bytes is the complement of the smallest of complements, as words. */
	most = _mm_max_epu8(most, _mm_srli_epi16(most, 8));
	most = _mm_minpos_epu16(_mm_or_si128(
		_mm_xor_si128(most, _mm_set1_epi8(-1)), _mm_set1_epi16((short)0xff00)));
	most = _mm_xor_si128(most, _mm_set1_epi8(-1));
	both = _mm256_broadcastb_epi8(most);
	oldest = _mm256_cmpeq_epi8_mask(low, both) |
		(uint64_t)_mm256_cmpeq_epi8_mask(high, both) << 32;
	*ret_rank = (uint8_t)_mm_cvtsi128_si32(most);
	raise_cluster(rank, list, ~oldest, both);
	return (unsigned)__builtin_ctzll(oldest);
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
