/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What attribution says of matrix_program.h, counted with plain lists: references, distances of
 * 64-byte blocks, misses and write-backs at the three levels, by site, context, object, field,
 * access and pair. All of them add up to the whole run's. */
#ifndef LOCI_TESTS_MATRIX_PROFILE_H
#define LOCI_TESTS_MATRIX_PROFILE_H

#include "matrix_program.h"

#include <stdlib.h>
#include <string.h>

#define MATRIX_LEVELS  3
#define MATRIX_BLOCKS  512
#define MATRIX_PAIRS   256
#define MATRIX_OWNERS  16 /* of one kind; ids are indices */
#define MATRIX_STRIDES 8

struct matrix_sum { /* of one owner */
	uint64_t refs, first_hits[MATRIX_LEVELS], misses[MATRIX_LEVELS], writebacks[MATRIX_LEVELS];
	struct loci_hist hist;
};

struct matrix_access {
	struct loci_access_row row;
	uint64_t last_address;
	int64_t last_stride;
	struct {
		int64_t bytes;
		uint64_t n;
	} stride[MATRIX_STRIDES];
};

struct matrix_block { /* and who used it last */
	uint64_t number;
	unsigned site, context;
	int is_write;
};

struct matrix_line {
	uint64_t number;
	int is_dirty;
	unsigned access;
	uint64_t used; /* bit per byte */
};

struct matrix_counts {
	struct matrix_sum whole, site[MATRIX_OWNERS], context[MATRIX_OWNERS], object[MATRIX_OWNERS],
		field[MATRIX_OWNERS], by_access[MATRIX_OWNERS], by_pair[MATRIX_PAIRS];
	struct matrix_access access[MATRIX_OWNERS]; /* by site: each has one object */
	struct loci_pair_row pair[MATRIX_PAIRS];
	size_t n_pairs;
	struct matrix_block stack[MATRIX_BLOCKS]; /* the last used first */
	size_t n_blocks;
	struct matrix_line *set[MATRIX_LEVELS]; /* ways of one set after another */
};

static inline void matrix_counts_init(struct matrix_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (unsigned i = 0; i < MATRIX_LEVELS; i++)
		counts->set[i] =
			calloc(matrix_levels[i].size_bytes / 64, sizeof(struct matrix_line));
}

static inline void matrix_end_line(struct matrix_counts *counts, struct matrix_line *line)
{
	if (line->number)
		counts->access[line->access].row.used_bytes +=
			(uint64_t)__builtin_popcountll(line->used);
	line->number = 0;
}

/* Whether the level missed; *ret_dirty: a clean or absent line became dirty. */
static inline int matrix_level_touch(struct matrix_counts *counts, unsigned level, uint64_t block,
	unsigned access, uint64_t used, int is_write, int *ret_dirty)
{
	uint64_t ways = matrix_levels[level].ways,
		 sets = matrix_levels[level].size_bytes / 64 / ways, way = 0;
	struct matrix_line *set = counts->set[level] + block % sets * ways, line;
	int missed;

	while (way < ways && set[way].number != block)
		way++;
	missed = way == ways;
	if (missed) {
		way--;
		if (level == 0)
			matrix_end_line(counts, &set[way]);
		line = (struct matrix_line){ .number = block, .access = access };
		if (level == 0)
			counts->access[access].row.fills++;
	} else {
		line = set[way];
	}
	*ret_dirty = is_write && !line.is_dirty;
	line.is_dirty |= is_write;
	line.used |= used;
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = line;
	return missed;
}

/* The stack distance, and who used the block last; LOCI_INFINITE at the first touch. */
static inline uint64_t matrix_stack_touch(struct matrix_counts *counts,
	const struct matrix_block *now, struct matrix_block *ret_before)
{
	uint64_t depth = 0, found;

	while (depth < counts->n_blocks && counts->stack[depth].number != now->number)
		depth++;
	found = depth < counts->n_blocks ? depth : LOCI_INFINITE;
	if (found == LOCI_INFINITE)
		counts->n_blocks++;
	else
		*ret_before = counts->stack[depth];
	memmove(counts->stack + 1, counts->stack, depth * sizeof(*counts->stack));
	counts->stack[0] = *now;
	return found;
}

/* The innermost loop around both, one of whose sites is in the other's context. */
static inline int64_t matrix_common_loop(unsigned use, unsigned reuse)
{
	for (int64_t a = matrix_sites[use - 1].loop_id; a; a = matrix_loops[a - 1].parent_id)
		for (int64_t b = matrix_sites[reuse - 1].loop_id; b;
			b = matrix_loops[b - 1].parent_id)
			if (a == b)
				return a;
	return 0;
}

static inline size_t matrix_pair(struct matrix_counts *counts, const struct matrix_block *use,
	const struct matrix_block *reuse, unsigned object)
{
	static const char *const kinds[2][2] = { { "RAR", "WAR" }, { "RAW", "WAW" } };
	struct loci_pair_row row = { 0, use->site, reuse->site, object,
		kinds[use->is_write][reuse->is_write], use->context, reuse->context,
		use->context == reuse->context ? use->context : 1,
		matrix_common_loop(use->site, reuse->site), false, 0 };
	size_t i = 0;

	for (; i < counts->n_pairs; i++)
		if (counts->pair[i].use_site_id == row.use_site_id &&
			counts->pair[i].reuse_site_id == row.reuse_site_id)
			return i;
	if (i == MATRIX_PAIRS)
		abort();
	row.id = (int64_t)i + 1;
	counts->pair[counts->n_pairs++] = row;
	return i;
}

static inline void matrix_walk(struct matrix_access *access, uint64_t address)
{
	int64_t stride = (int64_t)(address - access->last_address);

	if (access->row.refs++) {
		for (unsigned i = 0; i < MATRIX_STRIDES; i++)
			if (!access->stride[i].n || access->stride[i].bytes == stride) {
				access->stride[i].bytes = stride;
				access->stride[i].n++;
				break;
			}
		if (access->row.refs > 2 && stride == access->last_stride)
			access->row.regular_refs++;
		access->last_stride = stride;
	}
	access->last_address = address;
}

static inline void matrix_visit_reference(void *data, unsigned site, unsigned object,
	unsigned field, unsigned context, uint64_t address, int is_write)
{
	struct matrix_counts *counts = data;
	struct matrix_block now = { address / 64, site, context, is_write }, before = { 0 };
	uint64_t distance = matrix_stack_touch(counts, &now, &before);
	uint64_t bytes = site == SITE_SUM_CLEAR ? UINT64_MAX : 0xffull << address % 64;
	struct matrix_sum *sums[] = { &counts->whole, &counts->site[site],
		&counts->context[context], &counts->object[object],
		field ? &counts->field[field] : NULL, &counts->by_access[site], NULL };
	int missed[MATRIX_LEVELS], dirty[MATRIX_LEVELS], first = MATRIX_LEVELS;
	const unsigned n = sizeof(sums) / sizeof(sums[0]);

	counts->access[site].row.object_id = object;
	counts->access[site].row.field_id = field;
	matrix_walk(&counts->access[site], address);
	if (distance != LOCI_INFINITE) {
		size_t pair = matrix_pair(counts, &before, &now, object);

		counts->pair[pair].refs++;
		sums[n - 1] = &counts->by_pair[pair];
	}
	for (int i = MATRIX_LEVELS; i-- > 0;) {
		missed[i] = matrix_level_touch(
			counts, (unsigned)i, now.number, site, bytes, is_write, &dirty[i]);
		first = missed[i] ? first : i;
	}
	for (unsigned k = 0; k < n; k++) {
		if (!sums[k])
			continue;
		sums[k]->refs++;
		for (int i = 0; i < MATRIX_LEVELS; i++) {
			sums[k]->first_hits[i] += i == first;
			sums[k]->misses[i] += (uint64_t)missed[i];
			sums[k]->writebacks[i] += (uint64_t)dirty[i];
		}
		sums[k]->hist.scheme = LOCI_SCHEME_COARSE;
		if (distance == LOCI_INFINITE)
			sums[k]->hist.cold++;
		else if (loci_hist_add(&sums[k]->hist, distance, 1) < 0)
			abort();
	}
}

/* The last reference was made: what is still in the first level leaves it. */
static inline void matrix_counts_end(struct matrix_counts *counts)
{
	for (uint64_t i = 0; i < matrix_levels[0].size_bytes / 64; i++)
		matrix_end_line(counts, &counts->set[0][i]);
}

static inline void matrix_counts_fini(struct matrix_counts *counts)
{
	loci_hist_fini(&counts->whole.hist);
	for (unsigned i = 0; i < MATRIX_OWNERS; i++) {
		loci_hist_fini(&counts->site[i].hist);
		loci_hist_fini(&counts->context[i].hist);
		loci_hist_fini(&counts->object[i].hist);
		loci_hist_fini(&counts->field[i].hist);
		loci_hist_fini(&counts->by_access[i].hist);
	}
	for (unsigned i = 0; i < MATRIX_PAIRS; i++)
		loci_hist_fini(&counts->by_pair[i].hist);
	for (unsigned i = 0; i < MATRIX_LEVELS; i++)
		free(counts->set[i]);
}

static inline int matrix_put_sum(struct loci_profile *profile, enum loci_owner owner,
	int64_t owner_id, struct matrix_sum *sum, struct loci_err *err)
{
	struct loci_hist_key key = { LOCI_DISTANCE_STACK, 64, 0, owner, owner_id };
	int r = 0;

	if (!sum->refs)
		return 0;
	for (int i = 0; r == 0 && i < MATRIX_LEVELS; i++)
		r = loci_profile_put_level_count(profile,
			&(struct loci_level_count_row){ i + 1, owner, owner_id, sum->first_hits[i],
				sum->misses[i], sum->writebacks[i], 0, 0 },
			err);
	/* the whole run's histogram is a fine one; accesses have none */
	if (r == 0 && owner != LOCI_OWNER_WHOLE && owner != LOCI_OWNER_ACCESS)
		r = loci_profile_put_hist(profile, &key, &sum->hist, err);
	return r;
}

#define MATRIX_PUT(name, rows)                                                  \
	for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof((rows)[0]); i++) \
		r = loci_profile_put_##name(profile, &(rows)[i], err);

static inline int matrix_put_code(
	struct loci_profile *profile, const struct matrix_counts *counts, struct loci_err *err)
{
	static const struct loci_process_row process[] = { { 1, 0, 4711, "./mm" } };
	static const struct loci_module_row module[] = { { MATRIX_MODULE, "/usr/local/bin/mm",
		"5c6a0f1e9b0d4c7f8a2e3b4d5c6f7a8b9c0d1e2f" } };
	static const struct loci_source_row source[] = { { MATRIX_SOURCE, "mm.c" } };
	int r = 0;

	MATRIX_PUT(process, process)
	MATRIX_PUT(module, module)
	MATRIX_PUT(source, source)
	for (unsigned i = 0; r == 0 && i < sizeof(matrix_text) / sizeof(matrix_text[0]); i++)
		r = loci_profile_put_excerpt(profile,
			&(struct loci_excerpt_row){ MATRIX_SOURCE, i + 1, matrix_text[i] }, err);
	MATRIX_PUT(function, matrix_functions)
	MATRIX_PUT(inlined, matrix_inlined)
	MATRIX_PUT(loop, matrix_loops)
	for (unsigned i = 1; r == 0 && i < SITE_END; i++) {
		struct loci_site_row row = matrix_sites[i - 1];

		row.refs = counts->site[i].refs;
		r = loci_profile_put_site(profile, &row, err);
	}
	for (unsigned i = 0; r == 0 && i < 2; i++) {
		struct loci_context_row row = matrix_contexts[i];

		row.refs = counts->context[i + 1].refs;
		r = loci_profile_put_context(profile, &row, err);
	}
	return r;
}

static inline int matrix_put_data(
	struct loci_profile *profile, struct matrix_counts *counts, struct loci_err *err)
{
	int r = 0;

	for (unsigned i = OBJECT_A; r == 0 && i <= OBJECT_STATS; i++) {
		struct loci_object_row row = matrix_objects[i - 1];

		row.refs = counts->object[i].refs;
		row.died_refs = row.released ? counts->whole.refs : 0;
		r = loci_profile_put_object(profile, &row, err);
	}
	MATRIX_PUT(field, matrix_fields)
	for (unsigned i = 1; r == 0 && i < SITE_END; i++) {
		struct matrix_access *access = &counts->access[i];
		uint64_t most = 0;

		access->row.id = access->row.site_id = i;
		for (unsigned k = 0; access->row.regular_refs && k < MATRIX_STRIDES; k++)
			if (access->stride[k].n > most) {
				most = access->stride[k].n;
				access->row.stride_bytes = access->stride[k].bytes;
			}
		r = loci_profile_put_access(profile, &access->row, err);
	}
	for (size_t i = 0; r == 0 && i < counts->n_pairs; i++)
		r = loci_profile_put_pair(profile, &counts->pair[i], err);
	return r;
}

/* Everything but the whole run's histograms. */
static inline int matrix_put(
	struct loci_profile *profile, struct matrix_counts *counts, struct loci_err *err)
{
	int r = matrix_put_code(profile, counts, err);

	if (r == 0)
		r = matrix_put_data(profile, counts, err);
	MATRIX_PUT(level, matrix_levels)
	if (r == 0)
		r = matrix_put_sum(profile, LOCI_OWNER_WHOLE, 0, &counts->whole, err);
	for (int64_t i = 0; r == 0 && i < MATRIX_OWNERS; i++) {
		r = matrix_put_sum(profile, LOCI_OWNER_SITE, i, &counts->site[i], err);
		if (r == 0)
			r = matrix_put_sum(
				profile, LOCI_OWNER_CONTEXT, i, &counts->context[i], err);
		if (r == 0)
			r = matrix_put_sum(profile, LOCI_OWNER_OBJECT, i, &counts->object[i], err);
		if (r == 0)
			r = matrix_put_sum(profile, LOCI_OWNER_FIELD, i, &counts->field[i], err);
		if (r == 0)
			r = matrix_put_sum(
				profile, LOCI_OWNER_ACCESS, i, &counts->by_access[i], err);
	}
	for (size_t i = 0; r == 0 && i < counts->n_pairs; i++)
		r = matrix_put_sum(
			profile, LOCI_OWNER_PAIR, (int64_t)i + 1, &counts->by_pair[i], err);
	return r;
}

#endif
