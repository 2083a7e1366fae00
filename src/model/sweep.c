// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/sweep.h"

#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void loci_sweep_fini(struct loci_sweep *sweep)
{
	free(sweep->row);
	*sweep = (struct loci_sweep){ 0 };
}

/* Drops the ways where the size is not whole sets of them. */
static int fit_ways(struct loci_cache *cache, struct loci_sweep *sweep, struct loci_err *err)
{
	if (loci_cache_check(cache, NULL) == 0)
		return 0;
	cache->ways = 0;
	sweep->lost_ways = true;
	return loci_cache_check(cache, err);
}

static struct loci_prediction *add_rows(struct loci_sweep *sweep, size_t n)
{
	struct loci_prediction *larger = realloc(sweep->row, (sweep->n + n) * sizeof(*larger));

	if (!larger)
		return NULL;
	sweep->row = larger;
	sweep->n += n;
	return larger + sweep->n - n;
}

/* The inner levels' predictions do not change; their misses decide what reaches this one. */
static int sweep_size(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	unsigned level, uint64_t from, uint64_t to, const struct loci_predict_options *options,
	struct loci_sweep *ret, struct loci_err *err)
{
	struct loci_hierarchy inner = *hierarchy, one = { .n_levels = 1 };
	struct loci_prediction p[LOCI_LEVELS_MAX];
	int r;

	inner.n_levels = level;
	r = loci_predict(profile, &inner, options, p, err);
	for (uint64_t size = from; r >= 0 && size <= to; size *= 2) {
		struct loci_prediction *row;

		one.level[0] = hierarchy->level[level];
		one.level[0].size_bytes = size;
		r = fit_ways(&one.level[0], ret, err);
		if (r >= 0)
			r = loci_predict(profile, &one, options, &p[level], err);
		if (r < 0)
			return r;
		loci_predict_hits(p, level + 1, options->policy);
		row = add_rows(ret, 1);
		if (!row)
			return loci_err_nomem(err);
		*row = p[level];
		if (size > UINT64_MAX / 2)
			break;
	}
	return r;
}

int loci_sweep_size(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	unsigned level, uint64_t from, uint64_t to, const struct loci_predict_options *options,
	struct loci_sweep *ret, struct loci_err *err)
{
	int r;

	*ret = (struct loci_sweep){ 0 };
	r = sweep_size(profile, hierarchy, level, from, to, options, ret, err);
	if (r < 0)
		loci_sweep_fini(ret);
	return r;
}

static int sweep_line(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	uint64_t from, uint64_t to, const struct loci_predict_options *options,
	struct loci_sweep *ret, struct loci_err *err)
{
	struct loci_prediction p[LOCI_SWEEP_LINES][LOCI_LEVELS_MAX];
	unsigned n = 0;

	for (uint64_t line = 1; line <= LOCI_LINE_MAX; line *= 2) {
		struct loci_hierarchy changed = *hierarchy;
		int r;

		if (line < from || line > to)
			continue;
		if (!loci_profile_grain(profile, line)) {
			ret->missing[ret->n_missing++] = line;
			continue;
		}
		for (unsigned i = 0; i < changed.n_levels; i++) {
			changed.level[i].line_bytes = line;
			r = fit_ways(&changed.level[i], ret, err);
			if (r < 0)
				return r;
		}
		r = loci_predict(profile, &changed, options, p[n++], err);
		if (r < 0)
			return r;
	}
	for (unsigned i = 0; i < hierarchy->n_levels; i++)
		for (unsigned k = 0; k < n; k++) {
			struct loci_prediction *row = add_rows(ret, 1);

			if (!row)
				return loci_err_nomem(err);
			*row = p[k][i];
		}
	return 0;
}

int loci_sweep_line(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	uint64_t from, uint64_t to, const struct loci_predict_options *options,
	struct loci_sweep *ret, struct loci_err *err)
{
	struct loci_hierarchy caches = *hierarchy;
	int r;

	caches.n_levels = 0;
	for (unsigned i = 0; i < hierarchy->n_levels; i++)
		if (!hierarchy->level[i].is_tlb)
			caches.level[caches.n_levels++] = hierarchy->level[i];
	*ret = (struct loci_sweep){ 0 };
	r = sweep_line(profile, &caches, from, to, options, ret, err);
	if (r < 0)
		loci_sweep_fini(ret);
	return r;
}
