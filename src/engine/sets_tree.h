/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of recency words: a block taken from it, and put back as the most recent one. Included
 * by the kernels, which define low_bits and count_bits (sets_kernel.h) and
 *
 *	next_bit(word, own)	of the bits set in word the one that has as many below it as there
 *				are places below the only one set in own; 0 if there is none, or own
 *				is 0
 *	without(pair, own)	of both words the bits above own's one moved down by one, over it;
 *the pair itself if own is 0
 *
 * The two words of a set are stored as one vector, and so loaded where both are wanted: a load
 *waits long for two narrower stores, but not a word's for a pair's. */
#ifndef LOCI_ENGINE_SETS_TREE_H
#define LOCI_ENGINE_SETS_TREE_H

#include "engine/sets_state.h"

#define always_inline inline __attribute__((always_inline))

/* Of a knot and of the list that stands for it. Those of depth d are 2 << 3 * d. */
static always_inline uint64_t tree_index(unsigned depth, uint64_t block)
{
	uint64_t mask = ((uint64_t)2 << SETS_KNOT_LEVELS * depth) - 1;

	return (mask - 1) / 7 + (block & mask);
}

static always_inline struct sets_knot *tree_knot(
	const struct sets_tree *tree, unsigned depth, uint64_t block)
{
	return &tree->knot[tree_index(depth, block)];
}

static always_inline uint64_t set_take(uint64_t *word, uint64_t bit, uint64_t own)
{
	own = next_bit(word[bit], own);
	*(sets_row *)word = without(*(const sets_row *)word, own);
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
	const struct sets_tree *tree, unsigned depth, uint64_t block, uint64_t *own)
{
	return knot_take(
		tree_knot(tree, depth, block), block >> (SETS_KNOT_LEVELS * depth + 1), own);
}

/* How long the blocks of a list are, and the first bit of each of 60 / width. */
static always_inline unsigned list_width(unsigned depth)
{
	return LOCI_SETS_MAX_BITS - 1 - SETS_KNOT_LEVELS * depth;
}

static always_inline uint64_t list_firsts(unsigned depth)
{
	unsigned width = list_width(depth), used = SETS_LIST_N / width * width;

	return (((uint64_t)1 << used) - 1) / (((uint64_t)1 << width) - 1);
}

static always_inline uint64_t list_bits(unsigned depth, uint64_t block)
{
	return low_bits(block >> (SETS_KNOT_LEVELS * depth + 1), list_width(depth));
}

/* Removes the block whose position in its set of 2^16 is that of *own; adds its positions in the
 * coarser ones, a byte each, and leaves in *own that of the coarsest. */
static always_inline void list_take(
	uint64_t *list, unsigned depth, uint64_t block, uint64_t *own, uint64_t *row)
{
	unsigned width = list_width(depth), n = (unsigned)(*list >> SETS_LIST_N);
	uint64_t blocks = *list & SETS_LIST_BITS, firsts = list_firsts(depth);
	uint64_t differ = blocks ^ firsts * list_bits(depth, block), below;
	uint64_t same[LOCI_SETS_MAX_BITS];

	same[0] = low_bits(firsts, n * width);
#pragma GCC unroll 12
	for (unsigned i = 0; i < width; i++)
		same[i + 1] = same[i] & ~(differ >> i);
	below = next_bit(same[width], *own) - 1;
#pragma GCC unroll 12
	for (unsigned i = 0; i < width; i++) {
		unsigned byte = SETS_KNOT_LEVELS * depth + i;

		row[byte / 8] |= (uint64_t)count_bits(same[i] & below) << byte % 8 * 8;
	}
	*own = (uint64_t)1 << count_bits(same[0] & below);
	*list = (uint64_t)(n - 1) << SETS_LIST_N | (blocks & below) | (blocks >> width & ~below);
}

/* Removes a block that has so many more recent ones in its set of 2^16, and returns how many in all
 * of its sets. */
static always_inline sets_row tree_take(
	const struct sets_tree *tree, uint64_t block, unsigned position)
{
	uint64_t own = (uint64_t)1 << position, row[2] = { 0, (uint64_t)position << 56 }, found;
	unsigned depth = 1;

#pragma GCC unroll 4
	for (; depth < SETS_KNOTS; depth++) {
		uint64_t *list = &tree->list[tree_index(depth, block)];

		if (*list >= SETS_OPEN)
			continue;
		list_take(list, depth, block, &own, row);
		break;
	}
	switch (depth) {
	case 5:
		row[1] |= tree_take_at(tree, 4, block, &own) << 32;
		/* fall through */
	case 4:
		row[1] |= tree_take_at(tree, 3, block, &own) << 8;
		/* fall through */
	case 3:
		found = tree_take_at(tree, 2, block, &own);
		row[1] |= found >> 16;
		row[0] |= found << 48;
		/* fall through */
	case 2:
		row[0] |= tree_take_at(tree, 1, block, &own) << 24;
		/* fall through */
	case 1:
		row[0] |= tree_take_at(tree, 0, block, &own);
	}
	return (sets_row){ row[0], row[1] };
}

static always_inline void set_put(uint64_t *word, uint64_t bit)
{
	static const sets_row newest[2] = { { 1, 0 }, { 0, 1 } };

	*(sets_row *)word = *(const sets_row *)word << 1 | newest[bit];
}

static always_inline void knot_put(struct sets_knot *knot, uint64_t bits)
{
	uint64_t first = bits & 1, second = bits >> 1 & 1;

	set_put(knot->coarse, first);
	set_put(knot->middle[first], second);
	set_put(knot->fine[2 * first + second], bits >> 2 & 1);
}

static always_inline void list_put(uint64_t *list, unsigned depth, uint64_t block)
{
	uint64_t n = *list >> SETS_LIST_N;

	*list = (n + 1) << SETS_LIST_N | (*list & SETS_LIST_BITS) << list_width(depth) |
		list_bits(depth, block);
}

static always_inline bool list_is_full(uint64_t list, unsigned depth)
{
	unsigned most = SETS_LIST_N / list_width(depth);

	return list >> SETS_LIST_N >= (most < SETS_LIST_MOST ? most : SETS_LIST_MOST);
}

/* A list becomes a knot with lists below it. Its blocks agree with another one of the same set in
 * their low bits. */
static inline void tree_open(const struct sets_tree *tree, unsigned depth, uint64_t other)
{
	uint64_t *list = &tree->list[tree_index(depth, other)];
	unsigned shift = SETS_KNOT_LEVELS * depth + 1, width = list_width(depth);

	for (uint64_t n = *list >> SETS_LIST_N; n-- > 0;) {
		uint64_t bits = low_bits(*list >> n * width, width);
		uint64_t block = low_bits(other, shift) | bits << shift;

		knot_put(tree_knot(tree, depth, block), bits);
		if (depth + 1 < SETS_KNOTS)
			list_put(&tree->list[tree_index(depth + 1, block)], depth + 1, block);
	}
	*list = SETS_OPEN;
}

/* Puts a block before all others of its sets. */
static always_inline void tree_put(const struct sets_tree *tree, uint64_t block)
{
	knot_put(tree_knot(tree, 0, block), block >> 1);
#pragma GCC unroll 5
	for (unsigned depth = 1; depth < SETS_KNOTS; depth++) {
		uint64_t *list = &tree->list[tree_index(depth, block)];

		if (*list < SETS_OPEN) {
			if (!list_is_full(*list, depth)) {
				list_put(list, depth, block);
				return;
			}
			tree_open(tree, depth, block);
		}
		knot_put(tree_knot(tree, depth, block), block >> (SETS_KNOT_LEVELS * depth + 1));
	}
}

#endif
