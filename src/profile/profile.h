/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile: all that passes from analysing to everything after. One SQLite file; schema.sql and
 * doc/profile-format.md describe it, and nothing outside this room knows a column.
 *
 * Writing: create, put, commit. Reading: open, get. Getters return borrowed const data that lives
 * as long as the profile. */
#ifndef LOCI_PROFILE_H
#define LOCI_PROFILE_H

#include "base/err.h"
#include "hist/hist.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LOCI_PROFILE_VERSION 1

struct loci_profile;

enum loci_distance { /* what a histogram counts */
	LOCI_DISTANCE_STACK,
	LOCI_DISTANCE_TIME,
	LOCI_DISTANCE_DIRTY, /* of writes */
	LOCI_DISTANCE_SET,   /* position in its set's LRU list, per set count; cold: not found */
	LOCI_DISTANCE_SET_DIRTY, /* of writes, per set count; cold: not found or infinite */
	LOCI_DISTANCE_SET_BOTH,  /* of references over two blocks: the lower of their positions */
	LOCI_DISTANCE_PRIVATE, /* in the thread's own stack, from which others' writes take blocks;
				  has coherence */
	/* Of the cold ones of STACK, or PRIVATE, those whose distance is known to be this or more,
	 * and perhaps finite: samples that were given up. */
	LOCI_DISTANCE_AT_LEAST,
	LOCI_DISTANCE_PRIVATE_AT_LEAST,
	/* For the model of Anger et al. (2014): */
	LOCI_DISTANCE_ALONE,        /* in the thread's own stack, nothing taken away */
	LOCI_DISTANCE_ALONE_REMOTE, /* of those, of blocks that another thread touched last */
	LOCI_DISTANCE_REMOTE,       /* the same touches in the stack that all share */
	LOCI_DISTANCE_TIME_REMOTE,  /* of TIME, reuses by another thread than the use */
	/* Stack distances of those of TIME whose touches until then were seen, or estimated by the
	 * samples in between .. */
	LOCI_DISTANCE_NEAR,
	LOCI_DISTANCE_NEAR_TIME, /* .. and the time distances of the same ones */
};
const char *loci_distance_name(enum loci_distance distance);

enum loci_owner { /* whose histogram it is */
	LOCI_OWNER_WHOLE,
	LOCI_OWNER_THREAD,
	LOCI_OWNER_SITE,
	LOCI_OWNER_SITE_THREAD,
	LOCI_OWNER_CONTEXT,
	LOCI_OWNER_OBJECT,
	LOCI_OWNER_FIELD,
	LOCI_OWNER_PAIR,
	LOCI_OWNER_PHASE,
	LOCI_OWNER_REGION,
	LOCI_OWNER_LOOP,
	LOCI_OWNER_ACCESS,   /* level counts only */
	LOCI_OWNER_FUNCTION, /* footprints only */
	LOCI_OWNER_THREAD_GROUP,
};
const char *loci_owner_name(enum loci_owner owner);

/* What was run and how it was watched. Strings are owned by whoever owns the struct; NULL: unknown.
 */
struct loci_run {
	char *command;         /* the program's command line, or the trace's path */
	char *collector;       /* "import", "any", ... */
	char *origin;          /* "lackey", "din", "loci trace", ... */
	char *mode;            /* "exact", "sample", "watch" */
	char *unit;            /* "byte" or "object" */
	char *capabilities;    /* "complete stores", space separated */
	char *program_version; /* of loci */
	char *machine;         /* the processor's name */
	char *caches;          /* the machine's hierarchy in the cache grammar: "L1=48K/12,..." */
	char *started;         /* UTC, ISO 8601 */
	double seconds;        /* wall time of the run or analysis */
	bool complete;         /* false: interrupted, torn or lost; see note */
	char *note;            /* what a reader must know ("input torn after ...") */
	uint64_t references, loads, stores, fetches,
		bulk;  /* references = loads + stores + fetches */
	uint64_t lost; /* references known to be missing */
	uint64_t threads;
	uint64_t merged; /* profiles merged into this one; 1 for one run */
};
void loci_run_fini(struct loci_run *run);

/* Totals at one block size. */
struct loci_grain {
	uint64_t block_bytes; /* 1 where the unit is object */
	uint64_t touches, writes, straddles;
	double blocks;        /* distinct */
	double sampling_rate; /* 1: exact (0 is written as 1) */
	double error_points;  /* 95 % half-width of miss ratios in percentage points; 0: exact */
	uint64_t sampled_from;
};

/* One histogram's key. set_bits only with SET and its kin, else 0; owner_id 0 with WHOLE. */
struct loci_hist_key {
	enum loci_distance distance;
	uint64_t block_bytes;
	unsigned set_bits;
	enum loci_owner owner;
	int64_t owner_id;
};

#define LOCI_RUN_APPROXIMATE "approximate" /* a word of the capabilities */

/* Whether code tells of its references what its compiler happens to know. */
static inline bool loci_run_is_approximate(const struct loci_run *run)
{
	return run->capabilities && strstr(run->capabilities, LOCI_RUN_APPROXIMATE);
}

/* Whether only a part of its references was to be recorded: some functions', or some time's. */
static inline bool loci_run_is_part(const struct loci_run *run)
{
	return run->capabilities && run->capabilities[0] && !strstr(run->capabilities, "complete");
}

/* Whether it is known of samples that were watched until their reuse, and so has time distances. */
static inline bool loci_run_is_watched(const struct loci_run *run)
{
	return run->mode && !strcmp(run->mode, "watch");
}

struct loci_thread_totals {
	uint32_t thread; /* the stream's id */
	uint64_t references;
	int64_t process_id; /* a row of process; 0: unknown */
};

/* Calls of code that nothing was recorded of, by the library that has it. */
struct loci_unseen_calls {
	const char *library; /* its file's name */
	uint64_t calls;
};

/* Written to a temporary name beside path; commit renames over path; close without commit removes.
 */
int loci_profile_create(const char *path, struct loci_profile **ret, struct loci_err *err);
int loci_profile_put_run(
	struct loci_profile *profile, const struct loci_run *run, struct loci_err *err);
int loci_profile_put_grain(
	struct loci_profile *profile, const struct loci_grain *grain, struct loci_err *err);
int loci_profile_put_thread(struct loci_profile *profile, const struct loci_thread_totals *totals,
	struct loci_err *err);
int loci_profile_put_unseen(struct loci_profile *profile, const struct loci_unseen_calls *unseen,
	struct loci_err *err); /* each library once */
int loci_profile_put_hist(struct loci_profile *profile, const struct loci_hist_key *key,
	const struct loci_hist *hist, struct loci_err *err);
int loci_profile_commit(struct loci_profile *profile, struct loci_err *err);

/* Read only; the file is never changed. Says what is wrong with a file that is no profile, damaged
 * or from a newer loci. */
int loci_profile_open(const char *path, struct loci_profile **ret, struct loci_err *err);
/* Whether a file claims to be a profile that this loci reads and nobody is changing it, from its
 * header alone: what is inside may yet be damaged. */
int loci_profile_probe(const char *path, struct loci_err *err);
void loci_profile_close(struct loci_profile *profile); /* NULL allowed */

static inline void loci_profile_closep(struct loci_profile **profile)
{
	loci_profile_close(*profile);
}

const char *loci_profile_path(const struct loci_profile *profile);
int loci_profile_version(const struct loci_profile *profile);
const struct loci_run *loci_profile_run(const struct loci_profile *profile);
/* Ascending block sizes; never none. */
const struct loci_grain *loci_profile_grains(const struct loci_profile *profile, size_t *ret_n);
const struct loci_grain *loci_profile_grain(
	const struct loci_profile *profile, uint64_t block_bytes); /* or NULL */
const struct loci_thread_totals *loci_profile_threads(
	const struct loci_profile *profile, size_t *ret_n);
/* By library. */
const struct loci_unseen_calls *loci_profile_unseen(
	const struct loci_profile *profile, size_t *ret_n);
/* Loaded on first use and kept. -ENOENT, err untouched, where the profile has none. */
int loci_profile_hist(struct loci_profile *profile, const struct loci_hist_key *key,
	const struct loci_hist **ret, struct loci_err *err);
/* Which histograms there are: the whole run's first, then by owner, block size, distance and set
 * bits. */
const struct loci_hist_key *loci_profile_hist_keys(
	const struct loci_profile *profile, size_t *ret_n);

/* Adds runs up: histograms, totals and dimensions are summed, as if the programs ran one after
 * another on emptied caches. Units must agree; block sizes, set counts and levels they do not share
 * are left out, and the note says so. */
int loci_profile_merge(
	const char *path, char *const *inputs, size_t n_inputs, struct loci_err *err);

#endif
