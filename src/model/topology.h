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

/* One thread on the hierarchy. Of a level that groups share it has no misses of its own: those of
 * its group. */
struct loci_topology_thread {
	int64_t id;
	struct loci_prediction level[LOCI_LEVELS_MAX];
	/* Of a level that all share: the blocks of a fully associative cache of its own in which
	 * it would miss as often (after Anger et al. 2014, Figure 8); INFINITY: in none, since
	 * others bring what it touches; NAN: no such level. */
	double effective_blocks[LOCI_LEVELS_MAX];
};
/* The threads chosen, by ascending id. Free *ret. */
int loci_topology_threads(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	const struct loci_predict_options *options, struct loci_topology_thread **ret,
	size_t *ret_n, struct loci_err *err);

/* The smallest cache of one's own, fully associative, that misses no more than this share of its
 * touches; INFINITY where none does. */
double loci_topology_effective(const struct loci_hist *own, double miss_ratio);

#endif
