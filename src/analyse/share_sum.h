/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of one process met of each other, once it has been read, and into the profile:
 * threads, groups, and the whole run. Sites and objects are the ledger's. */
#ifndef LOCI_ANALYSE_SHARE_SUM_H
#define LOCI_ANALYSE_SHARE_SUM_H

#include "analyse/attribute.h"
#include "profile/dimension.h"

/* Of a thread, all its members, or a group. */
struct loci_share_owner {
	uint32_t *thread; /* the stream's ids; of a thread: one, that of its first member */
	size_t n_threads;
	unsigned share; /* threads of a group, if it is full; 0: a thread */
	uint64_t touches;
	struct loci_coherence met;
	struct loci_hist alone; /* distances in its own stack, with coherence */
	bool has_apart;         /* of a thread, where it was asked for; see apart.h */
	struct loci_hist plain, lost;
	uint64_t stack[UINT8_MAX + 1]; /* of a thread: those in everybody's, by bin as in spread.h
					*/
	struct loci_level_tally level[LOCI_LEVELS];
};

struct loci_share_sum {
	bool threaded; /* else one thread has all there is */
	struct loci_share_owner *owner;
	size_t n, cap;
	struct loci_coherent_blocks blocks;
	double sampling_rate;
	bool has_apart;
	struct loci_hist remote;
};

/* After the process's last words. stack: its distances, whoever's they are. */
int loci_share_sum_new(const struct loci_attribution *process, const struct loci_hist *stack,
	double blocks, struct loci_share_sum **ret, struct loci_err *err);
void loci_share_sum_free(struct loci_share_sum *sum); /* NULL allowed */

/* Threads and groups into the profile, where threads have numbers from base on. */
struct loci_share_put {
	struct loci_profile *profile;
	uint64_t block_bytes;
	unsigned n_levels;
	int64_t coherence_id, group_id; /* last ones */
	/* Of all that were put. */
	struct loci_hist alone;
	uint64_t touches;
	struct loci_coherence met;
	struct loci_coherent_blocks blocks;
	bool has_apart;
	struct loci_hist remote;
};
int loci_share_sum_put(const struct loci_share_sum *sum, uint32_t base, struct loci_share_put *put,
	struct loci_err *err);
/* After all of them. */
int loci_share_put_whole(struct loci_share_put *put, struct loci_err *err);

/* A row of coherence. */
int loci_share_put_met(struct loci_profile *profile, int64_t id, enum loci_owner owner,
	int64_t owner_id, uint64_t block_bytes, uint64_t touches, const struct loci_coherence *met,
	struct loci_err *err);

#endif
