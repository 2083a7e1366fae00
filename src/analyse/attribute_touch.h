/* SPDX-License-Identifier: GPL-2.0-or-later */
/* References to touches: whose each is, and into the batch. What nearly every reference needs is
 * inline. For the attribution's own files. */
#ifndef LOCI_ANALYSE_ATTRIBUTE_TOUCH_H
#define LOCI_ANALYSE_ATTRIBUTE_TOUCH_H

#include "analyse/attribute.h"

#define LOCI_GENERATION_BITS 48 /* above what an address has, whatever the block size */

int loci_attribution_open_levels(struct loci_attribution *a, struct loci_err *err);
/* The batch through the caches. */
int loci_attribution_simulate(struct loci_attribution *a, struct loci_err *err);
void loci_attribution_drain(struct loci_attribution *a);

/* The batch is as it will be passed on. */
int loci_attribution_complete(struct loci_attribution *a, struct loci_err *err);
/* Passes the batch on; another takes its place. */
int loci_attribution_flush(struct loci_attribution *a, struct loci_err *err);

/* Finds the object that the site's reference is in. */
int loci_touch_find(
	struct loci_attribution *a, uint32_t definition, uint64_t address, struct loci_err *err);
/* A reference that is not within one block of the first size, or is wanted at other sizes too. */
int loci_touch_blocks(struct loci_attribution *a, uint32_t definition, uint64_t address,
	uint64_t size_bytes, struct loci_err *err);

static inline bool loci_touch_holds(
	const struct loci_attribution *a, const struct loci_row_site *site, uint64_t address)
{
	return address - a->walk.base[site->framed] - site->low < site->bytes &&
		*site->serial == site->seen;
}

/* The bytes of a block, a bit each; of smaller or larger blocks, the 64ths. */
static inline uint64_t loci_touch_bytes(unsigned shift, uint64_t offset, uint64_t n)
{
	uint64_t from, to;

	if (shift == 6) {
		from = offset;
		to = offset + n;
	} else if (shift > 6) {
		from = offset >> (shift - 6);
		to = ((offset + n - 1) >> (shift - 6)) + 1;
	} else {
		from = offset << (6 - shift);
		to = (offset + n) << (6 - shift);
	}
	return UINT64_MAX >> (64 - (to - from)) << from;
}

/* A touch of the block touched before, which is dirty already if this one writes: a hit in every
 * cache, at distance 0. */
static inline void loci_touch_join(struct loci_attribution *a, struct loci_row_site *site,
	uint64_t use, uint8_t is_write, uint64_t bytes)
{
	struct loci_batch *b = a->batch;
	size_t i = b->n - 1;

	b->more[i]++;
	b->more_writes[i] += is_write;
	b->left[i] = use;
	a->bytes[i] |= bytes;
	a->here.repeats++;
	if (++site->repeats == UINT16_MAX)
		loci_rows_settle_repeats(&a->rows, site);
}

static inline int loci_touch_put(struct loci_attribution *a, struct loci_row_site *site,
	uint64_t block, uint8_t is_write, uint64_t bytes, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	uint64_t use = a->use | site->row | (uint64_t)is_write << LOCI_USE_WRITE;
	size_t n = b->n;

	block += (uint64_t)site->generation << LOCI_GENERATION_BITS;
	if (n && b->block[n - 1] == block && is_write <= b->is_write[n - 1] && a->joins &&
		b->more[n - 1] != UINT32_MAX) {
		loci_touch_join(a, site, use, is_write, bytes);
		return 0;
	}
	b->block[n] = block;
	b->use[n] = b->left[n] = use;
	b->more[n] = b->more_writes[n] = 0;
	b->born[n] = site->born;
	b->is_write[n] = is_write;
	a->owner[n] = site->row;
	a->bytes[n] = bytes;
	b->n = n + 1;
	return n + 1 == LOCI_BATCH ? loci_attribution_flush(a, err) : 0;
}

static inline int loci_touch_refer(struct loci_attribution *a, uint32_t definition,
	uint64_t address, uint64_t size_bytes, struct loci_err *err)
{
	const struct loci_code_ref *ref = &a->code.ref[definition];
	struct loci_row_site *site = &a->rows.site[ref->site];
	unsigned shift = a->shift;
	uint64_t block_bytes = 1ull << shift, offset = address & (block_bytes - 1);
	int64_t stride;

	if (!loci_touch_holds(a, site, address)) {
		int r = loci_touch_find(a, definition, address, err);

		if (r < 0)
			return r;
	}
	stride = (int64_t)(address - site->last);
	site->last = address;
	if (stride != site->stride || site->history != LOCI_ROW_HISTORY)
		loci_rows_stride(
			&a->rows, site, stride, address - a->walk.base[site->framed] - site->low);
	if (++site->refs == UINT32_MAX)
		loci_rows_settle(&a->rows, site);
	if (size_bytes - 1 >= block_bytes - offset || a->n_grains > 1)
		return loci_touch_blocks(a, definition, address, size_bytes, err);
	return loci_touch_put(a, site, address >> shift, ref->is_write,
		loci_touch_bytes(shift, offset, size_bytes), err);
}

#endif
