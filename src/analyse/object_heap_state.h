/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block is kept at the lowest level whose pages it fits in. There it lies in two pages at most,
 * and no two blocks that are apart begin in the same granule (at level 0, of 8 bytes, see
 * object_heap.h). Blocks that begin in one granule are around each other; the page knows the
 * innermost.
 *
 * The block that an address belongs to is, at the lowest level that has one, the last to begin at
 * or before it or one around that: a block that contains the address and begins earlier contains
 * the later one, since blocks nest or are apart. What is inside is not larger, so it is found at a
 * lower level or begins later. Blocks end from the inside outwards: by level, then from the highest
 * start down. */
#ifndef LOCI_ANALYSE_OBJECT_HEAP_STATE_H
#define LOCI_ANALYSE_OBJECT_HEAP_STATE_H

#include "analyse/object_heap.h"
#include "analyse/object_page.h"

enum {
	LOCI_HEAP_CHUNK_BITS = 12,
	LOCI_HEAP_FOUND = 1024,
	LOCI_HEAP_FOUND_SHIFT = 5, /* small objects are as far apart */
};

struct loci_heap {
	void (*ended)(void *data, uint32_t object);
	void *data;
	struct loci_pages pages;
	struct loci_heap_block **chunk;
	size_t n_chunks;
	uint32_t n_blocks;   /* records made, the unused one of number 0 included */
	uint32_t free_block; /* linked by object */
	uint32_t last_epoch;
	size_t count;
	bool sweeping;
	struct loci_heap_block **found; /* by address: the last that was; NULL: none */
};

static inline struct loci_heap_block *loci_heap_block_at(
	const struct loci_heap *heap, uint32_t number)
{
	return &heap->chunk[number >> LOCI_HEAP_CHUNK_BITS]
			   [number & ((1u << LOCI_HEAP_CHUNK_BITS) - 1)];
}

static inline bool loci_heap_contains(const struct loci_heap_block *block, uint64_t address)
{
	return address - block->low < block->bytes;
}

static inline uint64_t loci_heap_last(uint64_t low, uint64_t bytes)
{
	return bytes - 1 > UINT64_MAX - low ? UINT64_MAX : low + (bytes - 1);
}

static inline uint64_t loci_heap_block_last(const struct loci_heap_block *block)
{
	return block->low + (block->bytes - 1);
}

static inline bool loci_heap_encloses(
	const struct loci_heap_block *block, uint64_t low, uint64_t last)
{
	return block->low <= low && loci_heap_block_last(block) >= last;
}

/* Records by number; 0: none. */
uint32_t loci_heap_number(
	const struct loci_heap *heap, uint64_t address);                  /* the innermost around */
uint32_t loci_heap_number_at(const struct loci_heap *heap, uint64_t low); /* that begins there */
/* Ends what a new block cannot live beside, and gives the block around it. */
uint32_t loci_heap_make_room(struct loci_heap *heap, uint64_t low, uint64_t last, unsigned level);

#endif
