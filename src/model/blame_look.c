// SPDX-License-Identifier: GPL-2.0-or-later
/* A closer look at one owner: why it misses, how it walks, what it walks over. */
#include "model/blame_index.h"

#include "base/cleanup.h"
#include "model/curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REGULAR      (15 / 16.)
#define MOSTLY       0.5
#define MEMBERS_MOST 0.98 /* of an owner's misses: members beyond do not change the picture */
#define MEMBERS_MAX  512
#define KNEES        32

static int add_hist(const struct loci_blame *blame, enum loci_owner owner, int64_t id,
	struct loci_hist *into, struct loci_err *err)
{
	const struct loci_hist_key key = { .distance = loci_blame_distance(blame, owner),
		.block_bytes = blame->levels.block_bytes,
		.owner = owner,
		.owner_id = id };
	const struct loci_hist *hist;
	int r = loci_profile_hist(blame->catalogue->profile, &key, &hist, err);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	if (!into->n_bins && !(into->cold + into->coherence > 0))
		into->scheme = hist->scheme;
	if (into->scheme != hist->scheme)
		return 0;
	return loci_hist_merge(into, hist) < 0 ? loci_err_nomem(err) : 0;
}

static int64_t base_id(const struct loci_blame *blame, uint32_t at)
{
	int64_t id;

	memcpy(&id, blame->index->rows + at * blame->index->row_bytes, sizeof(id));
	return id;
}

struct weighted {
	double misses;
	int64_t id;
};

static int compare_weighted(const void *a, const void *b)
{
	const struct weighted *p = a, *q = b;

	return p->misses != q->misses ? (p->misses > q->misses ? -1 : 1)
				      : (p->id > q->id) - (p->id < q->id);
}

/* The histograms of those members that have most of the misses. *ret_misses: theirs. */
static int merge_members(const struct loci_blame *blame, const struct loci_blame_row *row,
	struct loci_hist *into, double *ret_misses, struct loci_err *err)
{
	const struct loci_blame_index *index = blame->index;
	loci_autofree struct weighted *member = calloc(row->n_members, sizeof(*member));
	double sum = 0;

	if (!member)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < row->n_members; i++) {
		uint32_t at = index->member[row->first + i];

		member[i] = (struct weighted){ index->misses[at], base_id(blame, at) };
	}
	if (row->n_members > 1)
		qsort(member, row->n_members, sizeof(*member), compare_weighted);
	for (uint32_t i = 0; i < row->n_members && i < MEMBERS_MAX; i++) {
		int r = add_hist(blame, index->base, member[i].id, into, err);

		if (r < 0)
			return r;
		sum += member[i].misses;
		if (row->misses > 0 && sum >= MEMBERS_MOST * row->misses)
			break;
	}
	*ret_misses = sum;
	return 0;
}

/* The histograms of the sites of a spot, for all their objects together. */
static int merge_sites(const struct loci_blame *blame, const struct loci_blame_row *row,
	struct loci_hist *into, struct loci_err *err)
{
	const struct loci_access_row *access = blame->catalogue->access;
	const uint32_t *member = blame->index->member + row->first;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < row->n_members && i < MEMBERS_MAX; i++) {
		int64_t site_id = access[member[i]].site_id;
		bool is_new = true;

		for (uint32_t k = 0; is_new && k < i; k++)
			is_new = access[member[k]].site_id != site_id;
		if (is_new)
			r = add_hist(blame, LOCI_OWNER_SITE, site_id, into, err);
	}
	return r;
}

static bool same_line(const struct loci_catalogue *c, const struct loci_site_row *a,
	const struct loci_site_row *b)
{
	return a->line == b->line && a->source_id == b->source_id &&
		loci_catalogue_function_of(c, a) == loci_catalogue_function_of(c, b);
}

/* Pairs that end at this line, at this object. */
static int merge_pairs(const struct loci_blame *blame, const struct loci_access_row *access,
	struct loci_hist *into, struct loci_err *err)
{
	const struct loci_catalogue *c = blame->catalogue;
	const struct loci_site_row *site = loci_catalogue_find_site(c, access->site_id), *reuse;
	int r = 0;

	for (size_t i = 0; site && r == 0 && i < c->n_pair; i++) {
		if (c->pair[i].object_id != access->object_id)
			continue;
		reuse = loci_catalogue_find_site(c, c->pair[i].reuse_site_id);
		if (reuse && same_line(c, reuse, site))
			r = add_hist(blame, LOCI_OWNER_PAIR, c->pair[i].id, into, err);
	}
	return r;
}

/* Accesses have no histograms. Pairs say it for the long reuses, and what remains of the misses are
 * first touches, as far as the sites had any. Where pairs were not recorded the sites speak. */
static int merge_spot(const struct loci_blame *blame, const struct loci_blame_row *row,
	struct loci_hist *into, double *ret_misses, struct loci_err *err)
{
	const struct loci_cache *cache = &blame->levels.level[blame->levels.chosen].cache;
	struct loci_hist sites;
	double rest;
	int r;

	loci_hist_init(&sites, LOCI_SCHEME_COARSE);
	r = merge_sites(blame, row, &sites, err);
	if (r == 0)
		r = merge_pairs(blame, row->owner, into, err);
	if (r == 0 && loci_hist_total(into) > 0) {
		*ret_misses = row->misses;
		rest = fmax(
			0, row->misses - loci_hist_at_least(into, loci_cache_blocks(cache), NULL));
		into->cold = fmin(rest, sites.cold);
		into->coherence = fmin(rest - into->cold, sites.coherence);
		loci_hist_fini(&sites);
		return 0;
	}
	loci_hist_fini(into);
	*into = sites;
	return r;
}

/* The median of the reuses of at least `from` blocks, whose weight is given: the cache that would
 * just hold it where its bin has one distance, else the least it can be. Anything within a wider
 * bin would look more precise than it is, and might lie above the size that holds all of it. */
static uint64_t median_beyond(const struct loci_hist *hist, uint64_t from, double weight)
{
	double left = weight / 2;

	for (uint32_t i = 0; weight > 0 && i < hist->n_bins; i++) {
		uint64_t low = loci_bin_low(hist->scheme, i), high = loci_bin_high(hist->scheme, i);
		double own = hist->weight[i];

		if (high <= from || !(own > 0))
			continue;
		if (low < from) {
			own *= (double)(high - from) / (double)(high - low);
			low = from;
		}
		if (own >= left)
			return high - low > 1 ? low : high;
		left -= own;
	}
	return 0;
}

static void find_cause(const struct loci_blame *blame, const struct loci_hist *hist, double misses,
	struct loci_blame_detail *ret)
{
	const struct loci_cache *cache = &blame->levels.level[blame->levels.chosen].cache;
	uint64_t blocks = loci_cache_blocks(cache);
	double far = loci_hist_at_least(hist, blocks, NULL);
	double conflict = misses - far - hist->cold - hist->coherence, most = 0;
	const struct {
		enum loci_blame_cause cause;
		double weight;
	} causes[] = {
		{ LOCI_CAUSE_FAR, far },
		{ LOCI_CAUSE_COLD, hist->cold },
		{ LOCI_CAUSE_SHARED, hist->coherence },
		{ LOCI_CAUSE_CONFLICT, misses > 0 ? conflict : 0 },
	};

	ret->far_blocks = median_beyond(hist, blocks, far);
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(causes); i++)
		if (causes[i].weight > most) {
			most = causes[i].weight;
			ret->cause = causes[i].cause;
		}
}

/* The owner of an access, or SIZE_MAX. */
static size_t owner_of_access(const struct loci_blame *blame, size_t access)
{
	const struct loci_blame_index *index = blame->index;
	const struct loci_access_row *row = &blame->catalogue->access[access];
	size_t at = index->base == LOCI_OWNER_SITE ? loci_blame_base_find(index, row->site_id)
		: index->base == LOCI_OWNER_OBJECT ? loci_blame_base_find(index, row->object_id)
		: index->base == LOCI_OWNER_FIELD  ? loci_blame_base_find(index, row->field_id)
		: index->base == LOCI_OWNER_ACCESS ? access
						   : SIZE_MAX;

	return at == SIZE_MAX ? SIZE_MAX : index->serial_of[at];
}

/* Sorts the accesses by owner, counting. */
static int index_accesses(struct loci_blame *blame, struct loci_err *err)
{
	const struct loci_catalogue *c = blame->catalogue;
	struct loci_blame_index *index = blame->index;
	struct loci_blame counted = *blame;
	uint32_t *first = calloc(blame->n_rows + 2, sizeof(*first));

	index->access_first = first;
	index->access = calloc(c->n_access + 1, sizeof(*index->access));
	index->access_misses = calloc(c->n_access + 1, sizeof(double));
	if (!first || !index->access || !index->access_misses)
		return loci_err_nomem(err);
	for (size_t i = 0; i < c->n_access; i++) {
		size_t owner = owner_of_access(blame, i);

		if (owner != SIZE_MAX)
			first[owner + 2]++;
	}
	for (size_t i = 2; i < blame->n_rows + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < c->n_access; i++) {
		size_t owner = owner_of_access(blame, i);

		if (owner != SIZE_MAX)
			index->access[first[owner + 1]++] = (uint32_t)i;
	}
	if (counted.is_estimate) { /* rank them at the first level recorded */
		counted.is_estimate = false;
		counted.levels.chosen = 0;
		counted.levels.level[0].level_id = c->n_level ? c->level[0].id : 0;
	}
	return loci_blame_count(&counted, LOCI_OWNER_ACCESS, (const char *)c->access, c->n_access,
		sizeof(*c->access), &(struct loci_blame_counts){ .misses = index->access_misses },
		err);
}

static int compare_ids(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

/* Misses per object of the accesses, the most of all, and how many objects there are. */
static int find_objects(const struct loci_blame *blame, const uint32_t *access, uint32_t n,
	struct loci_blame_detail *ret, struct loci_err *err)
{
	const struct loci_catalogue *c = blame->catalogue;
	loci_autofree int64_t *id = calloc(n + 1, sizeof(*id));
	loci_autofree double *misses = calloc(n + 1, sizeof(*misses));
	size_t n_ids = 0;
	double most = -1;

	if (!id || !misses)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		id[i] = c->access[access[i]].object_id;
	qsort(id, n, sizeof(*id), compare_ids);
	for (uint32_t i = 0; i < n; i++)
		if (!n_ids || id[n_ids - 1] != id[i])
			id[n_ids++] = id[i];
	for (uint32_t i = 0; i < n; i++) {
		const int64_t *at = bsearch(
			&c->access[access[i]].object_id, id, n_ids, sizeof(*id), compare_ids);

		misses[at - id] += blame->index->access_misses[access[i]];
	}
	for (size_t i = 0; i < n_ids; i++) {
		ret->n_objects += id[i] != 0;
		if (misses[i] > most) {
			most = misses[i];
			ret->object_id = id[i];
		}
	}
	return 0;
}

static int look_at_accesses(struct loci_blame *blame, const struct loci_blame_row *row,
	struct loci_blame_detail *ret, struct loci_err *err)
{
	const struct loci_catalogue *c = blame->catalogue;
	const struct loci_blame_index *index = blame->index;
	const struct loci_access_row *worst = NULL;
	double most = -1, refs = 0, regular = 0, fills = 0, used = 0;
	int r;

	if (!index->access && (r = index_accesses(blame, err)) < 0)
		return r;
	for (uint32_t i = index->access_first[row->serial];
		i < index->access_first[row->serial + 1]; i++) {
		const struct loci_access_row *access = &c->access[index->access[i]];
		double misses = index->access_misses[index->access[i]];

		if (misses > most || (misses == most && access->refs > worst->refs)) {
			most = misses;
			worst = access;
		}
		refs += (double)access->refs;
		regular += (double)access->regular_refs;
		fills += (double)access->fills;
		used += (double)access->used_bytes;
	}
	if (!worst)
		return 0;
	ret->has_stride = refs > 0 && !loci_run_is_watched(loci_profile_run(c->profile));
	ret->stride_bytes = worst->stride_bytes;
	ret->regular = refs > 0 ? regular / refs : 0;
	ret->is_regular = refs > 0 && ret->regular >= REGULAR;
	ret->is_mostly_regular = refs > 0 && ret->regular >= MOSTLY;
	if (fills > 0)
		ret->spatial = used /
			(fills *
				(double)(c->n_level ? c->level[0].line_bytes
						    : blame->levels.block_bytes));
	return find_objects(blame, index->access + index->access_first[row->serial],
		index->access_first[row->serial + 1] - index->access_first[row->serial], ret, err);
}

int loci_blame_look(struct loci_blame *blame, const struct loci_blame_row *row,
	struct loci_blame_detail *ret, struct loci_err *err)
{
	struct loci_knee knee[KNEES];
	struct loci_hist hist;
	double misses = 0;
	size_t n;
	int r;

	*ret = (struct loci_blame_detail){ .spatial = -1 };
	loci_hist_init(&hist, LOCI_SCHEME_COARSE);
	r = blame->kind == LOCI_BLAME_SPOT ? merge_spot(blame, row, &hist, &misses, err)
					   : merge_members(blame, row, &hist, &misses, err);
	if (r == 0 && loci_hist_total(&hist) > 0) {
		find_cause(blame, &hist, misses, ret);
		n = loci_curve_knees(&hist, knee, KNEES);
		if (n)
			ret->effective_blocks = knee[n - 1].blocks;
	}
	loci_hist_fini(&hist);
	return r < 0 ? r : look_at_accesses(blame, row, ret, err);
}
