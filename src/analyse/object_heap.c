// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks by address: lookups and allocations. object_heap_state.h says how they are kept. */
#include "analyse/object_heap.h"

#include "analyse/object_heap_state.h"
#include "base/cleanup.h"

#include <errno.h>

static unsigned level_of(uint64_t bytes)
{
	unsigned level = 0;

	while (bytes > (uint64_t)1 << loci_page_shift(level))
		level++;
	return level;
}

/* Chains of outer blocks are followed within a level only: at the next one a block may be nearer
 * that is not around this one. */
static uint32_t around(
	const struct loci_heap *heap, unsigned level, uint32_t number, uint64_t address)
{
	while (number) {
		const struct loci_heap_block *block = loci_heap_block_at(heap, number);

		if (block->level != level)
			return 0;
		if (loci_heap_contains(block, address))
			return number;
		number = block->outer;
	}
	return 0;
}

/* The innermost begins in the address's granule, but after it: one around it may still begin in
 * the same granule and before. */
static uint32_t around_here(
	const struct loci_heap *heap, unsigned level, uint32_t number, uint64_t address)
{
	uint64_t granule = loci_page_granule(level, address);

	while (number) {
		const struct loci_heap_block *block = loci_heap_block_at(heap, number);

		if (block->level != level || loci_page_granule(level, block->low) != granule)
			return 0;
		if (loci_heap_contains(block, address))
			return number;
		number = block->outer;
	}
	return 0;
}

static uint32_t find_at(const struct loci_heap *heap, unsigned level, uint64_t address)
{
	const struct loci_page *page =
		loci_pages_find(&heap->pages, level, address >> loci_page_shift(level));
	int place = (int)loci_page_place(level, address), start;
	uint32_t number;

	if (!page)
		return 0;
	start = loci_page_last(page, place);
	if (start < 0)
		return around(heap, level, page->head, address);
	number = *loci_page_at(page, (unsigned)start);
	if (loci_heap_block_at(heap, number)->low <= address)
		return around(heap, level, number, address);
	number = around_here(heap, level, number, address);
	if (number)
		return number;
	start = loci_page_last(page, place - 1);
	return around(heap, level, start < 0 ? page->head : *loci_page_at(page, (unsigned)start),
		address);
}

uint32_t loci_heap_number(const struct loci_heap *heap, uint64_t address)
{
	for (unsigned level = 0; level < LOCI_PAGE_LEVELS; level++) {
		uint32_t number = heap->pages.level_n[level] ? find_at(heap, level, address) : 0;

		if (number)
			return number;
	}
	return 0;
}

/* Code goes back and forth between blocks. One that lives and that nothing else was ever in is the
 * innermost around all its addresses. */
struct loci_heap_block *loci_heap_find(const struct loci_heap *heap, uint64_t address)
{
	struct loci_heap_block **found =
		&heap->found[(address >> LOCI_HEAP_FOUND_SHIFT) % LOCI_HEAP_FOUND];
	uint32_t number;

	if (*found && loci_heap_contains(*found, address) && !(*found)->parted)
		return *found;
	number = loci_heap_number(heap, address);
	if (!number)
		return NULL;
	*found = loci_heap_block_at(heap, number);
	return *found;
}

uint32_t loci_heap_number_at(const struct loci_heap *heap, uint64_t low)
{
	for (unsigned level = 0; level < LOCI_PAGE_LEVELS; level++) {
		unsigned place = loci_page_place(level, low);
		const struct loci_page *page;
		uint32_t number;

		if (!heap->pages.level_n[level])
			continue;
		page = loci_pages_find(&heap->pages, level, low >> loci_page_shift(level));
		if (!page || !loci_page_starts(page, place))
			continue;
		number = *loci_page_at(page, place);
		while (number && loci_heap_block_at(heap, number)->level == level) {
			if (loci_heap_block_at(heap, number)->low == low)
				return number;
			number = loci_heap_block_at(heap, number)->outer;
		}
	}
	return 0;
}

struct loci_heap_block *loci_heap_at(const struct loci_heap *heap, uint64_t low)
{
	uint32_t number = loci_heap_number_at(heap, low);

	return number ? loci_heap_block_at(heap, number) : NULL;
}

static int take_block(struct loci_heap *heap, uint32_t *ret, struct loci_err *err)
{
	if (heap->free_block) {
		*ret = heap->free_block;
		heap->free_block = loci_heap_block_at(heap, *ret)->object;
		return 0;
	}
	if (heap->n_blocks == UINT32_MAX)
		return loci_err_set(err, ENOMEM, "more than 2^32 live allocations");
	if (heap->n_blocks >> LOCI_HEAP_CHUNK_BITS == heap->n_chunks) {
		struct loci_heap_block **chunk = realloc(
			heap->chunk, (heap->n_chunks + 1) * sizeof(struct loci_heap_block *));

		if (!chunk)
			return loci_err_nomem(err);
		heap->chunk = chunk;
		chunk[heap->n_chunks] = calloc((size_t)1 << LOCI_HEAP_CHUNK_BITS, sizeof(**chunk));
		if (!chunk[heap->n_chunks])
			return loci_err_nomem(err);
		heap->n_chunks++;
	}
	*ret = heap->n_blocks++;
	return 0;
}

/* The pages of a block, made where they lack, and its start among them. */
static int link_block(struct loci_heap *heap, uint32_t number, struct loci_err *err)
{
	const struct loci_heap_block *block = loci_heap_block_at(heap, number);
	unsigned level = block->level, shift = loci_page_shift(level),
		 place = loci_page_place(level, block->low);
	uint64_t first = block->low >> shift, last = loci_heap_block_last(block) >> shift;
	struct loci_page *page, *next = NULL;
	int r = 0;

	if (last != first)
		r = loci_pages_make(&heap->pages, level, last, &next, err);
	if (r == 0)
		r = loci_pages_make(&heap->pages, level, first, &page, err);
	if (r < 0)
		return r;
	if (loci_page_starts(page, place))
		*loci_page_at(page, place) = number;
	else
		r = loci_page_insert(&heap->pages, page, place, number, err);
	if (r == 0 && next)
		next->head = number;
	return r;
}

int loci_heap_add(struct loci_heap *heap, uint64_t low, uint64_t bytes, uint32_t object,
	struct loci_heap_block **ret, struct loci_err *err)
{
	uint64_t most = (uint64_t)1 << loci_page_shift(LOCI_PAGE_LEVELS - 1),
		 last = loci_heap_last(low,
			 !bytes                 ? 1
				 : bytes < most ? bytes
						: most);
	unsigned level = level_of(last - low + 1);
	uint32_t outer = loci_heap_make_room(heap, low, last, level), number = 0;
	struct loci_heap_block *block;
	int r = take_block(heap, &number, err);

	if (r < 0)
		return r;
	block = loci_heap_block_at(heap, number);
	block->low = low;
	block->bytes = last - low + 1;
	block->level = level;
	block->parted = false;
	block->object = object;
	block->outer = outer;
	heap->last_epoch += heap->last_epoch == UINT32_MAX ? 2 : 1;
	block->epoch = heap->last_epoch;
	r = link_block(heap, number, err);
	if (r < 0)
		return r;
	if (outer) {
		loci_heap_block_at(heap, outer)->parted = true;
		loci_heap_block_at(heap, outer)->serial++;
	}
	heap->count++;
	*ret = block;
	return 0;
}

int loci_heap_new(void (*ended)(void *data, uint32_t object), void *data, struct loci_heap **ret,
	struct loci_err *err)
{
	struct loci_heap *heap = calloc(1, sizeof(*heap));
	int r;

	if (!heap)
		return loci_err_nomem(err);
	heap->ended = ended;
	heap->data = data;
	heap->n_blocks = 1;
	heap->found = calloc(LOCI_HEAP_FOUND, sizeof(*heap->found));
	r = heap->found ? loci_pages_init(&heap->pages, err) : loci_err_nomem(err);
	if (r == 0) {
		heap->chunk = calloc(1, sizeof(*heap->chunk));
		if (heap->chunk)
			heap->chunk[0] =
				calloc((size_t)1 << LOCI_HEAP_CHUNK_BITS, sizeof(**heap->chunk));
		heap->n_chunks = 1;
		r = heap->chunk && heap->chunk[0] ? 0 : loci_err_nomem(err);
	}
	if (r < 0) {
		loci_heap_free(heap);
		return r;
	}
	*ret = heap;
	return 0;
}

void loci_heap_free(struct loci_heap *heap)
{
	if (!heap)
		return;
	for (size_t i = 0; heap->chunk && i < heap->n_chunks; i++)
		free(heap->chunk[i]);
	free(heap->chunk);
	loci_pages_fini(&heap->pages);
	free(heap->found);
	free(heap);
}

size_t loci_heap_count(const struct loci_heap *heap)
{
	return heap->count;
}

uint64_t loci_heap_bytes(const struct loci_heap *heap)
{
	return sizeof(*heap) + LOCI_HEAP_FOUND * sizeof(*heap->found) + heap->pages.bytes +
		heap->n_chunks * (sizeof(struct loci_heap_block) << LOCI_HEAP_CHUNK_BITS);
}
