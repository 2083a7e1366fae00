/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The second stage: touches through the caches named at record time and the stack engine, and what
 * these say of each to the rows, contexts and pairs it belongs to. */
#ifndef LOCI_ANALYSE_MEASURE_H
#define LOCI_ANALYSE_MEASURE_H

#include "analyse/alike.h"
#include "analyse/analyse.h"
#include "analyse/batch.h"
#include "analyse/grain.h"
#include "analyse/pair.h"
#include "analyse/piece.h"
#include "analyse/share.h"
#include "analyse/spread.h"
#include "engine/levels.h"
#include "engine/levels_shared.h"

struct loci_measure_stack {
	struct loci_loop_entry *entry;
	size_t n, cap;
};

struct loci_level_tally {
	uint64_t first_hits, misses, writebacks;
	uint64_t coherence, transfers; /* of misses; of writes: where there are threads */
};

static inline void loci_level_tally_add(
	struct loci_level_tally *to, const struct loci_level_tally *from)
{
	to->first_hits += from->first_hits;
	to->misses += from->misses;
	to->writebacks += from->writebacks;
	to->coherence += from->coherence;
	to->transfers += from->transfers;
}

/* Touches of one row and context that did the same at all levels; within a batch they are counted
 * as one. */
struct loci_level_alike {
	uint64_t who; /* row and context, as in a use */
	uint32_t met; /* missed; dirty << 8; coherence << 16; transfer << 24 */
	uint32_t n;
};
#define LOCI_LEVEL_ALIKE_BITS 7

/* n_levels each, by owner. */
struct loci_level_tallies {
	struct loci_level_tally *tally;
	size_t cap;
};

struct loci_measure {
	struct loci_grain_engine *grain; /* borrowed */
	enum loci_analyse_pairs pair_kind;
	bool recent; /* batches are of what enters and leaves the most recent blocks */
	struct loci_spread rows, contexts, stages;
	uint64_t near;              /* counts since there was room for them */
	struct loci_share *share;   /* NULL: one thread has touched anything so far */
	struct loci_spread members; /* distances in the stack that all share */
	struct loci_pairs pairs;
	struct loci_alikes alikes;        /* for rows, contexts and pairs, within a batch */
	struct loci_measure_stack *stack; /* of running loops, by number */
	size_t n_stacks, stack_cap;
	uint32_t current;                         /* of them */
	uint64_t clock;                           /* at a touch not long ago */
	struct loci_levels *levels;               /* NULL: none, or the next */
	struct loci_levels_shared *shared_levels; /* once there are threads */
	unsigned n_levels;
	struct loci_level_tallies row_levels, context_levels, stage_levels, member_levels;
	struct loci_level_alike level_alike[1 << LOCI_LEVEL_ALIKE_BITS];
	uint64_t *used_bytes; /* by row: of the blocks it brought into the first level */
	size_t used_cap;
	struct loci_piece_cell *cell; /* by number; NULL: not asked for */
	size_t cell_cap;
	uint32_t owner[LOCI_BATCH];
	uint8_t dirty[LOCI_BATCH + LOCI_BATCH_PAD]; /* levels, as are the next two */
	uint8_t coherence[LOCI_BATCH], transfer[LOCI_BATCH + LOCI_BATCH_PAD];
	struct loci_levels_eviction evicted[LOCI_BATCH];
	uint64_t distance[LOCI_BATCH];
	uint64_t last_use[LOCI_BATCH];
	/* bin << 16 | touch: those that are far, or of a pair, and the others */
	uint32_t listed[LOCI_BATCH], near_listed[LOCI_BATCH];
};

int loci_measure_init(struct loci_measure *measure, struct loci_grain_engine *grain,
	const struct loci_analyse_options *options, unsigned shift, struct loci_err *err);
void loci_measure_fini(struct loci_measure *measure);
/* Whether that is possible, of a grain without engines for sets. shift: of the block size. */
bool loci_measure_may_be_recent(const struct loci_analyse_options *options, unsigned shift);
/* Each a loci_relay_use, for a thread of its own: the caches, if there are any; what threads have
 * to themselves, once there are several; and the rest. What they change is apart. */
int loci_measure_simulate(void *measure, struct loci_batch *batch, struct loci_err *err);
int loci_measure_share(void *measure, struct loci_batch *batch, struct loci_err *err);
int loci_measure_use(void *measure, struct loci_batch *batch, struct loci_err *err);

/* What all rows met so far, by level. */
void loci_measure_sum_levels(
	const struct loci_measure *measure, struct loci_level_tally sum[LOCI_LEVELS]);
/* There will be more threads. What was measured so far is of member 0; near: touches that no
 * histogram has. The caches are from here on those of the threads. */
int loci_measure_first_member(struct loci_measure *measure, size_t n_rows,
	const uint64_t near[LOCI_RECENT], const struct loci_analyse_options *options,
	unsigned shift, struct loci_err *err);

/* After the last batch. */
void loci_measure_finish(struct loci_measure *measure);

/* measure_levels.c, for measure.c. shift: of the block size. */
int loci_measure_open_levels(struct loci_measure *measure,
	const struct loci_analyse_options *options, unsigned shift, struct loci_err *err);
void loci_measure_drain(struct loci_measure *measure);
int loci_measure_share_levels(struct loci_measure *measure,
	const struct loci_analyse_options *options, unsigned shift, struct loci_err *err);

#endif
