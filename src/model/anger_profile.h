/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model of Anger et al. (anger.h) on a profile that was recorded for it. */
#ifndef LOCI_MODEL_ANGER_PROFILE_H
#define LOCI_MODEL_ANGER_PROFILE_H

#include "model/anger.h"
#include "model/cache.h"
#include "profile/profile.h"

struct loci_anger_row {
	struct loci_cache cache;
	double hits;   /* of all threads, remote ones included in the first level */
	double misses; /* touches that no level so far hits */
};

struct loci_anger_result {
	enum loci_anger_model model;
	struct loci_anger_row row[LOCI_LEVELS_MAX];
	unsigned n;
	size_t n_threads;
	double touches;
	double remote_hits; /* in other threads' first levels; 0 but for COHERENCE */
};

const char *loci_anger_name(enum loci_anger_model model); /* "stack", "assoc", "coherence" */
int loci_anger_from_name(const char *name, enum loci_anger_model *ret);

/* A shared level is divided among the threads that share it evenly. Lines must be of one size, and
 * there are no TLBs. Says how to record where the profile lacks what it takes. */
int loci_anger_profile(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	enum loci_anger_model model, struct loci_anger_result *ret, struct loci_err *err);

#endif
