/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a stream to a profile: decodes words, splits references into touches at every block size,
 * feeds the engines and writes what they counted. */
#ifndef LOCI_ANALYSE_H
#define LOCI_ANALYSE_H

#include "analyse/weigh.h"
#include "base/err.h"
#include "profile/dimension.h"
#include "stream/source.h"
#include "stream/trace.h"

#include <signal.h>
#include <stdbool.h>

#define LOCI_ANALYSE_GRAINS 16
#define LOCI_ANALYSE_SHARES 4

enum loci_analyse_pairs {
	LOCI_PAIRS_FAR, /* reuses from LOCI_PAIRS_FAR_BLOCKS blocks on: no cache misses a nearer one
			 */
	LOCI_PAIRS_ALL,
	LOCI_PAIRS_NONE,
};
#define LOCI_PAIRS_FAR_BLOCKS 64

/* The streams have windows around samples: sampler.h. */
struct loci_analyse_sampling {
	uint64_t period, seed;
	/* The first age at which chance decides whether a sample is followed; 0: what the period
	 * makes of it. */
	uint64_t gamble_touches;
	/* So many more samples of a process need not be followed any further; from any thread. May
	 * be NULL. */
	void (*closed)(void *data, int64_t pid, uint32_t n);
	void *data;
};

/* What watching took, as the collector says when it has ended. */
struct loci_analyse_watch_cost {
	uint64_t traps, false_faults, steps, syscalls; /* as in loci_sampling_row */
	uint64_t burst_ns, trap_ns;
	uint64_t lost;   /* samples of which no stream tells */
	uint64_t lapsed; /* watches given up because nothing could be watched any more */
};

/* The streams have samples that were watched: watch_events.h. */
struct loci_analyse_watching {
	const char *by; /* registers, pages; NULL: replay */
	uint64_t period, seed;
	enum loci_weighting weighting;
	uint64_t burst_refs; /* each was followed for so many, and watched only after that */
	bool writes_only;    /* only writes are reuses */
	bool is_kept;        /* they are of a trace: what happened beside them is not told there */
};

struct loci_analyse_options {
	uint64_t block_bytes[LOCI_ANALYSE_GRAINS]; /* powers of two, 1..2 MiB; none: 64 */
	unsigned n_block_bytes;
	bool no_sets;        /* skip the per-set engines */
	uint64_t max_memory; /* bytes; 0: no limit */
	uint64_t verify;     /* compare this many touches with the naive stack; 0: none */
	bool one_by_one;     /* engines hear of every touch, with the same result: for tests */
	/* Attribution: sites, contexts, objects, levels, pairs, where the stream has what it takes.
	 * It is made at the first block size. */
	bool attribute;
	bool threads_only; /* only for what threads meet: nothing is said of code and data */
	enum loci_analyse_pairs pairs;
	const struct loci_level_row *levels; /* caches to simulate; lines of the first block size */
	size_t n_levels;
	/* The streams only count: they tell how often blocks ran and how many references there
	 * were, and not which. The profile has operations and no distances. */
	bool counts;
	const struct loci_analyse_sampling *sampling; /* NULL: no samples. With attribute */
	/* Groups of so many threads that share a cache, beside threads that have theirs to
	 * themselves. */
	unsigned share[LOCI_ANALYSE_SHARES];
	unsigned n_share;
	const struct loci_analyse_watching *watching; /* NULL: they have not */
	bool alone;     /* what each thread would meet alone, for the model of Anger et al. */
	bool footprint; /* count distinct bytes, and uses of words */
	bool no_source; /* leave out source excerpts */
	bool no_kernel; /* leave out memory touched by the kernel */
	bool index;     /* what each piece of an array met: piece.h */
	bool statement; /* each element once per execution of a statement: distinct.h */
	/* Of what `loci cc` compiled, which is recorded whole: only references of the functions so
	 * named, or none of them; comma separated, * and ? allowed. NULL: all, none. */
	const char *only, *skip;
	const char *command; /* for the profile */
	const char *caches;  /* the host's hierarchy, for the profile */
	const char *machine;
	const char *version;               /* of loci */
	struct loci_trace_writer *keep;    /* the stream is written here too; NULL: not */
	const volatile sig_atomic_t *stop; /* nonzero: write what has been seen */
	/* Called now and then; may be NULL. total 0: unknown. */
	void (*progress)(
		void *data, uint64_t references, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_data;
};

struct loci_analyse_summary {
	uint64_t references;
	uint64_t verified; /* touches compared */
	uint64_t samples;  /* that something is known of; as the next, where there are any */
	double analysed;   /* share of the references that was recorded for them */
	double error_points;
	bool interrupted; /* by stop */
	char note[512];   /* what a reader must know, or "" */
};

struct loci_analysis;

/* Several processes' streams into one profile. options must outlive the analysis. */
int loci_analysis_new(const struct loci_analyse_options *options, struct loci_analysis **ret,
	struct loci_err *err);
void loci_analysis_free(struct loci_analysis *analysis);
/* Reads one process's stream to its end, or until stop. Several may be read at once, each by a
 * thread of its own; each process has its own address space and so its own engines, and what they
 * counted is added up. When reading fails what was read before counts. */
int loci_analysis_read(
	struct loci_analysis *analysis, struct loci_source *source, struct loci_err *err);
/* References of all streams so far; from any thread. */
uint64_t loci_analysis_references(const struct loci_analysis *analysis);
/* Whether there is nothing to write a profile of: no reference, or no process that could be read to
 * the end and added up. */
bool loci_analysis_is_empty(struct loci_analysis *analysis);
/* Of streams that only count: whether some block's operations are known, and so there is a profile
 * to write; and how many references they told of. */
bool loci_analysis_has_operations(struct loci_analysis *analysis);
void loci_analysis_told(struct loci_analysis *analysis, uint64_t references, unsigned threads);
/* Before it is written. */
void loci_analysis_watch_cost(
	struct loci_analysis *analysis, const struct loci_analyse_watch_cost *cost);
/* A sentence for the profile's note ("killed by signal 9"). */
void loci_analysis_note(struct loci_analysis *analysis, const char *text);
/* The same of something that is missing: the profile is incomplete. */
void loci_analysis_miss(struct loci_analysis *analysis, const char *text);
int loci_analysis_write(struct loci_analysis *analysis, const char *path,
	struct loci_analyse_summary *ret, struct loci_err *err);

/* Reads source to its end, or until stop, and writes the profile to path. An input error fails and
 * leaves no profile behind. */
int loci_analyse(struct loci_source *source, const struct loci_analyse_options *options,
	const char *path, struct loci_analyse_summary *ret, struct loci_err *err);

#endif
