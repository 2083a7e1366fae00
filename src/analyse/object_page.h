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
	uint64_t key; /* page number << 3 | level */
	uint64_t starts[LOCI_PAGE_WORDS];
	uint16_t before[LOCI_PAGE_WORDS]; /* starts in the words before */
	uint16_t n, cap;
	uint32_t head;   /* 0: none */
	uint32_t *block; /* by start */
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

struct loci_page *loci_pages_find(const struct loci_pages *pages, unsigned level, uint64_t number);
/* The same, made where there is none. */
int loci_pages_make(struct loci_pages *pages, unsigned level, uint64_t number,
	struct loci_page **ret, struct loci_err *err);
/* Forgets a page that has neither starts nor a head. */
void loci_pages_drop_if_empty(struct loci_pages *pages, struct loci_page *page);

/* The number at a place where a block begins. */
uint32_t *loci_page_at(const struct loci_page *page, unsigned place);
bool loci_page_starts(const struct loci_page *page, unsigned place);
/* The last place at or before this one where a block begins, or -1. place may be -1. */
int loci_page_last(const struct loci_page *page, int place);
/* At a place where none begins. */
int loci_page_insert(struct loci_pages *pages, struct loci_page *page, unsigned place,
	uint32_t number, struct loci_err *err);
void loci_page_erase(struct loci_page *page, unsigned place);

#endif
