/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The misses of any cache from a profile: LRU of any size and associativity after Mattson et al.
 * (1970) and Hill and Smith (1989), write-backs after Thompson and Smith (1989), random replacement
 * after Berg and Hagersten (2004). Says of every number on what it rests. */
#ifndef LOCI_MODEL_PREDICT_H
#define LOCI_MODEL_PREDICT_H

#include "model/cache.h"
#include "model/convert.h"
#include "profile/profile.h"

enum loci_policy { LOCI_POLICY_LRU, LOCI_POLICY_RANDOM };

enum loci_basis {
	LOCI_BASIS_EXACT,        /* equals simulating this cache on the stream */
	LOCI_BASIS_INTERPOLATED, /* fully associative, size within a bin; error_points bounds it */
	LOCI_BASIS_BINOMIAL,     /* sets modelled as random; see loci_basis_note */
	LOCI_BASIS_STATSTACK,    /* LRU from time distances */
	LOCI_BASIS_SHEN,
	LOCI_BASIS_STATCACHE, /* random replacement */
	LOCI_BASIS_SAMPLED,   /* fully associative, from a sampled profile */
};
const char *loci_basis_name(enum loci_basis basis); /* "exact", "binomial model", ... */
/* A sentence on what that means and how far off it can be; "" for exact. */
const char *loci_basis_note(enum loci_basis basis);

struct loci_predict_options {
	enum loci_policy policy;
	enum loci_conversion from_time; /* not NONE: use the time histogram, not the stack's */
	/* Of a run with threads: those whose misses are counted, others running beside them as
	 * they did; NULL: all. */
	const int64_t *threads;
	size_t n_threads;
	bool whole_groups; /* one of a group chosen stands for the group */
};

struct loci_prediction {
	struct loci_cache cache;
	enum loci_basis basis;
	const char *why; /* not exact because ("57344 sets are no power of two"), or NULL; static */
	/* How far the miss ratio may be off, in percentage points; 0: exact. A bound where
	 * interpolated, 95 % where sampled, the worst seen in checks where a model is used. */
	double error_points;
	double chance_points; /* of it, what sampling and bins cause: the rest is the model's own,
				 alike in two runs that are modelled alike */
	double accesses;      /* touches at this line size: every level sees every touch */
	double misses;
	/* Satisfied here: misses of the level before minus misses of this one. TLBs stand outside
	 * that chain, and theirs are accesses minus misses. */
	double hits;
	bool hits_estimated; /* the levels' histograms alone do not determine it; see doc/method.md
			      */
	bool has_split;      /* the three below are known */
	double cold, capacity, coherence;
	double conflict;     /* signed: negative where LRU does worse fully associative */
	double split_points; /* how far capacity and conflict may be off; 0: exact */
	bool has_writebacks; /* stores are known, the policy is LRU, and this is no TLB */
	double writebacks;   /* the final flush included */
	double moved_bytes;  /* (misses + write-backs) * line; 0 of a TLB */
	bool has_reference_misses;
	double reference_misses; /* a reference that missed in both of its blocks counted once */
	bool is_threaded;        /* cache.share was heeded */
	bool has_sharing;        /* the three below are known */
	/* Coherence misses: of bytes that another had written, and of blocks of which another had
	 * written other bytes. */
	double true_sharing, false_sharing;
	double remote; /* touches of blocks whose last toucher was another, hits and misses */
};

/* What one line size of a run is known by. */
struct loci_predict_input {
	double touches; /* at this line size */
	double blocks;  /* distinct */
	bool sampled;
	double sampling_points; /* 95 % half-width of miss ratios, percentage points */
	bool stores_known;      /* a run without stores writes nothing back; one may not know */
	const struct loci_hist *stack, *time, *dirty; /* NULL: absent */
	const struct loci_hist *near, *near_time;     /* of time, whose stack distances are known */
	/* at loci_cache_sets(cache); NULL: absent */
	const struct loci_hist *set, *set_dirty, *set_both;
	bool is_counted; /* this very cache was simulated while recording */
	double counted_misses, counted_writebacks;
	/* Of a run with threads; see topology.h. */
	bool is_threaded;
	bool is_private; /* stack: of the threads' own stacks, whose sets are not known */
	bool has_sharing;
	double true_sharing, false_sharing, remote;
	unsigned counted_at; /* recorded as this level, from 1 */
	double counted_hits; /* touches that hit no level before */
};

/* One cache, hits and all of the hierarchy left out. Needs no profile. */
int loci_predict_cache(const struct loci_predict_input *input, const struct loci_cache *cache,
	const struct loci_predict_options *options, struct loci_prediction *ret,
	struct loci_err *err);
/* Finite distances that reach or pass the ways of one of so many random sets. */
double loci_predict_binomial(const struct loci_hist *hist, double sets, double ways);
/* Fills hits and hits_estimated of n levels, innermost first. */
void loci_predict_hits(struct loci_prediction *prediction, size_t n, enum loci_policy policy);

/* ret has room for hierarchy->n_levels. A line size the profile lacks is an error that names those
 * it has and how to record it. A profile whose unit is object takes sizes in objects: line 1. */
int loci_predict(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	const struct loci_predict_options *options, struct loci_prediction *ret,
	struct loci_err *err);

/* Average cycles per touch where all latencies are known, else 0. */
double loci_predict_cycles(
	const struct loci_hierarchy *hierarchy, const struct loci_prediction *prediction);

#endif
