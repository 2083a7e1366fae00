/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A group: three neighbouring set counts of the per-set engine, kept in one structure, and the
 * kernels that pass a batch of touches through it. Private to sets*.c.
 *
 * The sets of the finest of the three are lists of 64 slots. The four that make up one set of the
 * coarsest count form a *cluster*. Blocks stay where they are; a rank per slot, 0 to 255 and no two
 * alike, says how many slots of the cluster were touched later. So a block's position at the
 * coarsest count is its rank, and at the finer ones the number of lower ranks in two lists and in
 * its own: one search serves three set counts. A touch adds one to the ranks below that of its
 * slot, which becomes 0; slots not yet used keep the highest. A list that has dropped a block newer
 * than another still holds 64 newer ones, so positions below 64 are exact.
 *
 * A cluster of at most eight blocks lives in its *head*, with stamps in place of ranks; most do at
 * large set counts. All zero is an empty head, so that memory is backed when used. */
#ifndef LOCI_ENGINE_SETS_GROUP_H
#define LOCI_ENGINE_SETS_GROUP_H

#include "engine/sets.h"

#include <stdbool.h>

#define SETS_LEVELS     3 /* of a group: coarse, middle, fine */
#define SETS_LISTS      4
#define SETS_HEAD_SLOTS 8
#define SETS_LAST_STAMP 32767 /* compared as signed words */
#define SETS_BATCH      512

/* The bytes of a word hold what belongs to the levels, the coarsest lowest. */
#define SETS_ABSENT (LOCI_SETS_WAYS * 0x010101u)
#define SETS_FINE   0x010000u

struct sets_head {
	_Alignas(64) uint64_t block[SETS_HEAD_SLOTS];
	uint32_t dirty[SETS_HEAD_SLOTS];
	uint16_t stamp[SETS_HEAD_SLOTS]; /* 0: empty slot */
	uint32_t clock;                  /* the newest stamp; of a cluster, the slots in use */
	uint32_t cluster;                /* 1 + its number in the pool; 0: the blocks are here */
};

/* Slots are numbered through the four lists. high and next are the two top bytes of each block, so
 * that 64 are compared at once; dirty the largest positions since the last write. */
#define SETS_SLOTS (SETS_LISTS * LOCI_SETS_WAYS)

struct sets_ranks {
	_Alignas(256) uint8_t of[SETS_SLOTS];
};

struct sets_cluster {
	_Alignas(64) uint8_t high[SETS_SLOTS];
	uint8_t next[SETS_SLOTS];
	uint64_t block[SETS_SLOTS];
	uint32_t dirty[SETS_SLOTS];
};

/* Blocks are kept multiplied by an odd constant, which spreads them over the top bytes and loses
 * nothing: blocks that agree in their low bits still do, and no others. */
#define SETS_MULTIPLIER 0x9e3779b97f4a7c15u

/* Clusters of all groups, in order of need. */
struct sets_pool {
	struct sets_ranks *ranks;
	struct sets_cluster *cluster;
	uint32_t n;
};

/* base, the coarsest set bits, is negative where fewer than three set counts were asked for: sets
 * that cannot be told apart then. */
struct sets_group {
	int base;
	uint64_t cluster_mask;
	uint64_t level_mask[SETS_LEVELS];
	struct sets_head *head;
	struct sets_pool *pool;
	uint64_t position[SETS_LEVELS][LOCI_SETS_WAYS + 1];
	uint64_t dirty[SETS_LEVELS][LOCI_SETS_WAYS + 1];
	uint64_t both[SETS_LEVELS][LOCI_SETS_WAYS + 1];
	uint32_t before; /* positions of the last touch of the batch before; 0: it did not come */
};

#define SETS_AHEAD_HEAD    20
#define SETS_AHEAD_CLUSTER 8

struct sets_batch {
	uint64_t block[SETS_BATCH + SETS_AHEAD_HEAD]; /* multiplied; stale ones at the end */
	uint32_t write[SETS_BATCH];                   /* 0 or UINT32_MAX */
	uint64_t found[SETS_BATCH];                   /* positions, and above them dirty levels */
	uint32_t written[SETS_BATCH];                 /* dirty levels of the writes among them */
	size_t n;
	bool has_last; /* the last entry is the batch's last touch */
	/* Second halves whose first is the entry before, or for entry 0 the group's before. Those
	 * of whom one half went no further met a position of 0 in all finer sets. */
	size_t n_halves;
	uint16_t half[SETS_BATCH];
	uint16_t place[SETS_BATCH + 1]; /* where entries go, at the end how many do */
};

/* The first slot of the list that block belongs to. Slots of that list and of the one 128 slots
 * away make up a set of the middle level. */
static inline unsigned sets_list_of(int base, uint64_t block)
{
	return (unsigned)((block << 8) >> (base + 2)) & (SETS_SLOTS - LOCI_SETS_WAYS);
}

/* The head's blocks in a cluster of their own. */
void sets_head_promote(const struct sets_group *group, struct sets_head *head);
/* Stamps 1, 2, ... in the same order. */
void sets_head_renumber(struct sets_head *head);

/* Passes the batch through the group and leaves in it the touches that finer groups must see. */
typedef void sets_group_fn(struct sets_group *group, struct sets_batch *batch);
sets_group_fn sets_group_scalar;
sets_group_fn sets_group_avx2;
sets_group_fn sets_group_avx512;

#endif
