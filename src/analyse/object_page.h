/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where blocks begin, by pages of several sizes: level k has pages of 4 KiB << 6k, each cut into
 * 512 granules. A page has a bit per granule in which a block begins, the numbers of those blocks
 * in that order, and its head: a block that runs into it from the page before. Pages are found by
 * hashing. Numbers are the caller's, not 0. */
#ifndef LOCI_ANALYSE_OBJECT_PAGE_H
#define LOCI_ANALYSE_OBJECT_PAGE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LOCI_PAGE_LEVELS = 8, /* the last: pages of 2^54 bytes */
	LOCI_PAGE_WORDS = 8,
	LOCI_PAGE_GRANULES = LOCI_PAGE_WORDS * 64,
};

struct loci_page {
	uint64_t key;    /* page number << 3 | level */
	uint32_t *block; /* by start */
	uint32_t head;   /* 0: none */
	uint16_t n, cap;
	uint16_t before[LOCI_PAGE_WORDS]; /* starts in the words before */
	uint64_t starts[LOCI_PAGE_WORDS];
	struct loci_page *next_free;
};

struct loci_pages {
	struct loci_page **table; /* open addressing, linear; at most half full */
	unsigned table_bits;
	size_t n, level_n[LOCI_PAGE_LEVELS];
	/* The span of page numbers in use, or wider. */
	uint64_t level_low[LOCI_PAGE_LEVELS], level_high[LOCI_PAGE_LEVELS];
	struct loci_page *free;
	uint64_t bytes; /* memory used */
};

static inline unsigned loci_page_shift(unsigned level)
{
	return 12 + 6 * level;
}

/* The number of a granule among all of its level, and within its page. */
static inline uint64_t loci_page_granule(unsigned level, uint64_t address)
{
	return address >> (3 + 6 * level);
}

static inline unsigned loci_page_place(unsigned level, uint64_t address)
{
	return (unsigned)loci_page_granule(level, address) & (LOCI_PAGE_GRANULES - 1);
}

int loci_pages_init(struct loci_pages *pages, struct loci_err *err);
void loci_pages_fini(struct loci_pages *pages);

/* Found, or made where there is none. */
int loci_pages_make(struct loci_pages *pages, unsigned level, uint64_t number,
	struct loci_page **ret, struct loci_err *err);
/* Forgets a page that has neither starts nor a head. */
void loci_pages_drop_if_empty(struct loci_pages *pages, struct loci_page *page);

/* At a place where none begins. */
int loci_page_insert(struct loci_pages *pages, struct loci_page *page, unsigned place,
	uint32_t number, struct loci_err *err);
void loci_page_erase(struct loci_page *page, unsigned place);

/* What lookups need. */

static inline size_t loci_pages_slot(const struct loci_pages *pages, uint64_t key)
{
	return key * 0x9e3779b97f4a7c15 >> (64 - pages->table_bits);
}

static inline uint64_t loci_page_key(unsigned level, uint64_t number)
{
	return number << 3 | level;
}

static inline struct loci_page *loci_pages_find(
	const struct loci_pages *pages, unsigned level, uint64_t number)
{
	uint64_t key = loci_page_key(level, number);
	size_t mask = ((size_t)1 << pages->table_bits) - 1;

	if (number - pages->level_low[level] > pages->level_high[level] - pages->level_low[level])
		return NULL;
	for (size_t i = loci_pages_slot(pages, key);; i = (i + 1) & mask) {
		struct loci_page *page = pages->table[i];

		if (!page || page->key == key)
			return page;
	}
}

/* Population count without the instruction, which not every x86-64 has. */
static inline unsigned loci_page_ones(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555;
	x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (unsigned)(x * 0x0101010101010101 >> 56);
}

static inline unsigned loci_page_rank(const struct loci_page *page, unsigned place)
{
	uint64_t below = ((uint64_t)1 << (place & 63)) - 1;

	return page->before[place / 64] + loci_page_ones(page->starts[place / 64] & below);
}

/* The number at a place where a block begins. */
static inline uint32_t *loci_page_at(const struct loci_page *page, unsigned place)
{
	return &page->block[loci_page_rank(page, place)];
}

static inline bool loci_page_starts(const struct loci_page *page, unsigned place)
{
	return page->starts[place / 64] >> (place & 63) & 1;
}

/* The last place at or before this one where a block begins, or -1. place may be -1. */
static inline int loci_page_last(const struct loci_page *page, int place)
{
	int word = place >> 6;
	uint64_t bits;

	if (place < 0)
		return -1;
	bits = page->starts[word] & ~(uint64_t)0 >> (63 - (place & 63));
	while (!bits) {
		if (!word)
			return -1;
		bits = page->starts[--word];
	}
	return word * 64 + 63 - __builtin_clzll(bits);
}

#endif
