// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel for any machine, with vectors of 16 bytes as the compiler makes them; but for
 * what x86 has always had instructions for. */
#include "engine/sets_state.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define SETS_RUN sets_run_scalar

#define ONES 0x0101010101010101u

typedef int16_t words8 __attribute__((vector_size(16)));
typedef int32_t words4 __attribute__((vector_size(16)));
typedef uint64_t longs2 __attribute__((vector_size(16)));

static inline uint64_t low_bits(uint64_t word, unsigned n)
{
	return n < 64 ? word & (((uint64_t)1 << n) - 1) : word;
}

static inline uint64_t first_bit(uint64_t word)
{
	return word ? (unsigned)__builtin_ctzll(word) : 64;
}

/* In each byte the number of bits set in it and, multiplied by ONES, in those below it, too. */
static inline uint64_t byte_counts(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
	return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

static inline unsigned count_bits(uint64_t word)
{
	return (unsigned)(byte_counts(word) * ONES >> 56);
}

static inline uint64_t count_two(uint64_t a, uint64_t b)
{
#if defined(__SSE2__)
	longs2 words = { a, b };
	__m128i sums;

	words -= words >> 1 & 0x5555555555555555u;
	words = (words & 0x3333333333333333u) + (words >> 2 & 0x3333333333333333u);
	words = (words + (words >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	sums = _mm_sad_epu8((__m128i)words, _mm_setzero_si128());
	return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(sums, _mm_srli_si128(sums, 7)));
#else
	return count_bits(a) | count_bits(b) << 8;
#endif
}

/* Of eight sums, each as large as the one below it or larger, the first above n: its lowest bit. */
static inline unsigned first_above(uint64_t sums, unsigned n)
{
	uint64_t above = ((sums | 0x80 * ONES) - (n + 1) * ONES) & 0x80 * ONES;

	return (unsigned)__builtin_ctzll(above) & ~7u;
}

/* The first byte that has more than n bits up to its end, and in it the same bit by bit, each
 * spread to a byte: a loop over them would be hard to predict. Most often it is the first bit. */
static inline uint64_t next_bit(uint64_t word, uint64_t own)
{
	uint64_t counts, spread;
	unsigned n, shift;

	if (own <= 1)
		return word & -word & -own;
	counts = byte_counts(word) * ONES;
	n = (unsigned)__builtin_ctzll(own);
	if (n >= counts >> 56)
		return 0;
	shift = first_above(counts, n);
	n -= (unsigned)(counts << 8 >> shift & 0xff);
	spread = (word >> shift & 0xff) * ONES & 0x8040201008040201u;
	spread = ((spread + 0x7f * ONES) | spread) >> 7 & ONES;
	return (uint64_t)1 << (shift + first_above(spread * ONES, n) / 8);
}

static inline sets_row without(sets_row pair, uint64_t own)
{
	sets_row below = { own - 1, own - 1 };

	return (pair & below) | (pair >> 1 & ~below);
}

/* The larger of each byte. */
static inline uint64_t larger(uint64_t a, uint64_t b)
{
	uint64_t not_less = ((a | 0x80 * ONES) - b) & 0x80 * ONES;
	uint64_t mask = (not_less << 1) - (not_less >> 7);

	return b ^ ((a ^ b) & mask);
}

static inline sets_row row_larger(sets_row a, sets_row b)
{
	return (sets_row){ larger(a[0], b[0]), larger(a[1], b[1]) };
}

static inline uint64_t pairs_of(uint64_t bytes)
{
	return (bytes & 0x00ff00ff00ff00ffu) + (bytes >> 8 & 0x00ff00ff00ff00ffu) * SETS_PAIR;
}

static inline sets_row row_pairs(sets_row row)
{
	return (sets_row){ pairs_of(row[0]), pairs_of(row[1]) };
}

typedef struct {
	sets_row levels, single;
} wide;

static inline wide wide_of(sets_row levels, unsigned single)
{
	return (wide){ levels, { single, 0 } };
}

static inline wide wide_load(const struct sets_wide *from)
{
	return (wide){ from->levels, from->single };
}

static inline void wide_store(struct sets_wide *to, wide from)
{
	to->levels = from.levels;
	to->single = from.single;
}

static inline wide wide_larger(wide a, wide b)
{
	uint64_t single = a.single[0] > b.single[0] ? a.single[0] : b.single[0];

	return (wide){ row_larger(a.levels, b.levels), { single, 0 } };
}

static inline wide wide_keep(wide all, uint64_t mask)
{
	return (wide){ all.levels & mask, all.single & mask };
}

static inline sets_row row_sum(sets_row a, sets_row b)
{
	/* Bytes of 64 or more have one of the two top bits. */
	sets_row sum = a + b, over = ((sum >> 7 | sum >> 6) & ONES) * 0xff;

	return (sum & ~over) | (SETS_ABSENT & over);
}

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

static inline void planes_name(struct planes *planes, unsigned place, uint64_t block)
{
	struct sets_top *top = planes->top;
	static const longs2 bits_set[4] = { { 0, 0 }, { -1ull, 0 }, { 0, -1ull },
		{ -1ull, -1ull } };
	longs2 *clear = (longs2 *)top->plane[0], *set = (longs2 *)top->plane[1];
	longs2 own = { (uint64_t)1 << place, (uint64_t)1 << place };

#pragma GCC unroll 8
	for (unsigned i = 0; i < LOCI_SETS_MAX_BITS / 2; i++) {
		longs2 has = bits_set[block >> 2 * i & 3] & own;

		clear[i] = (clear[i] | own) ^ has;
		set[i] = (set[i] & ~own) | has;
	}
}

/* The words of two vectors, each 0 or -1, as bits. */
static inline uint64_t bits(words8 low, words8 high)
{
#if defined(__SSE2__)
	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16((__m128i)low, (__m128i)high));
#else
	static const words8 bit = { 1, 2, 4, 8, 16, 32, 64, 128 };
	longs2 found = (longs2)(low & bit) | (longs2)(high & bit) << 8;
	uint64_t both = found[0] | found[1];

	return (both | both >> 16 | both >> 32 | both >> 48) & 0xffff;
#endif
}

/* Two vectors of words, each 0 or -1, as one. */
static inline words8 narrow(words4 low, words4 high)
{
#if defined(__SSE2__)
	return (words8)_mm_packs_epi32((__m128i)low, (__m128i)high);
#else
	return (words8){ (int16_t)low[0], (int16_t)low[1], (int16_t)low[2], (int16_t)low[3],
		(int16_t)high[0], (int16_t)high[1], (int16_t)high[2], (int16_t)high[3] };
#endif
}

static inline uint64_t match_words(const uint32_t *word, uint32_t wanted)
{
	const words4 *words = (const words4 *)word;
	int32_t all = (int32_t)wanted;
	uint64_t match = 0;

	for (unsigned i = 0; i < LOCI_SETS_WAYS / 16; i++, words += 4)
		match |= bits(narrow((words4)(words[0] == all), (words4)(words[1] == all)),
				 narrow((words4)(words[2] == all), (words4)(words[3] == all)))
			<< 16 * i;
	return match;
}

#include "engine/sets_kernel.h"
