/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caches named at record time where there are threads: each level private to a thread, shared
 * by so many threads, or by all, and kept coherent. LRU, every level sees every touch of its
 * threads. A write takes its block out of all other caches of each level, that is, of those which
 * the writer does not use; what it leaves there is an empty way, which the next miss of the set
 * takes. Reads leave others' lines as they are, dirty ones, too: their owner writes them back (as
 * with MOESI's state of that name).
 *
 * A line that became dirty leaves its cache once: evicted, flushed at the end, or taken away by
 * another's write, which is a transfer from cache to cache. So the sum of dirty counts both, and
 * without the transfers it is the write-backs. */
#ifndef LOCI_ENGINE_LEVELS_SHARED_H
#define LOCI_ENGINE_LEVELS_SHARED_H

#include "engine/levels.h"

struct loci_levels_shared;

struct loci_levels_sharing {
	struct loci_levels_geometry geometry;
	uint32_t threads; /* that share each: 1 private, 0 all. Members 0..threads-1, and so on */
};

int loci_levels_shared_new(const struct loci_levels_sharing *level, unsigned n_levels,
	enum loci_isa isa, struct loci_levels_shared **ret, struct loci_err *err);
void loci_levels_shared_free(struct loci_levels_shared *shared); /* NULL allowed */

/* As loci_levels_batch, in turns of members as loci_coherent_touches. */
struct loci_levels_shared_batch {
	const uint64_t *block;
	const uint8_t *is_write;
	const uint64_t *bytes;
	const uint32_t *owner;
	size_t n;
	const uint32_t *turn_touch, *turn_member;
	size_t n_turns;
	uint8_t *ret_missed;    /* bit i: level i missed */
	uint8_t *ret_dirty;     /* bit i: this write made a clean or absent line dirty at level i */
	uint8_t *ret_coherence; /* of the missed: its cache had it, and another's write took it */
	uint8_t *ret_transfer;  /* bit i: this write took dirty lines from others at level i */
	/* Blocks that left the first level, by invalidation, too; valid up to the next call. */
	const struct loci_levels_eviction *evicted;
	size_t n_evicted;
};
int loci_levels_shared_feed(struct loci_levels_shared *shared,
	struct loci_levels_shared_batch *batch, struct loci_err *err);

/* A member takes caches over that were fed without others, of the same levels, and that hold the
 * most recent blocks themselves (loci_levels_leave_recent). Only before any touch. */
int loci_levels_shared_adopt(struct loci_levels_shared *shared, uint32_t member,
	const struct loci_levels *plain, struct loci_err *err);

/* The member touches nothing more: caches of its own are given back, and what was in the first
 * level is among what has been evicted, as after a batch. */
int loci_levels_shared_end(struct loci_levels_shared *shared, uint32_t member,
	const struct loci_levels_eviction **ret_evicted, size_t *ret_n, struct loci_err *err);

/* At the end: as loci_levels_drain. */
size_t loci_levels_shared_drain(
	struct loci_levels_shared *shared, struct loci_levels_eviction *evicted, size_t cap);
uint64_t loci_levels_shared_bytes(const struct loci_levels_shared *shared);

#endif
