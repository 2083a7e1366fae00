/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact engine: stack distance, time distance and dirty level of every touch, in one pass, at
 * one block size, after Bennett and Kruskal's counting method (1975; Ding and Zhong 2001). Knows
 * block numbers only, neither bytes nor addresses.
 *
 * Dirty level of a write (Thompson and Smith 1989): the largest stack distance among the block's
 * touches since its previous write, this one included; infinite at the first write. The write-backs
 * of a cache of C blocks, its final flush included, are the writes whose dirty level is C or more.
 *
 * Space is O(distinct blocks): at most 47 bytes a block and a few MiB, whatever the number of
 * touches; where uses are kept 48 more, and twice that while slots are renumbered. With max_bytes
 * set, an engine that would outgrow it turns to fixed-size hash sampling of blocks (SHARDS;
 * Waldspurger et al. 2015): from then on it follows a shrinking random subset of the blocks, scales
 * distances and weights, and its histograms are estimates with the error in the result; distances
 * below 64 remain exact (stack_sample.c says how). */
#ifndef LOCI_ENGINE_STACK_H
#define LOCI_ENGINE_STACK_H

#include "base/err.h"
#include "engine/isa.h"
#include "engine/recent.h"
#include "hist/hist.h"

#include <stdbool.h>
#include <stddef.h>

struct loci_stack;

struct loci_stack_options {
	enum loci_isa isa;  /* LOCI_ISA_BEST unless a test wants another */
	uint64_t max_bytes; /* memory of this engine, at least about 1.5 MiB, or 4 MiB where uses
			       are kept; 0: no limit */
	bool keep_uses; /* remember a word of every block's last use: see loci_stack_feed_uses */
	bool recent;    /* who feeds it keeps the most recent blocks: see loci_stack_feed_recent */
	bool little;    /* few touches come, if any: no huge pages for them */
};

int loci_stack_new(
	const struct loci_stack_options *options, struct loci_stack **ret, struct loci_err *err);
void loci_stack_free(struct loci_stack *stack);

/* One touch per element, in order. is_write (0 or 1 each) may be NULL: all reads. Where
 * ret_distance is not NULL it receives every touch's stack distance, LOCI_INFINITE for a first
 * touch; while sampling, LOCI_UNSAMPLED for touches not followed. */
#define LOCI_UNSAMPLED (UINT64_MAX - 1)
int loci_stack_feed(struct loci_stack *stack, const uint64_t *block, const uint8_t *is_write,
	size_t n, uint64_t *ret_distance, struct loci_err *err);

/* The same, and each touch leaves a word (a site, a context: the caller's) that the block's next
 * touch finds in ret_last_use; undefined where the distance is infinite or not sampled. Needs
 * keep_uses, which takes 8 bytes a slot more. */
int loci_stack_feed_uses(struct loci_stack *stack, const uint64_t *block, const uint8_t *is_write,
	const uint64_t *use, size_t n, uint64_t *ret_distance, uint64_t *ret_last_use,
	struct loci_err *err);

/* Runs: touches of one block, the first of them and how many more followed at once. Where any of
 * those wrote the first must have written. */
struct loci_stack_runs {
	const uint64_t *block;
	const uint8_t *is_write;     /* the first touch, 0 or 1 each */
	const uint32_t *more;        /* touches after the first */
	const uint32_t *more_writes; /* of which writes */
	const uint64_t *left; /* the word that the last touch leaves; NULL: none, and no last use */
};

/* As if all touches of n runs were fed one by one, with what is returned being that of the first of
 * each run; all others have the distance 0. ret_distance may be NULL; ret_last_use is if left is.
 */
int loci_stack_feed_runs(struct loci_stack *stack, const struct loci_stack_runs *runs, size_t n,
	uint64_t *ret_distance, uint64_t *ret_last_use, struct loci_err *err);

/* What enters and leaves the most recent blocks (recent.h), an element for each that enters and for
 * each first write to one that stays. */
struct loci_stack_recent {
	const uint64_t *block;
	const uint8_t *is_write;
	const uint8_t *place; /* it enters, or with LOCI_RECENT_STAYS is in */
	const uint8_t *rank;  /* of what stays: its distance */
	/* Of who leaves the place: the largest distance since it was written or entered, the time
	 * of the last touch, 0 where nobody leaves, and the word that it left (NULL: none). */
	const uint8_t *farthest; /* of what stays: its own, this touch included */
	const uint64_t *left_time;
	const uint64_t *left;
	const uint64_t *time; /* of the touch, from 1 */
};

/* Of an engine made with recent, which takes nothing else: as if all touches were fed, those that
 * it does not hear of once loci_stack_add_recent is told of them. ret_distance may be NULL;
 * ret_last_use, defined where a block enters, is if left is. */
int loci_stack_feed_recent(struct loci_stack *stack, const struct loci_stack_recent *recent,
	size_t n, uint64_t *ret_distance, uint64_t *ret_last_use, struct loci_err *err);
/* At the end. stack_count: their distances. */
void loci_stack_add_recent(struct loci_stack *stack, const struct loci_recent *recent,
	const uint64_t stack_count[LOCI_RECENT]);

/* Instead of that, where feeding goes on otherwise: the most recent blocks are the engine's own
 * from here on, as if it had heard of every touch itself, and it takes all but
 * loci_stack_feed_recent. */
void loci_stack_leave_recent(struct loci_stack *stack, const struct loci_recent *recent,
	const uint64_t stack_count[LOCI_RECENT]);

/* The blocks that it holds, from the least to the most recently touched one, and the words of their
 * last uses: where they are kept, and NULL is not given. Not of an engine that does not hold the
 * most recent ones itself. Those that it follows, where it samples. */
size_t loci_stack_n_held(const struct loci_stack *stack);
void loci_stack_held(const struct loci_stack *stack, uint64_t *ret_block, uint64_t *ret_use);

/* An engine that may take so much memory may take no more than this from here on. Where it takes
 * more already it grows no further. */
void loci_stack_limit(struct loci_stack *stack, uint64_t max_bytes);

struct loci_stack_result {
	uint64_t touches; /* exact, also when sampled */
	uint64_t writes;  /* exact, also when sampled */
	double blocks;    /* distinct blocks */
	struct loci_hist stack;
	struct loci_hist time;  /* in touches, at least 1 */
	struct loci_hist dirty; /* dirty levels of writes; cold: infinite ones */
	double sampling_rate;   /* at the end; 1 while exact */
	uint64_t sampled_from;  /* the touch at which sampling began; 0 while exact */
	double error_points; /* 95 % half-width of the miss ratio, in points, at its worst size */
	uint64_t bytes;      /* memory used */
};

/* A snapshot; the engine may go on. Finish with loci_stack_result_fini. */
int loci_stack_result(
	const struct loci_stack *stack, struct loci_stack_result *ret, struct loci_err *err);
void loci_stack_result_fini(struct loci_stack_result *result);

#endif
