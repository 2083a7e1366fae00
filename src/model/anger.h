/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model of Anger et al. (2014, section 4) for threads on private caches, for comparison with
 * loci's own: three steps, each of which adds to the one before.
 *
 * What it is made of: the stack distances of each thread's own touches, as if it were alone
 * (F private); of those, the ones of blocks that another thread touched last (F invalidated), by
 * whatever access; and for the same touches the distances in one stack of all threads (F shared).
 * Engines of coherent stacks that take nothing away and the stack of all threads count them. The
 * paper's distances count the block itself: its sums up to C are ours below C.
 *
 * How it is wrong, by its own account: sets are thought random; a level that threads share is
 * divided among them evenly; any access of another is taken for an invalidation. */
#ifndef LOCI_MODEL_ANGER_H
#define LOCI_MODEL_ANGER_H

#include "hist/hist.h"

#include <stddef.h>

enum loci_anger_model {
	LOCI_ANGER_STACK,     /* fully associative, each thread alone */
	LOCI_ANGER_ASSOC,     /* with sets */
	LOCI_ANGER_COHERENCE, /* with sets and with what other threads touch */
};

struct loci_anger {
	const struct loci_hist *own;  /* F private, of each thread */
	const struct loci_hist *lost; /* F invalidated, of each thread */
	size_t n_threads;
	const struct loci_hist *shared; /* F shared, of all together */
};

struct loci_anger_cache {
	double blocks;
	double ways; /* 0: fully associative */
};

/* Equation 1, and with sets 3: the finite distances that hit. A histogram of distances within one
 * of the sets is that of a fully associative cache of as many blocks as there are ways. */
double loci_anger_hits(const struct loci_hist *hist, struct loci_anger_cache cache);
/* Equation 4: hits in other threads' first levels, as in one cache of all of them. */
double loci_anger_remote_hits(
	const struct loci_hist *shared, size_t n_threads, struct loci_anger_cache first);
/* Equations 5 and 2: the hits of each level, each thread's own caches together. Of the first level
 * they include the remote ones; of others they are what levels before did not hit, at least 0. A
 * level that threads share is given as each thread's part of it. */
void loci_anger_levels(const struct loci_anger *anger, enum loci_anger_model model,
	const struct loci_anger_cache *level, size_t n_levels, double *ret_hits);

#endif
