/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distinct bytes, and how often each 8-byte word was used.
 *
 * Of the process exactly: a page of 4 KiB that was touched has a bit for each byte loaded, one for
 * each stored, and a counter for each word, 5 KiB in all. Of every function by a sample of words,
 * those whose hash is below a bound that halves when there are too many (adaptive sampling: Wegman;
 * Flajolet 1990): what is known of a word in the sample is exact, so that a function that touches
 * few has no error. That of large ones is 1.96 / sqrt(LOCI_SKETCH_WORDS / 2), 3.1 %, at worst where
 * all words are touched alike, and each knows its own. */
#ifndef LOCI_ANALYSE_FOOTPRINT_H
#define LOCI_ANALYSE_FOOTPRINT_H

#include "analyse/keymap.h"

#include <stdbool.h>
#include <stddef.h>

#define LOCI_SKETCH_WORDS     8192 /* of a function, at most */
#define LOCI_FOOTPRINT_RECENT 64

struct loci_sketch {
	struct loci_sketched {
		uint64_t word;          /* plus one; 0: the slot is free */
		uint8_t loaded, stored; /* a bit for each byte */
	} * slot;
	unsigned bits;  /* of the table's size */
	unsigned level; /* words are kept whose hash begins with so many zeros */
	size_t n;
};

struct loci_footprint_page;

struct loci_footprint {
	struct loci_footprint_page **page; /* open addressing, by number */
	unsigned bits;
	size_t n_pages;
	struct loci_footprint_page *recent[LOCI_FOOTPRINT_RECENT];
	struct loci_sketch *sketch; /* by the function's site */
	size_t sketch_cap;
	uint64_t bytes, max_bytes; /* taken; 0: no limit */
	bool dropped;              /* there was no room: nothing is known */
};

/* max_bytes 0: no limit. NULL: no memory. */
struct loci_footprint *loci_footprint_new(uint64_t max_bytes);
void loci_footprint_free(struct loci_footprint *footprint); /* NULL allowed */
/* function: a number below 2^32; 0: none. 0 or -ENOMEM. */
int loci_footprint_touch(struct loci_footprint *footprint, uint64_t address, uint64_t size_bytes,
	bool is_write, uint32_t function);

/* What it comes to; several add up. */
struct loci_footprint_bytes {
	uint32_t function;
	double loaded, stored, touched;
	double variance; /* of touched */
};

struct loci_footprint_sum { /* all 0 to begin with */
	uint64_t loaded_bytes, stored_bytes, touched_bytes;
	struct loci_footprint_use {
		uint64_t uses, words; /* so many words were used so often */
	} * use;
	size_t n_uses, use_cap;
	struct loci_keymap use_ids;
	struct loci_footprint_bytes *function;
	size_t n_functions, function_cap;
	struct loci_keymap function_ids;
	bool recorded, dropped;
};

/* Functions are numbered anew by map. 0 or -ENOMEM. */
int loci_footprint_add(struct loci_footprint_sum *sum, const struct loci_footprint *footprint,
	const uint32_t *map);
void loci_footprint_sum_fini(struct loci_footprint_sum *sum);
/* The fewest words that have at least this share of all uses. Sorts. */
uint64_t loci_footprint_words(struct loci_footprint_sum *sum, unsigned percent);

#endif
