// SPDX-License-Identifier: GPL-2.0-or-later
/* How blocks end: one by one, with what is inside them, or all in a range. */
#include "analyse/object_heap_state.h"

/* The nearest block around one that is alive: while a range is cleared an outer one may be gone
 * before. 0 where it is of another level. */
static uint32_t outer_at_level(const struct loci_heap *heap, const struct loci_heap_block *block)
{
	uint32_t number = block->outer;

	while (number && !loci_heap_block_at(heap, number)->bytes)
		number = loci_heap_block_at(heap, number)->outer;
	return number && loci_heap_block_at(heap, number)->level == block->level ? number : 0;
}

/* Takes a block without any inside it out of its pages. Returns the pages, which may be empty. */
static void unlink_block(struct loci_heap *heap, uint32_t number, struct loci_page *ret_page[2])
{
	struct loci_heap_block *block = loci_heap_block_at(heap, number);
	unsigned level = block->level, place = loci_page_place(level, block->low);
	uint64_t first = block->low >> loci_page_shift(level),
		 last = loci_heap_block_last(block) >> loci_page_shift(level);
	uint32_t outer = outer_at_level(heap, block);

	ret_page[0] = loci_pages_find(&heap->pages, level, first);
	if (outer &&
		loci_page_granule(level, loci_heap_block_at(heap, outer)->low) ==
			loci_page_granule(level, block->low))
		*loci_page_at(ret_page[0], place) = outer;
	else
		loci_page_erase(ret_page[0], place);
	ret_page[1] = last != first ? loci_pages_find(&heap->pages, level, last) : NULL;
	if (ret_page[1] && ret_page[1]->head == number)
		ret_page[1]->head = outer;
}

static void end_block(struct loci_heap *heap, uint32_t number)
{
	struct loci_heap_block *block = loci_heap_block_at(heap, number);
	uint32_t object = block->object;
	struct loci_page *page[2];

	unlink_block(heap, number, page);
	for (unsigned i = 0; i < 2 && !heap->sweeping; i++)
		if (page[i])
			loci_pages_drop_if_empty(&heap->pages, page[i]);
	block->serial++;
	block->bytes = 0;
	block->object = heap->free_block;
	heap->free_block = number;
	heap->count--;
	heap->ended(heap->data, object);
}

/* Visits the blocks that begin in a range, the innermost of each granule; where the visit ends one,
 * then the one around it. Until it is over pages stay, even empty, and records are not reused. */
struct sweep {
	uint64_t low, last;
	void (*visit)(struct loci_heap *heap, uint32_t number, struct sweep *sweep);
	bool found; /* nothing more is wanted */
};

static void sweep_page(struct loci_heap *heap, struct loci_page *page, struct sweep *sweep)
{
	unsigned level = page->key & 7, shift = loci_page_shift(level);
	int first = 0, place = LOCI_PAGE_GRANULES - 1;

	if (sweep->low >> shift == page->key >> 3)
		first = (int)loci_page_place(level, sweep->low);
	if (sweep->last >> shift == page->key >> 3)
		place = (int)loci_page_place(level, sweep->last);
	while (!sweep->found && (place = loci_page_last(page, place)) >= first) {
		uint32_t number = *loci_page_at(page, (unsigned)place);
		uint64_t begins = loci_heap_block_at(heap, number)->low;

		if (begins >= sweep->low && begins <= sweep->last)
			sweep->visit(heap, number, sweep);
		if (loci_heap_block_at(heap, number)->bytes)
			place--;
	}
}

static void purge_page(struct loci_heap *heap, struct loci_page *page, struct sweep *sweep)
{
	loci_pages_drop_if_empty(&heap->pages, page);
}

/* Pages of a level in the range, from the last down; where the range has more than there are pages
 * at all in the order of the table. */
static void each_page(struct loci_heap *heap, unsigned level, struct sweep *sweep,
	void (*fn)(struct loci_heap *heap, struct loci_page *page, struct sweep *sweep))
{
	struct loci_pages *pages = &heap->pages;
	uint64_t first = sweep->low >> loci_page_shift(level),
		 more = (sweep->last >> loci_page_shift(level)) - first;

	if (more >> pages->table_bits) {
		for (size_t i = (size_t)1 << pages->table_bits; i--;)
			if (pages->table[i] && (pages->table[i]->key & 7) == level &&
				(pages->table[i]->key >> 3) - first <= more)
				fn(heap, pages->table[i], sweep);
		return;
	}
	for (uint64_t k = more + 1; k--;) {
		struct loci_page *page = loci_pages_find(pages, level, first + k);

		if (page)
			fn(heap, page, sweep);
	}
}

static void sweep_range(struct loci_heap *heap, struct sweep *sweep)
{
	size_t before = heap->count;

	heap->sweeping = true;
	for (unsigned level = 0; level < LOCI_PAGE_LEVELS && !sweep->found; level++)
		if (heap->pages.level_n[level])
			each_page(heap, level, sweep, sweep_page);
	heap->sweeping = false;
	for (unsigned level = 0; level < LOCI_PAGE_LEVELS && heap->count != before; level++)
		each_page(heap, level, sweep, purge_page);
}

static void end_inside(struct loci_heap *heap, uint32_t number, struct sweep *sweep)
{
	if (!loci_heap_encloses(loci_heap_block_at(heap, number), sweep->low, sweep->last))
		end_block(heap, number);
}

/* Ends a block and all inside it. */
static void end_whole(struct loci_heap *heap, uint32_t number)
{
	struct loci_heap_block *block = loci_heap_block_at(heap, number);
	struct sweep sweep = {
		.low = block->low, .last = loci_heap_block_last(block), .visit = end_inside
	};

	if (block->parted)
		sweep_range(heap, &sweep);
	end_block(heap, number);
}

bool loci_heap_remove(struct loci_heap *heap, uint64_t low)
{
	uint32_t number = loci_heap_number_at(heap, low);

	if (number)
		end_whole(heap, number);
	return number;
}

/* Ends the blocks around an edge of a range; those that enclose more than the range stay if wanted.
 * Gives the first that stays. */
static uint32_t end_around(
	struct loci_heap *heap, uint64_t edge, uint64_t low, uint64_t last, bool keep_enclosing)
{
	uint32_t number;

	while ((number = loci_heap_number(heap, edge))) {
		const struct loci_heap_block *block = loci_heap_block_at(heap, number);

		if (keep_enclosing && loci_heap_encloses(block, low, last) &&
			block->bytes > last - low + 1)
			break;
		end_whole(heap, number);
	}
	return number;
}

void loci_heap_clear(struct loci_heap *heap, uint64_t low, uint64_t bytes)
{
	struct sweep sweep = {
		.low = low, .last = loci_heap_last(low, bytes), .visit = end_inside
	};

	if (!bytes || !heap->count)
		return;
	end_around(heap, low, low, sweep.last, false);
	end_around(heap, sweep.last, low, sweep.last, false);
	sweep_range(heap, &sweep);
}

static void note_found(struct loci_heap *heap, uint32_t number, struct sweep *sweep)
{
	sweep->found = true;
}

bool loci_heap_overlaps(const struct loci_heap *heap, uint64_t low, uint64_t bytes)
{
	struct sweep sweep = {
		.low = low, .last = loci_heap_last(low, bytes), .visit = note_found
	};

	if (!bytes || !heap->count)
		return false;
	if (loci_heap_number(heap, low))
		return true;
	sweep_range((struct loci_heap *)heap, &sweep); /* which ends nothing */
	return sweep.found;
}

static void part_blocks(struct loci_heap *heap, uint32_t number, struct sweep *sweep)
{
	while (number) {
		struct loci_heap_block *block = loci_heap_block_at(heap, number);

		block->serial++;
		block->parted = true;
		number = block->outer;
	}
}

void loci_heap_part(struct loci_heap *heap, uint64_t low, uint64_t bytes)
{
	struct sweep sweep = {
		.low = low, .last = loci_heap_last(low, bytes), .visit = part_blocks
	};

	if (!bytes || !heap->count)
		return;
	part_blocks(heap, loci_heap_number(heap, low), &sweep);
	sweep_range(heap, &sweep);
}

uint32_t loci_heap_make_room(struct loci_heap *heap, uint64_t low, uint64_t last, unsigned level)
{
	struct sweep sweep = { .low = low, .last = last, .visit = end_inside };
	struct loci_page *page;
	uint32_t outer;

	outer = end_around(heap, low, low, last, true);
	end_around(heap, last, low, last, true);
	sweep_range(heap, &sweep);
	while ((page = loci_pages_find(&heap->pages, level, low >> loci_page_shift(level))) &&
		loci_page_starts(page, loci_page_place(level, low))) {
		uint32_t number = *loci_page_at(page, loci_page_place(level, low));

		if (loci_heap_encloses(loci_heap_block_at(heap, number), low, last))
			break;
		end_whole(heap, number);
	}
	return outer;
}
