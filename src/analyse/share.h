/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The third stage, of a process with several threads: touches through stacks that the threads have
 * to themselves and from which others' writes take blocks (engine/coherent.h), and what these say
 * of each to its row, and of each coherence miss to the write and the miss that made it.
 *
 * A *member* is a thread from its first touch to its end. Numbers of threads may be used again,
 * those of members are not. */
#ifndef LOCI_ANALYSE_SHARE_H
#define LOCI_ANALYSE_SHARE_H

#include "analyse/analyse.h"
#include "analyse/apart.h"
#include "analyse/batch.h"
#include "analyse/keymap.h"
#include "analyse/spread.h"
#include "engine/coherent.h"

#include <stdbool.h>

#define LOCI_SHARE_GROUPS LOCI_ANALYSE_SHARES /* sizes of groups, at most */
#define LOCI_SHARE_PAIRS  8                   /* of threads, that are told apart */

struct loci_share_options {
	unsigned group[LOCI_SHARE_GROUPS]; /* threads of a group, in the order of their first touch
					    */
	unsigned n_groups;
	uint64_t max_bytes; /* of all engines; 0: no limit */
	bool alone;         /* threads apart, too (apart.h); not where blocks are sampled */
};

/* What threads met of each other. */
struct loci_coherence {
	uint64_t true_sharing, false_sharing, remote;
};

/* Misses by row of the write and row of the miss. */
struct loci_share_miss {
	uint32_t write_row, miss_row;
	bool is_false;
	uint64_t misses;
	unsigned n_pairs;
	uint64_t pair[LOCI_SHARE_PAIRS]; /* of members: who wrote, who missed */
};

struct loci_share {
	struct loci_share_options options;
	struct loci_coherent *threads, *group[LOCI_SHARE_GROUPS];
	struct loci_apart *apart; /* or NULL */
	struct loci_hist before;  /* the first thread's distances before there was another */
	struct loci_spread rows;  /* private distances, finite and cold */
	uint64_t near;            /* counts since there was room for them */
	struct loci_coherence *row;
	size_t row_cap;
	uint64_t *joined; /* by member: touches that its engine did not hear of, at distance 0 */
	size_t joined_cap, n_members;
	uint32_t *ended[LOCI_SHARE_GROUPS]; /* by group: how many of its threads */
	size_t ended_cap[LOCI_SHARE_GROUPS];
	struct loci_share_miss *miss;
	size_t n_misses, miss_cap;
	struct loci_keymap misses;
	/* Of a batch: what the engines hear. */
	size_t n, n_turns;
	uint64_t block[2 * LOCI_BATCH], bytes[2 * LOCI_BATCH], use[2 * LOCI_BATCH];
	uint8_t is_write[2 * LOCI_BATCH], kind[2 * LOCI_BATCH];
	bool is_counted[2 * LOCI_BATCH];
	uint32_t of[2 * LOCI_BATCH]; /* touch of the batch; LOCI_NO_TOUCH: it follows one */
	uint64_t distance[2 * LOCI_BATCH], lost_to[2 * LOCI_BATCH];
	uint32_t turn_touch[LOCI_BATCH_TURNS], turn_member[LOCI_BATCH_TURNS],
		turn_group[LOCI_BATCH_TURNS];
};
#define LOCI_NO_TOUCH UINT32_MAX

/* What the first member left while it was the only one. */
struct loci_share_before {
	const uint64_t *block; /* from the least to the most recently touched one .. */
	size_t n_blocks;
	double sampling_rate; /* .. of which it followed so many */
	const struct loci_hist *distances;
	const struct loci_spread *rows; /* theirs */
	size_t n_rows;
};
int loci_share_new(const struct loci_share_options *options, const struct loci_share_before *before,
	struct loci_share **ret, struct loci_err *err);
void loci_share_free(struct loci_share *share); /* NULL allowed */
int loci_share_use(struct loci_share *share, const struct loci_batch *batch, struct loci_err *err);

/* What a member, or a group of the i-th size, met; all its touches. Finish with
 * loci_coherent_result_fini. */
int loci_share_member(const struct loci_share *share, uint32_t member,
	struct loci_coherent_result *ret, struct loci_err *err);
/* What it would have met alone; only where there is apart. */
int loci_share_alone(const struct loci_share *share, uint32_t member,
	struct loci_coherent_result *ret, struct loci_err *err);
int loci_share_group(const struct loci_share *share, unsigned i, uint32_t group,
	struct loci_coherent_result *ret, struct loci_err *err);

#endif
