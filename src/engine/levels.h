/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caches named at record time, simulated exactly: LRU, every level sees every touch. Says of
 * each touch which levels it missed, and of each write which levels it made a line dirty in (each
 * of which will be written back once, by eviction or the final flush, so the sum is the
 * write-backs). Keeps how many bytes of a block were touched while it was in the first level.
 *
 * Where sets and ways do not shrink outwards a block in one level is in all after it (Mattson et
 * al. 1970), and an outer level need hear only of blocks that enter or leave the one inside it:
 * work is done on misses of the first level only. Other levels see every touch themselves. */
#ifndef LOCI_ENGINE_LEVELS_H
#define LOCI_ENGINE_LEVELS_H

#include "base/err.h"
#include "engine/isa.h"
#include "engine/recent.h"

#include <stddef.h>

#define LOCI_LEVELS 8 /* at most */

struct loci_levels;

struct loci_levels_geometry {
	uint64_t sets; /* any number: the set is the block number modulo sets */
	uint32_t ways; /* any number; a fully associative cache has one set */
};

int loci_levels_new(const struct loci_levels_geometry *level, unsigned n_levels, enum loci_isa isa,
	struct loci_levels **ret, struct loci_err *err);
void loci_levels_free(struct loci_levels *levels);

/* A block that left the first level: whose touch had brought it, and which of its bytes were used.
 */
struct loci_levels_eviction {
	uint32_t owner;
	uint32_t used_bytes;
};

struct loci_levels_batch {
	const uint64_t *block;
	const uint8_t *is_write; /* 0 or 1 each */
	const uint64_t *bytes; /* bit per byte (blocks of 64; of other sizes per 1/64th) touched */
	const uint32_t *owner; /* of the touch */
	size_t n;
	uint8_t *ret_missed; /* bit i: level i missed */
	uint8_t *ret_dirty;  /* bit i: this write made a clean or absent line dirty at level i */
	struct loci_levels_eviction *ret_evicted; /* room for n */
	size_t n_evicted;
	/* What enters and leaves the most recent blocks, or is written there first (recent.h), as
	 * loci_stack_recent has it; place NULL: touches. Bytes are then those of who leaves. */
	const uint8_t *place;
	const uint64_t *left_time;
};
void loci_levels_feed(struct loci_levels *levels, struct loci_levels_batch *batch);
/* Whether who feeds them may keep the most recent blocks: always, or never. */
bool loci_levels_may_be_recent(const struct loci_levels_geometry *level, unsigned n_levels);
/* Before the end: the bytes of the most recent blocks, by place. */
void loci_levels_add_recent(struct loci_levels *levels, const struct loci_recent *recent);

/* Instead of that, where feeding goes on touch by touch: the caches are as if they had heard of
 * every touch themselves. */
void loci_levels_leave_recent(struct loci_levels *levels, const struct loci_recent *recent);

/* At the end: what is still in the first level, up to cap at a time; 0 when there is no more. After
 * it nothing can be fed. */
size_t loci_levels_drain(
	struct loci_levels *levels, struct loci_levels_eviction *evicted, size_t cap);
uint64_t loci_levels_bytes(const struct loci_levels *levels); /* memory used */

#endif
