/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reuse pairs: who touched a block, who touched it next, and which loop went round in between. */
#ifndef LOCI_ANALYSE_PAIR_H
#define LOCI_ANALYSE_PAIR_H

#include "analyse/batch.h"
#include "analyse/spread.h"

#define LOCI_PAIRS_MAX (1u << 20) /* from here on new ones are told apart without contexts */

struct loci_pair {
	uint64_t use, reuse; /* row, context and write of each, as in a batch */
	uint32_t loop;       /* that was running at the use and still is; LOCI_NO_LOOP: none */
	bool recycled;
	uint64_t refs;
	struct loci_spread_far distance;
};

/* What a pair's reuses met at a level; writebacks are not told apart by pair. */
struct loci_pair_level {
	uint64_t first_hits, misses;
};

/* A pair that was found, and what by. */
struct loci_pair_memo {
	uint64_t a, b;
	uint32_t id;
	bool is_known;
};
#define LOCI_PAIR_MEMOS 256 /* by the row of the reuse: a row mostly repeats its last pair */

struct loci_pairs {
	unsigned n_levels;
	struct loci_pair *pair;
	size_t n, cap;
	struct loci_pair_level *level; /* n_levels of each pair */
	size_t level_cap;
	struct loci_keymap ids;
	struct loci_pair_memo memo[LOCI_PAIR_MEMOS];
	bool full; /* some have no contexts */
};

void loci_pairs_init(struct loci_pairs *pairs, unsigned n_levels);
void loci_pairs_fini(struct loci_pairs *pairs);
/* The number of a pair, made if it is new. use and reuse as in a batch. 0 or -ENOMEM. */
int loci_pairs_find(struct loci_pairs *pairs, uint64_t use, uint64_t reuse, uint32_t loop,
	bool recycled, uint32_t *ret);
/* n reuses of it. bin as loci_spread_bin gives it, or a near distance. 0 or -ENOMEM. */
int loci_pairs_count(
	struct loci_pairs *pairs, uint32_t pair, unsigned bin, uint8_t missed, uint32_t n);
/* n of them, of which no loop and no level is known. */
int loci_pairs_add_many(struct loci_pairs *pairs, uint64_t use, uint64_t reuse, bool recycled,
	unsigned bin, uint64_t n);

#endif
