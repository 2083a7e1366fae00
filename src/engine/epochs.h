/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack distances since a few moments only: time is cut into epochs there, and of each block
 * and member it is enough to know in which epoch it was last touched. What is above a moment is
 * what was last touched in the epochs since; where in its epoch a block stands concerns no
 * distance. So a touch moves its block from one epoch's number to another's, and most change
 * nothing at all: the block is in the current one already.
 *
 * There is the stack of all members, and one of each, from which others' writes take blocks
 * (coherent.h). There a hole is filled by the next touch that comes from below it, or is new, and
 * goes down to where that block was. It is in an epoch like any block, and whether it stands
 * above or below a block of the same epoch makes no difference to the numbers.
 *
 * What was last touched before the base, the oldest moment that somebody asks for, is new. So it is
 * of a member that takes the number of another: who asks for its stack does so from a later moment.
 */
#ifndef LOCI_ENGINE_EPOCHS_H
#define LOCI_ENGINE_EPOCHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a block: the epoch and the member of its last touch, and flags; 0: no block. */
#define LOCI_EPOCHS_LAST   32 /* where it begins */
#define LOCI_EPOCHS_MEMBER 2
enum {
	LOCI_EPOCHS_KEPT = 1,   /* its touches are looked at one by one */
	LOCI_EPOCHS_OTHERS = 2, /* other members have it, too */
};

struct loci_epochs_block {
	uint64_t block;
	uint64_t last;
	uint32_t others; /* the first of those who touched it before and have it, plus one */
};

/* Of one stack: blocks and holes by epoch, and how many of them are holes. */
struct loci_epochs_stack {
	uint32_t *n, *holes;
	uint32_t top_hole; /* the last epoch that may have holes */
};

struct loci_epochs {
	struct loci_epochs_block *table; /* in groups of neighbours */
	size_t n_blocks, n_used;         /* places, a power of two, and those taken */
	unsigned shift;                  /* of a group's hash */
	uint32_t now, base, origin;      /* epochs: the current one, the base, that of index 0 */
	size_t cap;                      /* epochs that there is room for */
	uint32_t *n;                     /* in the stack of all */
	struct loci_epochs_stack *stack; /* by member */
	size_t n_stacks, stack_cap;
	struct loci_epochs_other *other;
	size_t n_others, other_cap;
	uint32_t free_other; /* plus one */
	uint64_t touches;    /* counted by who makes them */
};

/* 0 or -ENOMEM, as all below that return something. */
int loci_epochs_init(struct loci_epochs *epochs);
void loci_epochs_fini(struct loci_epochs *epochs);

#define LOCI_EPOCHS_GROUP 16

/* Neighbours are near each other, but not where their numbers alone say: those of blocks that are
 * far and in equal steps are alike. */
static inline size_t loci_epochs_home(const struct loci_epochs *v, uint64_t block)
{
	uint64_t hash = (block / LOCI_EPOCHS_GROUP) * 0x9e3779b97f4a7c15u >> v->shift;

	return (size_t)(hash * LOCI_EPOCHS_GROUP + ((block ^ hash) % LOCI_EPOCHS_GROUP));
}

/* Where the block is, or would be: last is 0 then. */
static inline struct loci_epochs_block *loci_epochs_find(
	const struct loci_epochs *v, uint64_t block)
{
	size_t i = loci_epochs_home(v, block);

	while (v->table[i].last && v->table[i].block != block) /* the next group, and all in time */
		i = (i + LOCI_EPOCHS_GROUP + 1) & (v->n_blocks - 1);
	return &v->table[i];
}

/* What last is of a block that a touch by the member changes nothing for: it is only counted. */
static inline uint64_t loci_epochs_here(const struct loci_epochs *v, uint32_t member)
{
	return (uint64_t)v->now << LOCI_EPOCHS_LAST | (uint64_t)member << LOCI_EPOCHS_MEMBER;
}

/* A touch of what was found just now. *found may stand elsewhere afterwards. */
int loci_epochs_touch(struct loci_epochs *epochs, struct loci_epochs_block **found, uint64_t block,
	uint32_t member, bool is_write);

/* A new epoch begins. -EOVERFLOW: there have been 2^32. */
int loci_epochs_next(struct loci_epochs *epochs);
/* Nobody asks for older ones than this any more. */
void loci_epochs_rebase(struct loci_epochs *epochs, uint32_t base);
/* Blocks touched, and in the member's stack also holes, from an epoch on. */
uint64_t loci_epochs_above(const struct loci_epochs *epochs, uint32_t since);
uint64_t loci_epochs_above_own(const struct loci_epochs *epochs, uint32_t member, uint32_t since);

uint64_t loci_epochs_bytes(const struct loci_epochs *epochs);
/* Forgets what is before the base, and the memory for it. */
int loci_epochs_shrink(struct loci_epochs *epochs);

#endif
