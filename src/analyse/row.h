/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows: one site's references to one object, and how they walk there. The state of a site remembers
 * the object it is in and how long that holds.
 *
 * A reference is regular if at least 15 of the last 16 strides of its site agree with the site's
 * current stride, which is taken anew from two strides in a row that are alike. */
#ifndef LOCI_ANALYSE_ROW_H
#define LOCI_ANALYSE_ROW_H

#include "analyse/keymap.h"
#include "analyse/object.h"
#include "engine/recent.h"

#include <stddef.h>

#define LOCI_NO_ROW      0u
/* What sites count goes to their rows when it is as much as this, so that what one path counts
 * together with references need not be looked at by itself. */
#define LOCI_ROW_MOST    0x80000000u
#define LOCI_ROW_HISTORY 0xffffu /* all of the last strides agree */

struct loci_row {
	uint32_t site, object;
	uint64_t refs, regular;
	uint64_t near[LOCI_RECENT]; /* by distance: touches that are not in its histogram */
	int64_t stride; /* most frequent of the regular ones, as a majority vote goes .. */
	uint64_t votes; /* .. and how many it is ahead */
	/* Offsets in the object: the first, and what divides all differences from it. */
	uint64_t first_offset, divisor;
	uint64_t used_bytes; /* of the blocks it brought into the first level; in 1/64 of a block */
};

struct loci_row_site {
	/* While (address - base[framed]) - low < bytes and *serial == seen the row is this. */
	uint64_t low, bytes;
	const uint32_t *serial;
	uint32_t seen;
	uint32_t row;
	uint64_t last; /* address */
	int64_t stride;
	uint32_t born; /* as in a batch */
	uint32_t refs; /* since the row or the stride is this; not in the row yet */
	uint8_t place; /* of the most recent blocks: where its last one was found */
	uint16_t history;
	uint16_t generation;
	uint8_t framed;
	bool started;
	int64_t previous;           /* stride */
	uint32_t irregular;         /* of refs */
	uint32_t near[LOCI_RECENT]; /* not in the row yet, either */
	/* Offsets that differ from the first in no bit of the mask tell nothing of the object. */
	uint64_t offset_mask, first_offset;
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct loci_row_site) == 128, "two cache lines");
_Static_assert(offsetof(struct loci_row_site, previous) == 64, "the first for what holds");

struct loci_rows {
	struct loci_row *row; /* row 0 takes what finds no room */
	size_t n, cap;
	struct loci_keymap ids; /* by site and object */
	struct loci_row_site *site;
	size_t site_cap;
	bool full;
};

int loci_rows_init(struct loci_rows *rows); /* 0 or -ENOMEM, as all below */
void loci_rows_fini(struct loci_rows *rows);
int loci_rows_reserve(struct loci_rows *rows, size_t n_sites);

#define LOCI_NO_OFFSET UINT64_MAX
/* The site's reference, at offset in its object, is in another place than the state knows. */
int loci_rows_move(struct loci_rows *rows, uint32_t site, const struct loci_object_hit *hit,
	uint64_t offset, uint32_t born);
/* The site's first reference. */
void loci_rows_start(struct loci_row_site *site, uint64_t address);
/* A stride that differs from the site's, where that means more than being irregular: it was the one
 * before too, or the offset, which is as above, tells something of the object. */
void loci_rows_stray(
	struct loci_rows *rows, struct loci_row_site *site, int64_t stride, uint64_t offset);

/* What sites have counted goes to their rows. */
void loci_rows_settle(struct loci_rows *rows, struct loci_row_site *site);
void loci_rows_settle_near(struct loci_rows *rows, struct loci_row_site *site);

/* n touches at a near distance that no histogram knows of. */
void loci_rows_near(
	struct loci_rows *rows, struct loci_row_site *site, unsigned distance, uint64_t n);
/* loci_rows_step n times, every time so much further. */
void loci_rows_steps(struct loci_rows *rows, struct loci_row_site *site, uint64_t step, uint64_t n,
	uint64_t low);

/* A reference of a site that has started and knows its row. low: what offsets are from. */
static inline void loci_rows_step(
	struct loci_rows *rows, struct loci_row_site *site, uint64_t address, uint64_t low)
{
	int64_t stride = (int64_t)(address - site->last);
	bool odd = stride != site->stride;

	site->last = address;
	if (!odd & (site->history == LOCI_ROW_HISTORY)) { /* as most: nothing else is new */
		if (__builtin_expect(++site->refs >= LOCI_ROW_MOST, 0))
			loci_rows_settle(rows, site);
		return;
	}
	site->history = (uint16_t)(site->history << 1 | !odd);
	if (odd &
		((stride == site->previous) |
			(((address - low - site->first_offset) & site->offset_mask) != 0)))
		loci_rows_stray(rows, site, stride, address - low);
	site->previous = stride;
	site->irregular += (uint16_t)(site->history | (site->history + 1)) != UINT16_MAX;
	if (__builtin_expect(++site->refs >= LOCI_ROW_MOST, 0))
		loci_rows_settle(rows, site);
}

#endif
