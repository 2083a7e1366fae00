/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs with threads on caches that each has for itself, that some share, or that all share.
 *
 * A private level is known by its threads' private distances (Schuff et al. 2010): each in its own
 * stack, from which others' writes take blocks. One that groups share is known by those of the
 * groups recorded. One that all share sees all threads' touches in the order in which they were
 * analysed. Which threads run on which core is not asked: there is a cache for each member. */
#ifndef LOCI_MODEL_TOPOLOGY_H
#define LOCI_MODEL_TOPOLOGY_H

#include "model/predict.h"

/* Histograms that were added up for one level; the input borrows them. */
#define LOCI_TOPOLOGY_HISTS 5
struct loci_topology {
	struct loci_hist hist[LOCI_TOPOLOGY_HISTS];
	unsigned n;
};
void loci_topology_fini(struct loci_topology *topology);

/* Puts what this level's members met in place of what all touches in one cache did, where the
 * profile knows its threads apart; else nothing changes, and choosing among them is an error. */
int loci_topology_input(struct loci_profile *profile, const struct loci_cache *cache,
	const struct loci_predict_options *options, struct loci_topology *topology,
	struct loci_predict_input *input, struct loci_err *err);

/* Of a cache that all share, what a thread has of it: the blocks of a fully associative cache of
 * its own in which it would miss as often (after Anger et al. 2014, Figure 8). */
struct loci_topology_share {
	bool is_known; /* the level is one that all share */
	double blocks;
	/* It misses less than in any cache of its own, since others bring what it touches: blocks
	 * are those that hold all its reuses, and more would not help it. */
	bool is_beyond;
};

/* One thread on the hierarchy. Of a level that groups share it has no misses of its own: those of
 * its group. */
struct loci_topology_thread {
	int64_t id;
	struct loci_prediction level[LOCI_LEVELS_MAX];
	struct loci_topology_share share[LOCI_LEVELS_MAX];
};
/* The threads chosen, by ascending id. Free *ret. */
int loci_topology_threads(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	const struct loci_predict_options *options, struct loci_topology_thread **ret,
	size_t *ret_n, struct loci_err *err);

/* By its private distances, and the share of its touches that miss the shared cache. */
struct loci_topology_share loci_topology_share_of(const struct loci_hist *own, double miss_ratio);

#endif
