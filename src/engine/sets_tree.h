/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of recency words: a block taken from it, and put back as the most recent one. Included
 * by the kernels, which define
 *
 *	next_bit(word, own)	of the bits set in word the one that has as many below it as there
 *				are places below the only one set in own; 0 if there is none, or own
 *				is 0
 *	without(word, own)	the bits above own's one moved down by one, over it; the word itself
 *				if own is 0 */
#ifndef LOCI_ENGINE_SETS_TREE_H
#define LOCI_ENGINE_SETS_TREE_H

#include "engine/sets_state.h"

#define always_inline inline __attribute__((always_inline))

/* Those of depth d are 2 << 3 * d. */
static always_inline struct sets_knot *tree_knot(
	struct sets_knot *knot, unsigned depth, uint64_t block)
{
	uint64_t mask = ((uint64_t)2 << SETS_KNOT_LEVELS * depth) - 1;

	return &knot[(mask - 1) / 7 + (block & mask)];
}

static always_inline uint16_t *tree_below(struct sets_knot *knot, unsigned depth, uint64_t block)
{
	return &knot->below[block >> (SETS_KNOT_LEVELS * depth + 1) & 7];
}

static always_inline uint64_t set_take(uint64_t *word, uint64_t bit, uint64_t own)
{
	own = next_bit(word[bit], own);
	word[0] = without(word[0], own);
	word[1] = without(word[1], own);
	return own;
}

static always_inline uint64_t position_of(uint64_t own)
{
	return own ? (unsigned)__builtin_ctzll(own) : LOCI_SETS_WAYS;
}

/* Removes from three sets the block with these bits that has the position of *own in the finer one;
 * returns its positions there, a byte each: 64 where the list has dropped it. */
static always_inline uint64_t knot_take(struct sets_knot *knot, uint64_t bits, uint64_t *own)
{
	uint64_t first = bits & 1, second = bits >> 1 & 1, third = bits >> 2 & 1;
	uint64_t fine = set_take(knot->fine[2 * first + second], third, *own);
	uint64_t middle = set_take(knot->middle[first], second, fine);
	uint64_t coarse = set_take(knot->coarse, first, middle);

	*own = coarse;
	return position_of(fine) << 16 | position_of(middle) << 8 | position_of(coarse);
}

static always_inline uint64_t tree_take_at(
	struct sets_knot *knot, unsigned depth, uint64_t block, uint64_t *own)
{
	return knot_take(
		tree_knot(knot, depth, block), block >> (SETS_KNOT_LEVELS * depth + 1), own);
}

/* Removes a block that has so many more recent ones in its set of 2^16, and returns how many in all
 * of its sets. */
static always_inline sets_row tree_take(struct sets_knot *knot, uint64_t block, unsigned position)
{
	uint64_t own = (uint64_t)1 << position, low = 0, high = (uint64_t)position << 56, found;
	unsigned depth = 0;

#pragma GCC unroll 4
	for (; depth + 1 < SETS_KNOTS; depth++) {
		uint16_t *below = tree_below(tree_knot(knot, depth, block), depth, block);

		if (*below == SETS_OPEN)
			continue;
		*below = SETS_EMPTY;
		own = 1;
		high = 0;
		break;
	}
	switch (depth) {
	case 4:
		high |= tree_take_at(knot, 4, block, &own) << 32;
		/* fall through */
	case 3:
		high |= tree_take_at(knot, 3, block, &own) << 8;
		/* fall through */
	case 2:
		found = tree_take_at(knot, 2, block, &own);
		high |= found >> 16;
		low |= found << 48;
		/* fall through */
	case 1:
		low |= tree_take_at(knot, 1, block, &own) << 24;
		/* fall through */
	case 0:
		low |= tree_take_at(knot, 0, block, &own);
	}
	return (sets_row){ low, high };
}

static always_inline void set_put(uint64_t *word, uint64_t bit)
{
	word[0] = word[0] << 1 | (bit ^ 1);
	word[1] = word[1] << 1 | bit;
}

static always_inline void knot_put(struct sets_knot *knot, uint64_t bits)
{
	uint64_t first = bits & 1, second = bits >> 1 & 1;

	set_put(knot->coarse, first);
	set_put(knot->middle[first], second);
	set_put(knot->fine[2 * first + second], bits >> 2 & 1);
}

/* A leaf becomes a knot. Its block agrees with another one of the same set in its low bits. */
static inline void tree_open(
	struct sets_knot *knots, uint16_t *below, unsigned depth, uint64_t other)
{
	uint64_t block = (*below & ~SETS_STATE) | (other & SETS_STATE);
	struct sets_knot *knot = tree_knot(knots, depth, block);

	*below = SETS_OPEN;
	knot_put(knot, block >> (SETS_KNOT_LEVELS * depth + 1));
	if (depth + 1 < SETS_KNOTS)
		*tree_below(knot, depth, block) =
			(uint16_t)((block & ~(uint64_t)SETS_STATE) | SETS_LEAF);
}

/* Puts a block before all others of its sets. */
static always_inline void tree_put(struct sets_knot *knots, uint64_t block)
{
#pragma GCC unroll 5
	for (unsigned depth = 0; depth < SETS_KNOTS; depth++) {
		struct sets_knot *knot = tree_knot(knots, depth, block);
		uint16_t *below = tree_below(knot, depth, block);

		knot_put(knot, block >> (SETS_KNOT_LEVELS * depth + 1));
		if (depth + 1 == SETS_KNOTS)
			return;
		if (*below == SETS_EMPTY) {
			*below = (uint16_t)((block & ~(uint64_t)SETS_STATE) | SETS_LEAF);
			return;
		}
		if (*below != SETS_OPEN)
			tree_open(knots, below, depth + 1, block);
	}
}

#endif
