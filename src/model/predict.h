/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The misses of any cache from a profile (METHODS 4 and 7). Says of every number on what it rests. */
#ifndef LOCI_MODEL_PREDICT_H
#define LOCI_MODEL_PREDICT_H

#include "model/cache.h"
#include "profile/profile.h"

enum loci_policy { LOCI_POLICY_LRU, LOCI_POLICY_RANDOM };

enum loci_basis {
	LOCI_BASIS_EXACT,        /* equals simulating this cache on the stream */
	LOCI_BASIS_INTERPOLATED, /* fully associative, size within a bin; error_points bounds it */
	LOCI_BASIS_BINOMIAL,     /* sets modelled as random (error about 2 points, 7 on strides) */
	LOCI_BASIS_STATSTACK,    /* LRU from time distances */
	LOCI_BASIS_SHEN,
	LOCI_BASIS_STATCACHE,    /* random replacement */
};
const char *loci_basis_name(enum loci_basis basis); /* "exact", "binomial model", ... */

enum loci_conversion { LOCI_CONVERT_NONE, LOCI_CONVERT_STATSTACK, LOCI_CONVERT_SHEN };

struct loci_predict_options {
	enum loci_policy policy;
	enum loci_conversion from_time; /* not NONE: use the time histogram, not the stack's */
};

struct loci_prediction {
	struct loci_cache cache;
	enum loci_basis basis;
	double error_points; /* how far the miss ratio may be off, in percentage points; 0: exact */
	double accesses;     /* touches at this line size: every level sees every touch */
	double misses;
	double hits;         /* satisfied here: misses of the level before minus misses of this one */
	double cold, capacity, coherence;
	double conflict;     /* signed: negative where LRU does worse fully associative */
	bool has_writebacks; /* stores are known, and the policy is LRU */
	double writebacks;   /* the final flush included */
	double moved_bytes;  /* (misses + write-backs) * line */
};

/* ret has room for hierarchy->n_levels. A line size the profile lacks is an error that names those
 * it has and how to record it. A profile whose unit is object takes sizes in objects: line 1. */
int loci_predict(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	const struct loci_predict_options *options, struct loci_prediction *ret,
	struct loci_err *err);

/* Average cycles per reference where all latencies are known, else 0. */
double loci_predict_cycles(const struct loci_hierarchy *hierarchy,
	const struct loci_prediction *prediction);

#endif
