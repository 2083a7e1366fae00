/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads as the model of Anger et al. (2014) has them: each in a stack from which nobody takes
 * anything, all in one stack, and in both the touches of what another thread touched last, read or
 * written. Counted only where it is asked for: it costs two engines more. */
#ifndef LOCI_ANALYSE_APART_H
#define LOCI_ANALYSE_APART_H

#include "analyse/batch.h"
#include "engine/coherent.h"

#define LOCI_APART_TOUCHES (2 * LOCI_BATCH)

struct loci_apart {
	struct loci_coherent *alone, *all;
	struct loci_hist *lost; /* by member: its own distances of what another touched last */
	size_t n_lost, lost_cap;
	struct loci_hist remote;           /* the same touches in the stack of all */
	uint8_t reads[LOCI_APART_TOUCHES]; /* nothing is written here */
	uint8_t kind[LOCI_APART_TOUCHES], all_kind[LOCI_APART_TOUCHES];
	uint64_t distance[LOCI_APART_TOUCHES], all_distance[LOCI_APART_TOUCHES];
};

/* The first member held these blocks, from the least to the most recently touched one. */
int loci_apart_new(
	const uint64_t *block, size_t n_blocks, struct loci_apart **ret, struct loci_err *err);
void loci_apart_free(struct loci_apart *apart); /* NULL allowed */
/* At most LOCI_APART_TOUCHES; what they write and return to is not looked at. is_counted: of each
 * touch, whether it is one of the program's. */
int loci_apart_use(struct loci_apart *apart, const struct loci_coherent_touches *touches,
	const bool *is_counted, struct loci_err *err);

#endif
