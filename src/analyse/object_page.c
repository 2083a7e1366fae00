// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/object_page.h"

#include "base/cleanup.h"

#include <string.h>

enum { FIRST_TABLE_BITS = 6 };

int loci_pages_init(struct loci_pages *pages, struct loci_err *err)
{
	memset(pages, 0, sizeof(*pages));
	pages->table = calloc((size_t)1 << FIRST_TABLE_BITS, sizeof(*pages->table));
	if (!pages->table)
		return loci_err_nomem(err);
	pages->table_bits = FIRST_TABLE_BITS;
	pages->bytes = sizeof(*pages->table) << FIRST_TABLE_BITS;
	return 0;
}

static void free_page(struct loci_page *page)
{
	if (page)
		free(page->block);
	free(page);
}

void loci_pages_fini(struct loci_pages *pages)
{
	for (size_t i = 0; pages->table && i < (size_t)1 << pages->table_bits; i++)
		free_page(pages->table[i]);
	while (pages->free) {
		struct loci_page *page = pages->free;

		pages->free = page->next_free;
		free_page(page);
	}
	free(pages->table);
}

static int grow_table(struct loci_pages *pages, struct loci_err *err)
{
	unsigned bits = pages->table_bits + 1;
	size_t mask = ((size_t)1 << bits) - 1, old = (size_t)1 << pages->table_bits;
	struct loci_page **table = calloc(mask + 1, sizeof(*table)), **was = pages->table;

	if (!table)
		return loci_err_nomem(err);
	pages->table = table;
	pages->table_bits = bits;
	pages->bytes += (mask + 1 - old) * sizeof(*table);
	for (size_t k = 0; k < old; k++) {
		size_t i;

		if (!was[k])
			continue;
		for (i = loci_pages_slot(pages, was[k]->key); table[i]; i = (i + 1) & mask)
			;
		table[i] = was[k];
	}
	free(was);
	return 0;
}

static struct loci_page *take_page(struct loci_pages *pages, uint64_t key)
{
	struct loci_page *page = pages->free;

	if (page) {
		pages->free = page->next_free;
	} else {
		page = calloc(1, sizeof(*page));
		if (!page)
			return NULL;
		pages->bytes += sizeof(*page);
	}
	page->key = key;
	return page;
}

int loci_pages_make(struct loci_pages *pages, unsigned level, uint64_t number,
	struct loci_page **ret, struct loci_err *err)
{
	struct loci_page *page = loci_pages_find(pages, level, number);
	size_t i, mask;

	*ret = page;
	if (page)
		return 0;
	if (pages->n * 2 >= (size_t)1 << pages->table_bits) {
		int r = grow_table(pages, err);

		if (r < 0)
			return r;
	}
	page = take_page(pages, loci_page_key(level, number));
	if (!page)
		return loci_err_nomem(err);
	mask = ((size_t)1 << pages->table_bits) - 1;
	for (i = loci_pages_slot(pages, page->key); pages->table[i]; i = (i + 1) & mask)
		;
	pages->table[i] = page;
	pages->n++;
	if (!pages->level_n[level]++)
		pages->level_low[level] = pages->level_high[level] = number;
	else if (number < pages->level_low[level])
		pages->level_low[level] = number;
	else if (number > pages->level_high[level])
		pages->level_high[level] = number;
	*ret = page;
	return 0;
}

/* Closes the hole in the table by moving up what stands behind it. */
static void drop_page(struct loci_pages *pages, struct loci_page *page)
{
	size_t mask = ((size_t)1 << pages->table_bits) - 1,
	       hole = loci_pages_slot(pages, page->key);
	unsigned level = page->key & 7;

	while (pages->table[hole] != page)
		hole = (hole + 1) & mask;
	pages->table[hole] = NULL;
	for (size_t i = (hole + 1) & mask; pages->table[i]; i = (i + 1) & mask) {
		size_t home = loci_pages_slot(pages, pages->table[i]->key);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		pages->table[hole] = pages->table[i];
		pages->table[i] = NULL;
		hole = i;
	}
	pages->n--;
	if (!--pages->level_n[level]) {
		pages->level_low[level] = 0;
		pages->level_high[level] = 0;
	}
	page->next_free = pages->free;
	pages->free = page;
}

void loci_pages_drop_if_empty(struct loci_pages *pages, struct loci_page *page)
{
	if (!page->n && !page->head)
		drop_page(pages, page);
}

int loci_page_insert(struct loci_pages *pages, struct loci_page *page, unsigned place,
	uint32_t number, struct loci_err *err)
{
	unsigned rank = loci_page_rank(page, place);

	if (page->n == page->cap) {
		unsigned cap = page->cap ? page->cap * 2u : 4;
		uint32_t *block = realloc(page->block, cap * sizeof(*block));

		if (!block)
			return loci_err_nomem(err);
		pages->bytes += (cap - page->cap) * sizeof(*block);
		page->block = block;
		page->cap = (uint16_t)cap;
	}
	memmove(page->block + rank + 1, page->block + rank,
		(page->n - rank) * sizeof(*page->block));
	page->block[rank] = number;
	page->n++;
	page->starts[place / 64] |= (uint64_t)1 << (place & 63);
	for (unsigned word = place / 64 + 1; word < LOCI_PAGE_WORDS; word++)
		page->before[word]++;
	return 0;
}

void loci_page_erase(struct loci_page *page, unsigned place)
{
	unsigned rank = loci_page_rank(page, place);

	page->n--;
	memmove(page->block + rank, page->block + rank + 1,
		(page->n - rank) * sizeof(*page->block));
	page->starts[place / 64] &= ~((uint64_t)1 << (place & 63));
	for (unsigned word = place / 64 + 1; word < LOCI_PAGE_WORDS; word++)
		page->before[word]--;
}
