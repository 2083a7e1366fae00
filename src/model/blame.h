/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is to blame for a cache's misses: code (site, line, function, loop, file, module), data
 * (object, field), calling contexts, reuse pairs, threads and processes, and the regions and phases
 * that the program marks.
 *
 * At caches named at record time the misses are counts and exact. At any other cache they come from
 * the owner's own histogram, by the model that loci_predict_cache uses there, and are an estimate:
 * owners' histograms have four bins per power of two and do not know the sets. Code is blamed where
 * its text stands: an inlined function's references are that function's, not its caller's. Poor
 * locality by the fewest owners that cover a share of the misses: Schuff et al. (2010). */
#ifndef LOCI_MODEL_BLAME_H
#define LOCI_MODEL_BLAME_H

#include "model/catalogue.h"
#include "model/subject.h"

enum loci_blame_kind {
	LOCI_BLAME_SITE,
	LOCI_BLAME_LINE,
	LOCI_BLAME_FUNCTION,
	LOCI_BLAME_LOOP, /* the innermost around a site */
	LOCI_BLAME_FILE,
	LOCI_BLAME_MODULE,
	LOCI_BLAME_OBJECT,
	LOCI_BLAME_FIELD,
	LOCI_BLAME_CONTEXT, /* itself, not those below it */
	LOCI_BLAME_PAIR,
	LOCI_BLAME_THREAD,
	LOCI_BLAME_PROCESS,
	LOCI_BLAME_REGION, /* itself, not those in it */
	LOCI_BLAME_PHASE,
	LOCI_BLAME_SPOT, /* one line's references to one object */
	LOCI_BLAME_LINK, /* pairs from one line to another, by object and loop */
};
#define LOCI_BLAME_KINDS (LOCI_BLAME_LINK + 1)
const char *loci_blame_name(enum loci_blame_kind kind); /* "site"; plural: "sites", "loops" */
const char *loci_blame_plural(enum loci_blame_kind kind);
/* -EINVAL where there is none of that name. */
int loci_blame_from_name(const char *name, enum loci_blame_kind *ret);

/* The caches that owners are judged at, innermost first, and the one they are ranked by. */
struct loci_blame_level {
	struct loci_cache cache;
	int64_t level_id; /* recorded as; 0: estimated */
};
struct loci_blame_levels {
	struct loci_blame_level level[LOCI_LEVELS_MAX];
	unsigned n, chosen;
	uint64_t block_bytes; /* at which owners were recorded */
	bool of_elements;     /* no machine's: they hold elements, not lines */
};
/* Those of the machine given with the subject, else those named at record time, else the machine's.
 * Where the subject's blocks are elements, smaller than any line: caches of as many bytes that hold
 * elements alone, fully associative. name NULL: the first. Says what is wrong where there is no
 * level, or none of that name. */
int loci_blame_levels(const struct loci_subject *subject, const struct loci_catalogue *catalogue,
	const char *name, struct loci_blame_levels *ret, struct loci_err *err);

/* Whether owners of the kind have what they are judged by: contexts and pairs have it at one block
 * size only, the first recorded. */
bool loci_blame_is_recorded(const struct loci_subject *subject, enum loci_blame_kind kind,
	const struct loci_blame_levels *levels);

/* One cache, counted where the profile has it. */
void loci_blame_level_of(const struct loci_subject *subject, const struct loci_catalogue *catalogue,
	const struct loci_cache *cache, struct loci_blame_levels *ret);

/* A thread as other owners are: its id first. */
struct loci_blame_thread {
	int64_t id, process_id;
	uint64_t refs;
};

struct loci_blame_row {
	/* The row of the dimension that stands for it: of several sites, pairs or accesses the one
	 * with the most misses; of a function, loop, file, module, context .. that one, of a
	 * thread a loci_blame_thread. NULL: those of no function, no loop ... */
	const void *owner;
	double refs, touches;                 /* touches 0: unknown */
	double misses, writebacks;            /* at the chosen level */
	double level_misses[LOCI_LEVELS_MAX]; /* of the levels recorded */
	double all_refs, all_misses;          /* of a region, with those in it */
	double true_sharing, false_sharing;   /* misses of what another thread had written */
	double remote;                        /* touches of what another thread touched last */
	uint32_t first, n_members, serial;    /* private, but for the number of members */
};

struct loci_blame {
	const struct loci_catalogue *catalogue;
	enum loci_blame_kind kind;
	struct loci_blame_levels levels;
	bool is_estimate;
	const char *basis; /* of an estimate: "binomial model" */
	bool has_touches, has_writebacks;
	bool has_sharing; /* what owners of this kind met of other threads was counted */
	bool has_misses;  /* false: they were not counted by such owners, rows have references only
			   */
	struct loci_blame_row *row;
	size_t n_rows;
	/* Of the whole run, those included that no owner of this kind has. */
	double refs, misses, writebacks;
	double owned_misses; /* that an owner of this kind has */
	double *sum;         /* of misses, the worst owners first */
	struct loci_blame_index *index;
};

/* Rows by misses, the most first. Both arguments are borrowed. */
int loci_blame_new(const struct loci_catalogue *catalogue, const struct loci_subject *subject,
	const struct loci_blame_levels *levels, enum loci_blame_kind kind, struct loci_blame **ret,
	struct loci_err *err);
void loci_blame_free(struct loci_blame *blame); /* NULL allowed */

static inline void loci_blame_freep(struct loci_blame **blame)
{
	loci_blame_free(*blame);
}

enum loci_blame_sort {
	LOCI_BLAME_BY_MISSES,
	LOCI_BLAME_BY_REFS,
	LOCI_BLAME_BY_WRITEBACKS,
	LOCI_BLAME_BY_DISTANCE,
};
int loci_blame_sort(struct loci_blame *blame, enum loci_blame_sort by, struct loci_err *err);

/* The fewest owners that have this share of all misses; 0: all of them have less. */
size_t loci_blame_cover(const struct loci_blame *blame, double share);
/* Misses as a share of all; 0 where there are none. */
double loci_blame_share(const struct loci_blame *blame, double misses);

/* What makes most of the misses. */
enum loci_blame_cause {
	LOCI_CAUSE_NONE,     /* no misses, or no histogram */
	LOCI_CAUSE_FAR,      /* reuses from further back than the cache is large */
	LOCI_CAUSE_COLD,     /* first touches */
	LOCI_CAUSE_SHARED,   /* blocks lost to another thread's write */
	LOCI_CAUSE_CONFLICT, /* reuses that would fit, were it not for the sets */
};

/* What takes a closer look: made for the rows that are shown. */
struct loci_blame_detail {
	enum loci_blame_cause cause;
	uint64_t far_blocks; /* median of the reuses that the chosen level is too small for: the
				cache that would just hold it, or the least that its bin has where
				that is wider than one block; 0: there are none */
	uint64_t effective_blocks; /* the smallest cache that holds what any cache does hold; 0:
				      nothing is reused, or nothing is known */
	bool has_stride;
	int64_t stride_bytes;   /* the most frequent one, of the access with the most misses */
	double regular;         /* share of the references that follow their stride .. */
	bool is_regular;        /* .. 15 of 16: what a prefetcher can hide .. */
	bool is_mostly_regular; /* .. at least half */
	double spatial;    /* share of the bytes brought in that were used; negative: unknown */
	int64_t object_id; /* with the most misses; 0: unknown */
	size_t n_objects;
};
int loci_blame_look(struct loci_blame *blame, const struct loci_blame_row *row,
	struct loci_blame_detail *ret, struct loci_err *err);

#endif
