/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The most recent blocks, kept by who feeds the engines. Most touches are of one of them: such a
 * touch has its rank among them for its stack distance, hits every cache of as many ways, and
 * changes nothing that an engine could tell before the block leaves. So engines need hear only of
 * blocks that enter and leave, and of the first write to one since it entered, which makes it
 * dirty. This is exact: engines hold what is in here apart from the rest, as more recent than all
 * of it (Mattson et al. 1970: the stack of LRU does not depend on the cache's size).
 *
 * A byte for each place holds its rank, 0 the most recent. */
#ifndef LOCI_ENGINE_RECENT_H
#define LOCI_ENGINE_RECENT_H

#include "hist/hist.h"

#include <stdbool.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LOCI_RECENT       8
#define LOCI_RECENT_STAYS 0x80 /* beside a place: its block was there before */
#define LOCI_RECENT_BINS  8192 /* of times, as the stack engine has them */

struct loci_recent {
	uint32_t low[LOCI_RECENT] __attribute__((aligned(16))); /* of blocks */
	uint64_t ranks;
	uint64_t now;                  /* touches so far */
	uint32_t n;                    /* places taken, from the first on */
	uint8_t farthest[LOCI_RECENT]; /* the largest distance since it was written, or entered */
	uint8_t written[LOCI_RECENT];  /* since it entered */
	uint64_t block[LOCI_RECENT];
	uint64_t time[LOCI_RECENT]; /* of its last touch, from 1 */
	uint64_t use[LOCI_RECENT];  /* of that, too: the caller's */
	uint64_t bytes[LOCI_RECENT];
	/* Of touches that no engine hears of. */
	uint64_t dirty_count[LOCI_RECENT];
	uint64_t time_count[LOCI_RECENT_BINS];
};

/* The same as loci_bin_fine, without a branch. */
static inline uint32_t loci_stack_bin(uint64_t distance)
{
	unsigned shift = 56u - (unsigned)__builtin_clzll(distance | 128);

	return (shift << LOCI_FINE_BITS) + (uint32_t)(distance >> shift);
}

#define LOCI_RECENT_ONES 0x0101010101010101u

/* A bit for each place whose block may be this. */
static inline __attribute__((always_inline)) unsigned loci_recent_match(
	const struct loci_recent *recent, uint64_t block)
{
	unsigned match = 0;

#if defined(__SSE2__)
	const __m128i *low = (const __m128i *)recent->low;
	__m128i wanted = _mm_set1_epi32((int)(uint32_t)block);

	match = (unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(low[0], wanted))) |
		(unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(low[1], wanted))) << 4;
#else
	for (unsigned i = 0; i < LOCI_RECENT; i++)
		match |= (unsigned)(recent->low[i] == (uint32_t)block) << i;
#endif
	return match;
}

/* The place of a block, or LOCI_RECENT. */
static inline __attribute__((always_inline)) unsigned loci_recent_find(
	const struct loci_recent *recent, uint64_t block)
{
	unsigned match = loci_recent_match(recent, block) & ((1u << recent->n) - 1);

	for (; match; match &= match - 1)
		if (recent->block[__builtin_ctz(match)] == block)
			return (unsigned)__builtin_ctz(match);
	return LOCI_RECENT;
}

/* The same where all places are taken. */
static inline __attribute__((always_inline)) unsigned loci_recent_find_full(
	const struct loci_recent *recent, uint64_t block)
{
	for (unsigned match = loci_recent_match(recent, block); match; match &= match - 1)
		if (recent->block[__builtin_ctz(match)] == block)
			return (unsigned)__builtin_ctz(match);
	return LOCI_RECENT;
}

static inline __attribute__((always_inline)) bool loci_recent_is_at(
	const struct loci_recent *recent, unsigned place, uint64_t block)
{
	return recent->block[place] == block && place < recent->n;
}

static inline __attribute__((always_inline)) unsigned loci_recent_rank(
	const struct loci_recent *recent, unsigned place)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return ((const uint8_t *)&recent->ranks)[place];
#else
	return recent->ranks >> 8 * place & 0xff;
#endif
}

/* The block of a place becomes the most recent; returns the rank it had. */
static inline __attribute__((always_inline)) unsigned loci_recent_raise(
	struct loci_recent *recent, unsigned place)
{
	uint64_t ranks = recent->ranks, rank = ranks >> 8 * place & 0xff, above;

	/* the high bit of each byte: whether its rank is less */
	above = (rank + 0x7f) * LOCI_RECENT_ONES - ranks;
	ranks += above >> 7 & LOCI_RECENT_ONES;
	recent->ranks = ranks & ~(0xffull << 8 * place);
	return (unsigned)rank;
}

/* A place for a block that is not there and will be the most recent: a free one, where all is 0, or
 * the oldest's. */
static inline __attribute__((always_inline)) unsigned loci_recent_take(struct loci_recent *recent)
{
	uint64_t ranks = recent->ranks, other;
	unsigned place;

	if (__builtin_expect(recent->n < LOCI_RECENT, 0)) {
		place = recent->n++;
	} else {
		other = ranks ^ (LOCI_RECENT - 1) * LOCI_RECENT_ONES;
		other = (other - LOCI_RECENT_ONES) & ~other & 0x80 * LOCI_RECENT_ONES;
		place = (unsigned)__builtin_ctzll(other) / 8;
	}
	recent->ranks = (ranks + LOCI_RECENT_ONES) & ~(0xffull << 8 * place);
	return place;
}

/* The same touch n times, between which others of these blocks come, the same every time: so that
 * each has the distance and the time of the first. The block was written if it is. Moves on as for
 * one. */
static inline unsigned loci_recent_touch_times(struct loci_recent *recent, unsigned place,
	uint8_t is_write, uint64_t use, uint64_t bytes, uint64_t n)
{
	unsigned rank = loci_recent_raise(recent, place), farthest = recent->farthest[place];
	uint64_t now = ++recent->now;

	recent->time_count[loci_stack_bin(now - recent->time[place])] += n;
	recent->time[place] = now;
	recent->use[place] = use;
	recent->bytes[place] |= bytes;
	farthest = farthest > rank ? farthest : rank;
	recent->farthest[place] = (uint8_t)(farthest & (is_write - 1u));
	recent->dirty_count[farthest] += n & -(uint64_t)is_write;
	return rank;
}

/* A touch of the block in a place: returns its distance. With LOCI_RECENT_STAYS and the largest
 * distance since the block entered, this one included, three bits further up, where it is the first
 * write since then: engines hear of it, and count it but for its time. */
static inline __attribute__((always_inline)) unsigned loci_recent_touch(
	struct loci_recent *recent, unsigned place, uint8_t is_write, uint64_t use, uint64_t bytes)
{
	unsigned rank = recent->ranks >> 8 * place & 0xff, farthest = recent->farthest[place];
	uint64_t now = ++recent->now;
	uint32_t time_bin = 1; /* of the block touched last */

	if (rank) {
		loci_recent_raise(recent, place);
		time_bin = loci_stack_bin(now - recent->time[place]);
		farthest = farthest > rank ? farthest : rank;
	}
	recent->time_count[time_bin]++;
	recent->time[place] = now;
	recent->use[place] = use;
	recent->bytes[place] |= bytes;
	/* without branches: what is written is hard to predict */
	recent->farthest[place] = (uint8_t)(farthest & (is_write - 1u));
	recent->dirty_count[farthest] += is_write & recent->written[place];
	if (__builtin_expect(is_write > recent->written[place], 0)) {
		recent->written[place] = 1;
		return LOCI_RECENT_STAYS | farthest << 3 | rank;
	}
	return rank;
}

#define LOCI_RECENT_EACH(of)                                           \
	{                                                              \
		of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7) \
	}
#define LOCI_RECENT_LESS(rank)    (((rank) + 0x7f) * LOCI_RECENT_ONES)
#define LOCI_RECENT_OTHERS(place) (~(0xffull << 8 * (place)))

/* A touch of the block in a place, where all are taken; returns its distance. Its use and bytes are
 * the caller's to note, and loci_recent_wrote if it is a write. */
static inline __attribute__((always_inline)) unsigned loci_recent_touch_full(
	struct loci_recent *recent, unsigned place)
{
	static const uint64_t less[] = LOCI_RECENT_EACH(LOCI_RECENT_LESS);
	static const uint64_t others[] = LOCI_RECENT_EACH(LOCI_RECENT_OTHERS);
	unsigned rank = loci_recent_rank(recent, place);
	uint64_t now = ++recent->now;

	if (rank) {
		/* the high bit of each byte: whether its rank is less */
		uint64_t ranks = recent->ranks, above = less[rank] - ranks;
		uint64_t time = now - recent->time[place];

		recent->ranks = (ranks + (above >> 7 & LOCI_RECENT_ONES)) & others[place];
		if (recent->farthest[place] < rank)
			recent->farthest[place] = (uint8_t)rank;
		recent->time_count[time < 256 ? time : loci_stack_bin(time)]++;
	} else {
		recent->time_count[1]++;
	}
	recent->time[place] = now;
	return rank;
}

/* The touch wrote. 0: that is counted. Else it is the first write since the block entered: engines
 * hear of it, with the largest distance since then, three bits further up. */
static inline __attribute__((always_inline)) unsigned loci_recent_wrote(
	struct loci_recent *recent, unsigned place)
{
	unsigned farthest = recent->farthest[place];

	recent->farthest[place] = 0;
	if (__builtin_expect(!recent->written[place], 0)) {
		recent->written[place] = 1;
		return LOCI_RECENT_STAYS | farthest << 3;
	}
	recent->dirty_count[farthest]++;
	return 0;
}

/* The place of the oldest, where all are taken: a block that is not there will be in it, and the
 * most recent. */
static inline __attribute__((always_inline)) unsigned loci_recent_take_full(
	struct loci_recent *recent)
{
	uint64_t ranks = recent->ranks + LOCI_RECENT_ONES; /* the oldest's is LOCI_RECENT */
	unsigned shift = (unsigned)__builtin_ctzll(ranks & LOCI_RECENT * LOCI_RECENT_ONES) - 3;

	recent->ranks = ranks - ((uint64_t)LOCI_RECENT << shift);
	return shift / 8;
}

/* Of a block that leaves; time 0: none does. */
struct loci_recent_left {
	uint64_t time, use, bytes;
	uint8_t farthest;
};

/* A touch of a block that is not there: returns its place. */
static inline __attribute__((always_inline)) unsigned loci_recent_enter(struct loci_recent *recent,
	uint64_t block, uint8_t is_write, uint64_t use, uint64_t bytes,
	struct loci_recent_left *ret_left)
{
	unsigned place = loci_recent_take(recent);

	*ret_left = (struct loci_recent_left){ recent->time[place], recent->use[place],
		recent->bytes[place], recent->farthest[place] };
	recent->low[place] = (uint32_t)block;
	recent->block[place] = block;
	recent->time[place] = ++recent->now;
	recent->use[place] = use;
	recent->bytes[place] = bytes;
	recent->farthest[place] = 0;
	recent->written[place] = is_write;
	return place;
}

#endif
