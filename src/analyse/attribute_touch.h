/* SPDX-License-Identifier: GPL-2.0-or-later */
/* References to touches: whose each is, and into the batch. What nearly every reference needs is
 * inline. For the attribution's own files. */
#ifndef LOCI_ANALYSE_ATTRIBUTE_TOUCH_H
#define LOCI_ANALYSE_ATTRIBUTE_TOUCH_H

#include "analyse/attribute.h"
#include "analyse/piece.h"

/* Compiled once for the common block size and once for all. */
#define LOCI_HOT static inline __attribute__((always_inline))

#define LOCI_GENERATION_BITS 48 /* above what an address has, whatever the block size */

/* attribute_turn.c. The references that follow are of another thread than those before. */
int loci_attribution_turn(struct loci_attribution *a, struct loci_err *err);
/* The thread, by its number in the walk, has ended. */
int loci_attribution_leave(struct loci_attribution *a, size_t thread, struct loci_err *err);
/* Who uses batches: with a third once there are threads. */
int loci_attribution_open_relay(struct loci_attribution *a, struct loci_err *err);
void loci_members_fini(struct loci_members *members);
/* The touches that follow are of the current thread. */
void loci_attribution_put_turn(struct loci_attribution *a);

/* The batch is as it will be passed on. */
void loci_attribution_complete(struct loci_attribution *a);
/* The touches that follow are of the current stage. */
void loci_attribution_put_stage(struct loci_attribution *a);
/* The batch is new, and empty. */
void loci_attribution_begin(struct loci_attribution *a);
/* Passes the batch on; another takes its place. */
int loci_attribution_flush(struct loci_attribution *a, struct loci_err *err);

/* A reference that is not where its site's last one was. */
int loci_touch_elsewhere(struct loci_attribution *a, const struct loci_code_ref *ref,
	uint64_t address, uint64_t size_bytes, struct loci_err *err);
/* Its site knows the row of the address, and nothing is counted. */
int loci_touch_find(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	struct loci_err *err);
/* One that is not within one block of the first size, or is wanted at other sizes too. */
int loci_touch_blocks(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	uint64_t size_bytes, struct loci_err *err);

/* Where what the site knows begins. */
LOCI_HOT uint64_t loci_touch_low(const struct loci_attribution *a, const struct loci_row_site *site)
{
	return site->low + a->walk.base[site->framed];
}

LOCI_HOT bool loci_touch_holds(
	const struct loci_attribution *a, const struct loci_row_site *site, uint64_t address)
{
	return address - loci_touch_low(a, site) < site->bytes && *site->serial == site->seen;
}

/* The bytes of a block, a bit each; of smaller or larger blocks, the 64ths. */
LOCI_HOT uint64_t loci_touch_bytes(unsigned shift, uint64_t offset, uint64_t n)
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

/* Whether a touch of the block touched last can be one with it: the block is dirty already if this
 * one writes, so that it is a hit in every cache, at distance 0. Where there are threads, who wrote
 * which bytes is known. */
LOCI_HOT bool loci_touch_joins(
	const struct loci_attribution *a, uint64_t block, uint64_t use, uint8_t is_write)
{
	const struct loci_batch *b = a->batch;
	size_t n = b->n;

	return n && b->block[n - 1] == block && is_write <= b->is_write[n - 1] && a->joins &&
		b->more[n - 1] != UINT32_MAX && (!is_write || !a->threaded || use == b->use[n - 1]);
}

/* A touch that no engine hears of. */
LOCI_HOT void loci_touch_near(
	struct loci_attribution *a, struct loci_row_site *site, unsigned distance)
{
	a->here.near[distance]++;
	if (__builtin_expect(++site->near[distance] >= LOCI_ROW_MOST, 0))
		loci_rows_settle_near(&a->rows, site);
}

LOCI_HOT void loci_touch_join(struct loci_attribution *a, struct loci_row_site *site, uint64_t use,
	uint8_t is_write, uint64_t bytes)
{
	struct loci_batch *b = a->batch;
	size_t i = b->n - 1;

	b->more[i]++;
	b->more_writes[i] += is_write;
	b->left[i] = use;
	b->bytes[i] |= bytes;
	b->written[i] |= bytes & -(uint64_t)is_write;
	loci_touch_near(a, site, 0);
}

/* What engines must hear of. */
int loci_touch_enters(struct loci_attribution *a, struct loci_row_site *site, uint64_t block,
	uint64_t use, uint8_t is_write, uint64_t bytes, struct loci_err *err);
int loci_touch_stays(struct loci_attribution *a, struct loci_row_site *site, unsigned touch,
	unsigned place, struct loci_err *err);

/* A touch of one of the most recent blocks, as most are, is only counted. */
LOCI_HOT int loci_touch_recent(struct loci_attribution *a, struct loci_row_site *site,
	uint64_t block, uint64_t use, uint8_t is_write, uint64_t bytes, struct loci_err *err)
{
	unsigned place = site->place, touch;

	if (!loci_recent_is_at(&a->recent, place, block)) {
		place = loci_recent_find(&a->recent, block);
		if (place == LOCI_RECENT)
			return loci_touch_enters(a, site, block, use, is_write, bytes, err);
		site->place = (uint8_t)place;
	}
	touch = loci_recent_touch(&a->recent, place, is_write, use, bytes);
	if (__builtin_expect(touch & LOCI_RECENT_STAYS, 0))
		return loci_touch_stays(a, site, touch, place, err);
	loci_touch_near(a, site, touch);
	return 0;
}

/* Of a block with its generation. A new batch has no touches that others were joined with. */
LOCI_HOT int loci_touch_used(struct loci_attribution *a, struct loci_row_site *site, uint64_t block,
	uint64_t use, uint8_t is_write, uint64_t bytes, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	size_t n;

	if (a->recents)
		return loci_touch_recent(a, site, block, use, is_write, bytes, err);
	if (block == a->last_block && loci_touch_joins(a, block, use, is_write)) {
		loci_touch_join(a, site, use, is_write, bytes);
		return 0;
	}
	n = b->n;
	a->last_block = block;
	b->block[n] = block;
	b->use[n] = b->left[n] = use;
	b->born[n] = site->born;
	b->is_write[n] = is_write;
	b->bytes[n] = b->own[n] = b->written[n] = bytes;
	b->n = n + 1;
	return n + 1 == LOCI_BATCH ? loci_attribution_flush(a, err) : 0;
}

LOCI_HOT int loci_touch_put(struct loci_attribution *a, struct loci_row_site *site, uint64_t block,
	uint8_t is_write, uint64_t bytes, struct loci_err *err)
{
	return loci_touch_used(a, site,
		block + ((uint64_t)site->generation << LOCI_GENERATION_BITS),
		a->use | site->row | (uint64_t)is_write << LOCI_USE_WRITE, is_write, bytes, err);
}

/* The next touch's pieces. */
LOCI_HOT void loci_touch_cells(struct loci_attribution *a, uint32_t site, uint64_t address)
{
	loci_pieces_find(a->pieces, site, address, a->walk.base[1], a->batch->cell[a->batch->n]);
}

/* A reference whose site's row is known and told of it. alone: no other block size is wanted. */
LOCI_HOT int loci_touch_go(struct loci_attribution *a, const struct loci_code_ref *ref,
	struct loci_row_site *site, uint64_t address, uint64_t size_bytes, unsigned shift,
	bool alone, struct loci_err *err)
{
	uint64_t block_bytes = 1ull << shift, offset = address & (block_bytes - 1);

	if (__builtin_expect(size_bytes - 1 >= block_bytes - offset || !alone, 0))
		return loci_touch_blocks(a, ref, address, size_bytes, err);
	if (__builtin_expect(a->pieces != NULL, 0))
		loci_touch_cells(a, ref->site, address);
	return loci_touch_put(a, site, address >> shift, ref->is_write,
		loci_touch_bytes(shift, offset, size_bytes), err);
}

LOCI_HOT int loci_touch_refer(struct loci_attribution *a, const struct loci_code_ref *ref,
	uint64_t address, uint64_t size_bytes, unsigned shift, bool alone, struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];

	if (__builtin_expect(!loci_touch_holds(a, site, address), 0))
		return loci_touch_elsewhere(a, ref, address, size_bytes, err);
	loci_rows_step(&a->rows, site, address, loci_touch_low(a, site));
	return loci_touch_go(a, ref, site, address, size_bytes, shift, alone, err);
}

#endif
