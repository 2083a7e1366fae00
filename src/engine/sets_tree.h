/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of recency words: a block taken from it, and put back as the most recent one. Included
 * by the kernels, which define low_bits and count_two (sets_kernel.h) and
 *
 *	next_bit(word, own)	of the bits set in word the one that has as many below it as there
 *				are places below the only one set in own; 0 if there is none, or own
 *				is 0
 *	first_bit(word)		its place; 64 if there is none
 *	without(pair, own)	of both words the bits above own's one moved down by one, over it;
 *the pair itself if own is 0
 *
 * The two words of a set are stored as one vector, and so loaded where both are wanted: a load
 *waits long for two narrower stores, but not a word's for a pair's. */
#ifndef LOCI_ENGINE_SETS_TREE_H
#define LOCI_ENGINE_SETS_TREE_H

#include "engine/sets_state.h"

#define always_inline inline __attribute__((always_inline))

static always_inline uint64_t *tree_coarse(struct sets_tree *tree, unsigned level, uint64_t block)
{
	uint64_t bytes = sizeof(tree->coarse[0]) << level;
	uint64_t set = block * sizeof(tree->coarse[0]) & (bytes - 1);

	return (uint64_t *)((char *)tree->coarse + bytes + set);
}

/* Those of depth d are 256 << 2 * d. */
static always_inline struct sets_knot *tree_knot(
	const struct sets_tree *tree, unsigned depth, uint64_t block)
{
	uint64_t mask = ((uint64_t)1 << (SETS_FIRST_KNOT + SETS_KNOT_LEVELS * depth)) - 1;

	return &tree->knot[(mask - 255) / 3 + (block & mask)];
}

static always_inline uint64_t set_take(uint64_t *word, uint64_t bit, uint64_t own)
{
	own = next_bit(word[bit], own);
	*(sets_row *)word = without(*(const sets_row *)word, own);
	return own;
}

static always_inline uint64_t position_of(uint64_t own)
{
	return first_bit(own);
}

/* Removes from two sets the block that has the position of *own in the finer one; returns its
 * positions there, a byte each: 64 where the list has dropped it. */
static always_inline uint64_t knot_take(
	const struct sets_tree *tree, unsigned depth, uint64_t block, uint64_t *own)
{
	struct sets_knot *knot = tree_knot(tree, depth, block);
	uint64_t bits = block >> (SETS_FIRST_KNOT + SETS_KNOT_LEVELS * depth), first = bits & 1;
	uint64_t fine = set_take(knot->fine[first], bits >> 1 & 1, *own);
	uint64_t coarse = set_take(knot->coarse, first, fine);

	*own = coarse;
	return position_of(fine) << 8 | position_of(coarse);
}

#if !defined(SETS_LIST_TAKE)

/* Removes from a list of n the block with these bits, as many as width, that has the position of
 * *own among those with the same; leaves in *own its position in the list. Returns how many of the
 * more recent ones agree with it in the first bit, in the first two, and so on: a byte each. */
static always_inline uint64_t list_take(
	uint64_t *list, unsigned width, unsigned n, uint64_t bits, uint64_t *own)
{
	uint64_t same[LOCI_SETS_MAX_BITS], all = low_bits(UINT64_MAX, n), counts = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < width; i++) {
		all &= list[i] ^ ((bits >> i & 1) - 1);
		same[i] = all;
	}
	*own = next_bit(all, *own);
#pragma GCC unroll 4
	for (unsigned i = 0; i < width; i += 2)
		counts |= count_two(same[i] & (*own - 1), same[i + 1] & (*own - 1)) << 8 * i;
#pragma GCC unroll 4
	for (unsigned i = 0; i < width; i += 2)
		*(sets_row *)(list + i) = without(*(const sets_row *)(list + i), *own);
	return counts;
}

static always_inline void list_put(uint64_t *list, unsigned width, uint64_t bits)
{
	static const sets_row newest[4] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 } };

#pragma GCC unroll 4
	for (unsigned i = 0; i < width; i += 2)
		*(sets_row *)(list + i) =
			*(const sets_row *)(list + i) << 1 | newest[bits >> i & 3];
}

#endif

#define FIRST_WIDTH  (LOCI_SETS_MAX_BITS - SETS_FIRST_LIST)
#define SECOND_WIDTH (LOCI_SETS_MAX_BITS - SETS_SECOND_LIST)

/* The same for the sets of 2^8 and finer. */
static always_inline sets_row fine_take(struct sets_tree *tree, uint64_t block, uint64_t *own)
{
	unsigned first = block & 0xff, second = block & 0xfff;
	uint64_t high, found;

	if (tree->n_first[first] != SETS_OPEN) {
		high = list_take(tree->first[first], FIRST_WIDTH, tree->n_first[first]--,
			block >> SETS_FIRST_LIST, own);
		return (sets_row){ position_of(*own) << 56, high };
	}
	if (tree->n_second[second] != SETS_OPEN) {
		high = list_take(tree->second[second], SECOND_WIDTH, tree->n_second[second]--,
			       block >> SETS_SECOND_LIST, own)
			<< 32;
		high |= position_of(*own) << 24;
	} else {
		high = position_of(*own) << 56;
		high |= knot_take(tree, 3, block, own) << 40;
		high |= knot_take(tree, 2, block, own) << 24;
	}
	high |= knot_take(tree, 1, block, own) << 8;
	found = knot_take(tree, 0, block, own);
	return (sets_row){ found << 56, high | found >> 8 };
}

/* Removes a block that has so many more recent ones in its set of 2^16, and returns how many in all
 * of its sets. */
static always_inline sets_row tree_take(struct sets_tree *tree, uint64_t block, unsigned position)
{
	uint64_t own = (uint64_t)1 << position, low = 0;
	sets_row row = fine_take(tree, block, &own);

#pragma GCC unroll 8
	for (unsigned level = SETS_FIRST_KNOT - 1; level > 0; level--) {
		own = set_take(tree_coarse(tree, level, block), block >> level & 1, own);
		low |= position_of(own) << 8 * (level - 1);
	}
	return row | (sets_row){ low, 0 };
}

static always_inline void set_put(uint64_t *word, uint64_t bit)
{
	static const sets_row newest[2] = { { 1, 0 }, { 0, 1 } };

	*(sets_row *)word = *(const sets_row *)word << 1 | newest[bit];
}

static always_inline void knot_put(const struct sets_tree *tree, unsigned depth, uint64_t block)
{
	struct sets_knot *knot = tree_knot(tree, depth, block);
	uint64_t bits = block >> (SETS_FIRST_KNOT + SETS_KNOT_LEVELS * depth);

	set_put(knot->coarse, bits & 1);
	set_put(knot->fine[bits & 1], bits >> 1 & 1);
}

/* The bits of a list's block. */
static inline uint64_t list_bits(const uint64_t *list, unsigned width, unsigned place)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < width; i++)
		bits |= (list[i] >> place & 1) << i;
	return bits;
}

/* A list becomes knots. Its blocks agree with another one of the same set in their low bits. */
static __attribute__((noinline)) void open_second(struct sets_tree *tree, uint64_t other)
{
	unsigned second = other & 0xfff, n = tree->n_second[second];

	while (n-- > 0) {
		uint64_t block = second |
			list_bits(tree->second[second], SECOND_WIDTH, n) << SETS_SECOND_LIST;

		knot_put(tree, 2, block);
		knot_put(tree, 3, block);
	}
	tree->n_second[second] = SETS_OPEN;
}

/* And knots with lists below them. */
static __attribute__((noinline)) void open_first(struct sets_tree *tree, uint64_t other)
{
	unsigned first = other & 0xff, n = tree->n_first[first];

	while (n-- > 0) {
		uint64_t bits = list_bits(tree->first[first], FIRST_WIDTH, n);
		uint64_t block = first | bits << SETS_FIRST_LIST, second = block & 0xfff;

		knot_put(tree, 0, block);
		knot_put(tree, 1, block);
		list_put(tree->second[second], SECOND_WIDTH, block >> SETS_SECOND_LIST);
		tree->n_second[second]++;
	}
	tree->n_first[first] = SETS_OPEN;
	tree->n_open++;
}

static always_inline void fine_put(struct sets_tree *tree, uint64_t block)
{
	unsigned first = block & 0xff, second = block & 0xfff;

	if (tree->n_first[first] == SETS_LIST_MOST)
		open_first(tree, block);
	if (tree->n_first[first] != SETS_OPEN) {
		list_put(tree->first[first], FIRST_WIDTH, block >> SETS_FIRST_LIST);
		tree->n_first[first]++;
		return;
	}
	knot_put(tree, 0, block);
	knot_put(tree, 1, block);
	if (tree->n_second[second] == SETS_LIST_MOST)
		open_second(tree, block);
	if (tree->n_second[second] != SETS_OPEN) {
		list_put(tree->second[second], SECOND_WIDTH, block >> SETS_SECOND_LIST);
		tree->n_second[second]++;
		return;
	}
	knot_put(tree, 2, block);
	knot_put(tree, 3, block);
}

/* Puts a block before all others of its sets. */
static always_inline void tree_put(struct sets_tree *tree, uint64_t block)
{
#pragma GCC unroll 8
	for (unsigned level = 1; level < SETS_FIRST_KNOT; level++)
		set_put(tree_coarse(tree, level, block), block >> level & 1);
	fine_put(tree, block);
}

#endif
