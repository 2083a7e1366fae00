/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live blocks of memory by address: what malloc gave out, or what a program registered.
 *
 * Blocks nest: one that is allocated inside another hides that part of it while it lives (an
 * allocator inside the program hands out parts of a block). Blocks that overlap without nesting
 * cannot both be alive: the older one ends, as if it had been freed. So at any time the blocks form
 * a forest, and the block that an address belongs to is the innermost around it. One rule more:
 * of two blocks of up to 4 KiB that begin within the same aligned 8 bytes and do not nest the older
 * one ends.
 *
 * A block's record stays where it is as long as the heap lives and is used again after its end; its
 * serial, which only advances, tells whether it is still the same. */
#ifndef LOCI_ANALYSE_OBJECT_HEAP_H
#define LOCI_ANALYSE_OBJECT_HEAP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loci_heap_block {
	uint64_t low;
	uint64_t bytes : 56; /* 0: not alive */
	uint64_t level : 7;  /* by size; see object_heap.c */
	uint64_t parted : 1; /* part of it has belonged to others since it was allocated */
	uint32_t serial;     /* advances when what was said of the block no longer holds */
	uint32_t object;     /* the caller's number */
	uint32_t epoch;      /* number of the allocation, from 1; wraps after 2^32 */
	uint32_t outer;      /* record of the block around it; 0: none */
};
_Static_assert(sizeof(struct loci_heap_block) == 32, "there are millions of them");

struct loci_heap;

/* ended is called for every block that ends, by whatever cause. */
int loci_heap_new(void (*ended)(void *data, uint32_t object), void *data, struct loci_heap **ret,
	struct loci_err *err);
void loci_heap_free(struct loci_heap *heap);

/* 0 bytes are taken as 1, more than 2^54 as that; what would run past the last address ends there.
 */
int loci_heap_add(struct loci_heap *heap, uint64_t low, uint64_t bytes, uint32_t object,
	struct loci_heap_block **ret, struct loci_err *err);
/* Ends the innermost block that begins at low, and all inside it. False: none begins there. */
bool loci_heap_remove(struct loci_heap *heap, uint64_t low);
/* Ends every block that has a byte in the range. */
void loci_heap_clear(struct loci_heap *heap, uint64_t low, uint64_t bytes);

/* The innermost block around address, or NULL. */
struct loci_heap_block *loci_heap_find(const struct loci_heap *heap, uint64_t address);
/* The innermost block that begins at low, or NULL. */
struct loci_heap_block *loci_heap_at(const struct loci_heap *heap, uint64_t low);
bool loci_heap_overlaps(const struct loci_heap *heap, uint64_t low, uint64_t bytes);
/* Something else took the range, or part of it: answers about the blocks there no longer hold. */
void loci_heap_part(struct loci_heap *heap, uint64_t low, uint64_t bytes);

size_t loci_heap_count(const struct loci_heap *heap);
uint64_t loci_heap_bytes(const struct loci_heap *heap); /* memory used */

#endif
