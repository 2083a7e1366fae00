/* SPDX-License-Identifier: BSD-2-Clause */
/* Which samples are watched, when there are fewer watches than samples wait for their reuse.
 *
 * A reservoir, as RDX has it (Wang et al. 2019), but fair: every sample counts up k of every watch
 * that is armed. A free watch is always taken, with k 1, which being replaced does not change.
 * Otherwise watches are visited by falling k, ties at random, each gives way with probability 1/k,
 * and the first that does ends the visit; if none does the sample is not watched. (RDX visits them
 * in any order, by which early samples are kept 0.6 to 1.45 times as often as others.) What the
 * odds were follows from which samples were armed where, so that whoever reads these events can
 * weigh them (analyse/weigh.h).
 *
 * Freestanding C: part of what ends up in users' programs. */
#ifndef LOCI_COLLECT_RUNTIME_RESERVOIR_H
#define LOCI_COLLECT_RUNTIME_RESERVOIR_H

#include <stdbool.h>
#include <stdint.h>

#define LOCI_RESERVOIR 4 /* watches at most: the processor's debug registers */

enum loci_replace {
	LOCI_REPLACE_RESERVOIR, /* as above */
	LOCI_REPLACE_RDX,       /* visited in any order */
	LOCI_REPLACE_OLDEST,
	LOCI_REPLACE_COIN,  /* any one of them, every other time */
	LOCI_REPLACE_NEVER, /* free ones are taken, no other */
};

struct loci_reservoir {
	unsigned n; /* watches, 1..LOCI_RESERVOIR */
	enum loci_replace replace;
	uint64_t random;            /* any number to begin with */
	uint32_t k[LOCI_RESERVOIR]; /* samples since it was last free; 0: it is */
};

/* Vigna's splitmix64. */
static inline uint64_t loci_reservoir_random(struct loci_reservoir *reservoir)
{
	uint64_t x = reservoir->random += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Below n. */
static inline uint32_t loci_reservoir_pick(struct loci_reservoir *reservoir, uint32_t n)
{
	return (uint32_t)((loci_reservoir_random(reservoir) >> 32) * n >> 32);
}

/* The watches in any order; if by_k, by falling k. */
static inline void loci_reservoir_shuffle(
	struct loci_reservoir *reservoir, bool by_k, unsigned ret[LOCI_RESERVOIR])
{
	for (unsigned i = 0; i < reservoir->n; i++) {
		unsigned at = loci_reservoir_pick(reservoir, i + 1);

		ret[i] = ret[at];
		ret[at] = i;
	}
	for (unsigned i = 1; by_k && i < reservoir->n; i++)
		for (unsigned j = i; j > 0 && reservoir->k[ret[j - 1]] < reservoir->k[ret[j]];
			j--) {
			unsigned other = ret[j];

			ret[j] = ret[j - 1];
			ret[j - 1] = other;
		}
}

/* Which watch gives way, all being armed; -1: none. */
static inline int loci_reservoir_visit(struct loci_reservoir *reservoir)
{
	unsigned order[LOCI_RESERVOIR] = { 0 };

	switch (reservoir->replace) {
	case LOCI_REPLACE_NEVER:
		return -1;
	case LOCI_REPLACE_OLDEST:
		loci_reservoir_shuffle(reservoir, true, order);
		return (int)order[0];
	case LOCI_REPLACE_COIN:
		if (loci_reservoir_pick(reservoir, 2))
			return -1;
		return (int)loci_reservoir_pick(reservoir, reservoir->n);
	default:
		break;
	}
	loci_reservoir_shuffle(reservoir, reservoir->replace == LOCI_REPLACE_RESERVOIR, order);
	for (unsigned i = 0; i < reservoir->n; i++)
		if (loci_reservoir_pick(reservoir, reservoir->k[order[i]]) == 0)
			return (int)order[i];
	return -1;
}

/* A sample: the watch it takes, whose sample, if it had one, is no longer watched; -1: none. */
static inline int loci_reservoir_offer(struct loci_reservoir *reservoir)
{
	int taken = -1;

	for (unsigned i = 0; i < reservoir->n; i++)
		if (reservoir->k[i])
			reservoir->k[i] += reservoir->k[i] < UINT32_MAX;
		else
			taken = (int)i;
	if (taken < 0)
		return loci_reservoir_visit(reservoir);
	reservoir->k[taken] = 1;
	return taken;
}

/* The watch has fired, or its memory is gone. */
static inline void loci_reservoir_release(struct loci_reservoir *reservoir, unsigned watch)
{
	reservoir->k[watch] = 0;
}

#endif
