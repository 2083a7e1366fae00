/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the simulator of named caches share.
 *
 * Levels form a forest. Level i lies inside level j > i if the sets of j are a multiple of those of
 * i and its ways no fewer: a set of j then takes its blocks from one set of i and forgets them
 * later, so that what is in i is in j (Mattson et al. 1970). The parent of a level is the last
 * level before it that lies inside it; a level without a parent is a root.
 *
 * A root sees every touch. A child hears of a block only when its parent takes it in or lets it go:
 * in between it holds the block as LOCI_LEVELS_INSIDE, which is never a victim. That is exact: of a
 * set's blocks those inside the parent are younger than all others, and there is another one
 * whenever a victim is wanted, because the parent, which has no more ways, has just made room. When
 * the parent lets a block go it hands down when it was touched last and where it is dirty.
 *
 * A slot's stamp is, from the top down: the time of the last touch; the way that the slot is in its
 * set; and a bit for each level in which the line is dirty, of those that the slot's own level
 * speaks for, which are itself and its descendants. Roots keep these bits apart, so that a touch
 * need not wait for the one before. */
#ifndef LOCI_ENGINE_LEVELS_STATE_H
#define LOCI_ENGINE_LEVELS_STATE_H

#include "engine/levels.h"

#include <stdbool.h>

#define LOCI_LEVELS_DIRTY      0xffull /* of a stamp: a bit per level */
#define LOCI_LEVELS_WAY_SHIFT  8
#define LOCI_LEVELS_WAY        (0x3full << LOCI_LEVELS_WAY_SHIFT)
#define LOCI_LEVELS_TIME_SHIFT 14
#define LOCI_LEVELS_INSIDE     (-1ull << LOCI_LEVELS_TIME_SHIFT) /* time of a block in the parent */
#define LOCI_LEVELS_NONE       UINT32_MAX                        /* no slot */
#define LOCI_LEVELS_VECTOR     8  /* sets are padded to so many ways */
#define LOCI_LEVELS_SEARCHED   64 /* ways of a set that is searched; more get a map */

/* The blocks of a level with many ways: a map from block to slot, and for every set the list of its
 * blocks, but for those inside the parent, from the last touched to the first. */
struct loci_levels_link {
	uint32_t newer, older;
};

#define LOCI_LEVELS_ARRAYS 8 /* of a level, at most */

struct loci_levels_list {
	struct loci_levels_link *link; /* of slots; then one a set: the ends of its list */
	uint32_t *used;                /* of a set: slots that ever held a block */
	uint32_t *map;                 /* slot + 1; 0: none. Open addressing, linear */
	uint64_t map_mask;
};

struct loci_level {
	uint64_t sets, set_mask; /* set_mask: sets - 1, or 0 if that is no mask */
	uint32_t ways, stride;   /* stride: slots of a set */
	uint64_t n_slots;
	uint64_t *block;  /* of slots */
	uint64_t *stamp;  /* of slots; 0: empty. Searched sets fill from their first slot on */
	uint8_t *dirty;   /* of slots; NULL if there is a parent */
	uint8_t *written; /* of slots: 1 if written since the block came; NULL if there is a parent
			   */
	uint32_t
		*held; /* of the parent's slots: the slot of the same block here; NULL: no parent */
	/* Of a root, whose most recent blocks others keep: the slots of these. They are held as
	 * INSIDE, too, as if in a parent of one set. */
	uint32_t recent[LOCI_RECENT];
	uint8_t bit;      /* this level */
	uint8_t dominion; /* this level and its descendants */
	uint8_t children; /* bits */
	bool is_list;
	struct loci_levels_list list;
};

typedef void loci_levels_kernel(struct loci_levels *levels, struct loci_levels_batch *batch);
loci_levels_kernel loci_levels_run_scalar, loci_levels_run_avx2, loci_levels_run_avx512;

struct loci_levels {
	struct loci_level level[LOCI_LEVELS];
	unsigned n;
	uint64_t now;    /* of the next touch; the first is 1 */
	uint64_t *bytes; /* of the first level's slots: touched since the block came */
	uint32_t *owner; /* of the first level's slots */
	loci_levels_kernel *kernel;
	uint64_t drained; /* slots of the first level */
	/* Everything but this. */
	void *memory[LOCI_LEVELS * LOCI_LEVELS_ARRAYS + 2];
	unsigned n_memory;
	uint64_t memory_bytes;
};

static inline uint64_t loci_levels_set(const struct loci_level *level, uint64_t block)
{
	if (__builtin_expect(level->set_mask + 1 == level->sets, 1))
		return block & level->set_mask;
	return block % level->sets;
}

/* levels_list.c. The slot of a block, or NONE. */
uint32_t loci_levels_list_find(const struct loci_level *level, uint64_t block);
/* A slot for a block that the level does not hold: an empty one, or that of the oldest of its set,
 * whose stamp is still there, or 0. It is in no list. */
uint32_t loci_levels_list_take(struct loci_level *level, uint64_t block);
void loci_levels_list_unlink(struct loci_level *level, uint32_t slot);
/* A slot in no list becomes the newest of its set. */
void loci_levels_list_link(struct loci_level *level, uint32_t slot);
/* Empties a slot in no list; it is the next that its set takes. */
void loci_levels_list_empty(struct loci_level *level, uint32_t slot);

/* levels_lines.c. Lines that others take away, and lines from another simulator. */
struct loci_levels_taken {
	uint8_t levels;                       /* that had the block */
	uint8_t dirty;                        /* in which it was dirty */
	struct loci_levels_eviction eviction; /* if the first had it */
};
struct loci_levels_taken loci_levels_invalidate(struct loci_levels *levels, uint64_t block);

/* A block in some levels, with what only the first knows. */
struct loci_levels_line {
	uint64_t block;
	uint64_t time; /* of its last touch */
	uint8_t levels, dirty;
	uint32_t owner;
	uint64_t bytes;
};
/* All lines, in the order of their last touches, for others to free. 0 or -ENOMEM. */
int loci_levels_lines(
	const struct loci_levels *levels, struct loci_levels_line **ret, size_t *ret_n);
/* As if they had been touched in their order. line->levels and dirty are those of these levels, the
 * first being bit 0. Only before anything is fed. */
void loci_levels_restore(struct loci_levels *levels, const struct loci_levels_line *line, size_t n);

#endif
