// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel with AVX2 and BMI2. */
#include "engine/sets_bmi2.h"

#define SETS_RUN sets_run_avx2

struct planes {
	struct sets_top *top;
};

static inline struct planes planes_load(struct sets_top *top)
{
	return (struct planes){ top };
}

static inline void planes_store(struct sets_top *top, const struct planes *planes)
{
	(void)top;
	(void)planes;
}

/* Words of 64, 32 bytes at once and no more: a word loaded from a store of 64 waits (Zen 4). */
static inline void planes_name(struct planes *planes, unsigned place, uint64_t block)
{
	struct sets_top *top = planes->top;
	uint64_t name = (uint64_t)1 << place;
	__m256i own = _mm256_set1_epi64x((long long)name), *clear = (__m256i *)top->plane[0];
	__m256i *set = (__m256i *)top->plane[1], bit = _mm256_set_epi64x(8, 4, 2, 1);
	__m256i all = _mm256_set1_epi64x((long long)block);

	for (unsigned i = 0; i < LOCI_SETS_MAX_BITS / 4; i++) {
		__m256i none =
			_mm256_cmpeq_epi64(_mm256_and_si256(all, bit), _mm256_setzero_si256());

		set[i] = _mm256_or_si256(
			_mm256_andnot_si256(own, set[i]), _mm256_andnot_si256(none, own));
		clear[i] = _mm256_or_si256(
			_mm256_andnot_si256(own, clear[i]), _mm256_and_si256(none, own));
		bit = _mm256_slli_epi64(bit, 4);
	}
}

static inline __m256i part(const void *vector, unsigned which)
{
	return _mm256_load_si256((const __m256i *)vector + which);
}

static inline uint64_t match_words(const uint32_t *word, uint32_t wanted)
{
	__m256i all = _mm256_set1_epi32((int)wanted);
	uint64_t match = 0;

	for (unsigned i = 0; i < 8; i++)
		match |= (uint64_t)(unsigned)_mm256_movemask_ps(
				 _mm256_castsi256_ps(_mm256_cmpeq_epi32(part(word, i), all)))
			<< 8 * i;
	return match;
}

#define SETS_GATHER

/* Which words of 32 bits are kept of four of 64; the rest is of no matter. */
static const _Alignas(32) uint32_t kept_words[16][8] = {
	{ 0 },
	{ 0, 1 },
	{ 2, 3 },
	{ 0, 1, 2, 3 },
	{ 4, 5 },
	{ 0, 1, 4, 5 },
	{ 2, 3, 4, 5 },
	{ 0, 1, 2, 3, 4, 5 },
	{ 6, 7 },
	{ 0, 1, 6, 7 },
	{ 2, 3, 6, 7 },
	{ 0, 1, 2, 3, 6, 7 },
	{ 4, 5, 6, 7 },
	{ 0, 1, 4, 5, 6, 7 },
	{ 2, 3, 4, 5, 6, 7 },
	{ 0, 1, 2, 3, 4, 5, 6, 7 },
};

static inline uint64_t bytes_set(const uint8_t *byte)
{
	__m256i all = _mm256_loadu_si256((const __m256i *)byte);

	return (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi64(all, 7));
}

static inline void gather_64(
	struct sets_visits *visits, const uint64_t *block, const uint8_t *is_write)
{
	uint64_t *to = visits->block + visits->n, other = 0;

#pragma GCC unroll 16
	for (unsigned i = 0; i < 64; i += 4) {
		__m256i some = _mm256_loadu_si256((const __m256i *)(block + i));
		__m256i same = _mm256_cmpeq_epi64(
			some, _mm256_loadu_si256((const __m256i *)(block + i - 1)));
		unsigned kept = 15 & ~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same));

		_mm256_storeu_si256((__m256i *)to,
			_mm256_permutevar8x32_epi32(some, part(kept_words[kept], 0)));
		to += count_bits(kept);
		other |= (uint64_t)kept << i;
	}
	gather_writes(visits, other, bytes_set(is_write) | bytes_set(is_write + 32) << 32);
}

#include "engine/sets_kernel.h"
