/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Neighbouring levels that the same threads share form a *part*; a part is simulated by as many
 * loci_levels as there are groups. During a turn only the caches of one member change by touches,
 * and those of others by its writes, so that a turn is fed whole, and its writes are looked at
 * after it.
 *
 * A directory says for each block which caches may have it, or had it when it was taken away; it is
 * asked when a touch misses a part altogether, and for writes. Most of these are to blocks that the
 * member had written before and nobody else touched since: a small table of each member knows
 * some. */
#ifndef LOCI_ENGINE_LEVELS_SHARED_STATE_H
#define LOCI_ENGINE_LEVELS_SHARED_STATE_H

#include "engine/levels_shared.h"
#include "engine/levels_state.h"
#include "engine/stack_state.h"

#define LOCI_SHARED_PIECE  4096 /* touches, at most, that a part is fed at once */
#define LOCI_SHARED_KNOWN  512  /* blocks of a member that nobody else has */
#define LOCI_SHARED_BY_ALL 0    /* threads of a part that has one cache */

/* The newest block of each set: its touches change nothing. Sets are those of the part's first
 * level. */
struct loci_shared_newest {
	uint64_t *block;     /* NULL: not known */
	uint8_t *is;         /* 0: none */
	uint64_t sets, mask; /* mask: sets - 1, or 0 if that is no mask */
};
enum { LOCI_SHARED_NEWEST = 1, LOCI_SHARED_NEWEST_WRITTEN }; /* written: since it came */

struct loci_shared_cache {
	struct loci_levels *levels; /* NULL: there is none, or not any more */
	struct loci_shared_newest newest;
};

struct loci_shared_part {
	unsigned first, n;
	uint32_t threads;
	struct loci_levels_geometry geometry[LOCI_LEVELS];
	struct loci_shared_cache *group;
	uint32_t n_groups;
};

/* A cache of a part that may have a block. */
struct loci_shared_holder {
	uint32_t next; /* 0: none */
	uint32_t group;
	uint8_t part;
	uint8_t lost; /* levels from which it was taken */
};

struct loci_shared_member {
	uint64_t known[LOCI_SHARED_KNOWN]; /* by block; one that does not belong there: none */
	bool has_ended;
};

/* Of a piece: runs of touches of one block. */
struct loci_shared_runs {
	size_t n;
	uint64_t block[LOCI_SHARED_PIECE], bytes[LOCI_SHARED_PIECE];
	uint32_t first[LOCI_SHARED_PIECE], write[LOCI_SHARED_PIECE]; /* touches of the batch */
	uint32_t owner[LOCI_SHARED_PIECE];
	uint8_t is_write[LOCI_SHARED_PIECE];
	/* Those that a cache hears of. */
	size_t n_chosen;
	uint32_t chosen[LOCI_SHARED_PIECE];
	uint64_t chosen_block[LOCI_SHARED_PIECE];
	uint8_t chosen_is_write[LOCI_SHARED_PIECE];
	/* found */
	uint8_t missed[LOCI_SHARED_PIECE], part_missed[LOCI_SHARED_PIECE],
		part_dirty[LOCI_SHARED_PIECE];
	struct loci_levels_eviction evicted[LOCI_SHARED_PIECE];
};

struct loci_levels_shared {
	struct loci_shared_part part[LOCI_LEVELS];
	unsigned n_parts, n_levels;
	enum loci_isa isa;
	struct loci_shared_member **member;
	uint32_t n_members;
	/* Entries of the map: slot is DEEP and the first holder; stamp the member that nobody has
	 * followed since its last write, plus 1, or 0. */
	struct loci_stack_map map;
	struct loci_shared_holder *holder;
	uint32_t n_holders, free_holder, holder_room;
	struct loci_levels_eviction *evicted;
	size_t n_evicted, evicted_room;
	uint32_t drained; /* caches of the first part */
	bool has_touches;
	bool is_coherent;        /* some part has more than one cache */
	bool misses_a_part[256]; /* by levels missed */
	struct loci_shared_runs runs;
};

static inline uint32_t loci_shared_group(const struct loci_shared_part *part, uint32_t member)
{
	return part->threads == LOCI_SHARED_BY_ALL ? 0 : member / part->threads;
}

/* Where in known a block may stand. */
static inline size_t loci_shared_known_at(uint64_t block)
{
	return block % LOCI_SHARED_KNOWN;
}

/* An array of n elements gets room for one at an index; what is new is 0. 0 or -ENOMEM. */
int loci_shared_reach(void *array, uint32_t *n, uint64_t index, size_t element);
/* 0 or -ENOMEM. */
int loci_shared_add_evicted(
	struct loci_levels_shared *shared, struct loci_levels_eviction eviction);

/* levels_turn.c. Touches of a member, whose caches there are. */
int loci_shared_feed_turn(struct loci_levels_shared *shared, uint32_t member,
	struct loci_levels_shared_batch *batch, size_t from, size_t to, struct loci_err *err);

/* levels_directory.c. Room for a chunk of touches. */
int loci_shared_make_room(struct loci_levels_shared *shared, struct loci_err *err);
/* Asks memory for the entry of a block. */
static inline void loci_shared_expect(const struct loci_levels_shared *shared, uint64_t block)
{
	__builtin_prefetch(
		shared->map.bucket + loci_stack_home(loci_stack_hash(block), shared->map.n_homes));
}
/* A touch that the directory must know of. */
struct loci_shared_look {
	uint64_t block;
	uint32_t member;
	bool is_write;
	uint8_t missed;
	/* found */
	uint8_t coherence, transfer;
};
/* 0 or -ENOMEM. */
int loci_shared_look(struct loci_levels_shared *shared, struct loci_shared_look *look);
/* Who may have the blocks of a cache that was taken over. */
int loci_shared_add_holders(struct loci_levels_shared *shared, unsigned part, uint32_t group,
	const struct loci_levels_line *line, size_t n, struct loci_err *err);

#endif
