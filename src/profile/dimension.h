/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile's dimensions: code, data, contexts, pairs, and what each met in the caches named at
 * record time. One struct per table of schema.sql. Ids are the writer's choice, from 1; 0 means
 * none (NULL). Strings are borrowed while putting; what a getter returns lives as long as the
 * profile. NULL: unknown. */
#ifndef LOCI_PROFILE_DIMENSION_H
#define LOCI_PROFILE_DIMENSION_H

#include "profile/profile.h"

struct loci_process_row {
	int64_t id, parent_id;
	int64_t pid;
	const char *command;
};

/* Threads that share a cache, where groups were asked for. */
struct loci_thread_group_row {
	int64_t id;
	uint64_t share;      /* threads of a group; its last may have fewer */
	uint32_t thread;     /* its first, as in loci_thread_totals */
	const char *threads; /* all of them, as they began: "3,7,4" */
};

struct loci_module_row {
	int64_t id;
	const char *path, *build_id; /* hexadecimal */
};

struct loci_source_row {
	int64_t id;
	const char *path;
};

struct loci_excerpt_row {
	int64_t source_id;
	unsigned line;
	const char *text;
};

struct loci_function_row {
	int64_t id, module_id;
	const char *name, *mangled;
	int64_t source_id;
	unsigned line;
};

struct loci_inlined_row {
	int64_t id, parent_id, function_id, source_id;
	unsigned line, column;
};

/* A loop found in the code that ran: the innermost around a site is the site's. */
struct loci_loop_row {
	int64_t id, parent_id, function_id, source_id;
	unsigned line, last_line;
	uint64_t iterations; /* times its header was reached from inside */
};

struct loci_site_row {
	int64_t id;
	const char *site_key;
	int64_t function_id, inlined_id, loop_id, source_id;
	unsigned line, column;
	const char *op, *flags; /* as schema.sql words them */
	uint64_t size_bytes, code_offset, refs;
	int64_t module_id; /* where the function is unknown, which else has it */
};

struct loci_context_row {
	int64_t id, parent_id, function_id, source_id;
	unsigned line; /* of the call */
	uint64_t refs; /* its own, not those below */
};

struct loci_object_row {
	int64_t id;
	const char *kind, *name, *type;
	uint64_t size_bytes, allocations;
	int64_t module_id, function_id, source_id, context_id;
	unsigned line;
	uint64_t born_refs, died_refs;
	bool released; /* died_refs has a meaning */
	uint64_t refs;
	uint64_t element_bytes; /* as the program says; 0: it does not */
};

struct loci_field_row {
	int64_t id, object_id;
	const char *name, *type;
	uint64_t offset_bytes, size_bytes;
};

/* A piece of an array, cut by index. */
struct loci_piece_row {
	int64_t id, object_id;
	const char *axis;   /* index, outer, inner, byte */
	uint64_t low, high; /* holds low <= index < high */
	uint64_t block_bytes;
	uint64_t touches, cold, reuses, distance_blocks, misses;
};

/* One site's references to one object, and how it walks there. */
struct loci_access_row {
	int64_t id, site_id, object_id, field_id;
	uint64_t refs;
	int64_t stride_bytes;  /* the most frequent one; 0 with regular_refs 0: none stands out */
	uint64_t regular_refs; /* references within runs of one stride: what a prefetcher can follow
				*/
	uint64_t fills;        /* blocks these references brought into the first level .. */
	uint64_t used_bytes;   /* .. and how many of their bytes were touched until they left it */
};

struct loci_pair_row {
	int64_t id, use_site_id, reuse_site_id, object_id;
	const char *kind; /* RAR, RAW, WAR, WAW */
	int64_t use_context_id, reuse_context_id, common_context_id;
	int64_t loop_id; /* the loop that carries the reuse: the innermost that ran at both */
	bool recycled;
	uint64_t refs; /* reuses */
};

/* Marked by the program. */
struct loci_region_row {
	int64_t id, parent_id; /* the region around it */
	const char *name;
	uint64_t entries, refs; /* refs: its own, not those of regions in it */
};

struct loci_phase_row {
	int64_t id;
	const char *name; /* NULL: before the first that the program named */
	uint64_t refs;
};

struct loci_stretch_row {
	uint64_t first_refs, refs;
	int64_t phase_id; /* 0: several */
};

struct loci_mistake_row {
	int64_t id;
	const char *what;
	uint64_t times;
};

/* How references were chosen, of a profile of samples. */
struct loci_sampling_row {
	int64_t id;
	uint64_t period; /* mean gap between two samples of a thread, at first, in references */
	uint64_t last_period;
	uint64_t seed;
	uint64_t samples;             /* that something is known of */
	uint64_t pruned;              /* of these, given up: a distance is at least so much */
	uint64_t lost;                /* samples that nothing is known of */
	uint64_t analysed_refs, refs; /* recorded while samples were open; in all */
	double effective;             /* samples of one weight that would say as much */
	/* Of samples that were watched until their reuse; NULL: they were not. */
	const char *watched_by;             /* registers, pages, replay */
	uint64_t in_burst, by_watch, never; /* reused while followed, met by a watch, not reused */
	uint64_t abandoned; /* watches given up that no other sample took: their page was hot */
	/* Of by_watch: whose distance is estimated by time, to worse than one part in 128. */
	uint64_t by_time;
	uint64_t traps, false_faults, steps, syscalls; /* that it took; of pages: beside the block,
							  single steps, calls led past them */
	uint64_t burst_ns, trap_ns; /* that following samples took longer; in handlers */
	double unknown; /* share of the touches whose samples were given up, and no other stands
			   for: when they are reused nobody knows */
};

struct loci_level_row {
	int64_t id;
	const char *name;
	uint64_t size_bytes, ways, line_bytes;
	const char *share;
};

/* What an owner's touches met at one level. */
struct loci_level_count_row {
	int64_t level_id;
	enum loci_owner owner; /* WHOLE, THREAD, THREAD_GROUP, SITE, CONTEXT, OBJECT, FIELD, ACCESS,
				  PAIR, REGION, PHASE */
	int64_t owner_id;
	uint64_t first_hits, misses, writebacks;
	uint64_t coherence; /* of misses: lost to another thread's write */
	uint64_t transfers; /* writes that took a dirty line from another's cache */
};

/* Straight-line code whose operations are counted; what stands in the two after it, it does each
 * time it runs. */
struct loci_block_row {
	int64_t id, function_id, loop_id, source_id;
	unsigned line;
	bool entry;        /* running it is an invocation of the function */
	uint64_t contents; /* a digest of what it does */
	uint64_t executions;
	uint64_t range_loaded_bytes, range_stored_bytes; /* by memcpy and its like, in all of them
							  */
};

struct loci_operation_row {
	int64_t id, block_id;
	const char *kind, *type; /* as schema.sql words them; type NULL: none */
	uint64_t lanes, count, bits;
};

struct loci_invocation_row {
	int64_t id, block_id;
	const char *callee;
	uint64_t count;
};

/* Some of a block's executions: those in a context and a region. */
struct loci_execution_row {
	int64_t id, block_id, context_id, region_id;
	uint64_t executions;
};

/* Distinct bytes. */
struct loci_footprint_row {
	int64_t id;
	enum loci_owner owner; /* WHOLE, FUNCTION */
	int64_t owner_id;
	double error; /* relative, 95 %; 0: exact */
	double loaded_bytes, stored_bytes, touched_bytes;
};

struct loci_memory_use_row {
	int64_t percent;
	uint64_t bytes;
};

/* What a thread, a group, or an owner's touches in all threads, met of others. */
struct loci_coherence_row {
	int64_t id;
	enum loci_owner owner; /* WHOLE, THREAD, THREAD_GROUP, SITE, OBJECT */
	int64_t owner_id;
	uint64_t block_bytes;
	uint64_t touches;
	uint64_t true_sharing, false_sharing; /* coherence misses */
	uint64_t remote;                      /* touches of what another touched last */
};

/* Distinct blocks by who touched them. */
struct loci_shared_blocks_row {
	int64_t id;
	uint64_t block_bytes;
	uint64_t alone;     /* one thread */
	uint64_t read_only; /* several, none of whom wrote after another had touched it */
	uint64_t written;   /* several */
};

/* Coherence misses by who wrote, who missed, and what it was. */
struct loci_sharing_row {
	int64_t id, write_site_id, miss_site_id;
	int64_t object_id, write_object_id; /* touched; written */
	int64_t field_id, write_field_id;
	const char *kind; /* true, false */
	uint64_t misses;
	uint64_t threads; /* pairs of threads seen, at least */
};

/* X(table, its getter's plural) */
#define LOCI_DIMENSIONS(X)              \
	X(process, processes)           \
	X(thread_group, thread_groups)  \
	X(module, modules)              \
	X(source, sources)              \
	X(excerpt, excerpts)            \
	X(function, functions)          \
	X(inlined, inlined_calls)       \
	X(loop, loops)                  \
	X(site, sites)                  \
	X(context, contexts)            \
	X(object, objects)              \
	X(field, fields)                \
	X(piece, pieces)                \
	X(access, accesses)             \
	X(pair, pairs)                  \
	X(region, regions)              \
	X(phase, phases)                \
	X(stretch, stretches)           \
	X(mistake, mistakes)            \
	X(sampling, samplings)          \
	X(level, levels)                \
	X(level_count, level_counts)    \
	X(block, blocks)                \
	X(operation, operations)        \
	X(invocation, invocations)      \
	X(execution, executions)        \
	X(footprint, footprints)        \
	X(memory_use, memory_uses)      \
	X(coherence, coherences)        \
	X(shared_blocks, shared_blocks) \
	X(sharing, sharings)

/* One put per row, between create and commit, in any order; ascending ids are fastest. Level counts
 * that are all 0 are not stored. Commit refuses what the getters would: ids of rows that are not
 * there, and rows that are their own ancestors.
 *
 * int loci_profile_put_site(struct loci_profile *, const struct loci_site_row *,
 *	struct loci_err *), and so on. */
#define LOCI_DIMENSION_PUT(name, names)                           \
	int loci_profile_put_##name(struct loci_profile *profile, \
		const struct loci_##name##_row *row, struct loci_err *err);
LOCI_DIMENSIONS(LOCI_DIMENSION_PUT)

/* int loci_profile_sites(struct loci_profile *, const struct loci_site_row **ret, size_t *ret_n,
 *	struct loci_err *), and so on: all rows by ascending id (excerpts by source and line, level
 * counts by owner, owner_id and level). Loaded on first use and kept. A profile without the table
 * or the rows has none: 0 with *ret_n == 0.
 *
 * Every id that a row names is there: 0, or a row that the other getter has; and following
 * parents ends at 0. Equal strings of a profile are one string. */
#define LOCI_DIMENSION_GET(name, names)                        \
	int loci_profile_##names(struct loci_profile *profile, \
		const struct loci_##name##_row **ret, size_t *ret_n, struct loci_err *err);
LOCI_DIMENSIONS(LOCI_DIMENSION_GET)
/* For macros that append an s. */
#define loci_profile_processs       loci_profile_processes
#define loci_profile_inlineds       loci_profile_inlined_calls
#define loci_profile_accesss        loci_profile_accesses
#define loci_profile_stretchs       loci_profile_stretches
#define loci_profile_shared_blockss loci_profile_shared_blocks

/* The row of an id in what a getter gave, or NULL: rows are sorted by id, their first member. (Not
 * for excerpts and level counts, which have none.) */
const void *loci_row_find(const void *rows, size_t n, size_t row_bytes, int64_t id);

/* All histograms of one kind, by ascending owner_id: read in one go, for those who want many. They
 * live as long as the profile. Every owner_id is there (those of threads are not looked up). */
struct loci_owner_hist {
	int64_t owner_id;
	const struct loci_hist *hist;
};
int loci_profile_hists(struct loci_profile *profile, enum loci_distance distance,
	enum loci_owner owner, uint64_t block_bytes, const struct loci_owner_hist **ret,
	size_t *ret_n, struct loci_err *err);

#endif
