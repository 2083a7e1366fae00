// SPDX-License-Identifier: GPL-2.0-or-later
/* Misses of owners: counted where the cache was named at record time, else from histograms. */
#include "model/blame_index.h"

#include "model/thread_hist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct loci_cache cache_of(const struct loci_level_row *row)
{
	struct loci_cache cache = {
		.size_bytes = row->size_bytes,
		.ways = (uint32_t)row->ways,
		.line_bytes = row->line_bytes,
	};

	snprintf(cache.name, sizeof(cache.name), "%s", row->name ? row->name : "");
	if (row->share && !strcmp(row->share, "shared"))
		cache.share = LOCI_SHARE_ALL;
	else if (row->share && sscanf(row->share, "share%u", &cache.share_n) == 1)
		cache.share = LOCI_SHARE_SOME;
	return cache;
}

/* Of threads that share memory, caches shared otherwise are other caches. */
static bool is_shared_alike(const struct loci_catalogue *catalogue, const struct loci_cache *a,
	const struct loci_cache *b)
{
	return !loci_thread_hist_known(catalogue->profile, a->line_bytes) ||
		(a->share == b->share && a->share_n == b->share_n);
}

static int64_t recorded_as(const struct loci_catalogue *catalogue, const struct loci_cache *cache)
{
	for (size_t i = 0; i < catalogue->n_level; i++) {
		struct loci_cache known = cache_of(&catalogue->level[i]);

		if (known.size_bytes == cache->size_bytes &&
			known.line_bytes == cache->line_bytes &&
			is_shared_alike(catalogue, &known, cache) &&
			(known.ways == cache->ways ||
				(loci_cache_sets(&known) == 1 && loci_cache_sets(cache) == 1)))
			return catalogue->level[i].id;
	}
	return 0;
}

bool loci_blame_has_hists(
	const struct loci_profile *profile, enum loci_owner owner, uint64_t block_bytes)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);

	for (size_t i = 0; i < n; i++)
		if (key[i].owner == owner && key[i].block_bytes == block_bytes)
			return true;
	return false;
}

uint32_t loci_blame_private_owners(
	const struct loci_profile *profile, const struct loci_blame_levels *levels)
{
	uint32_t owners = 0;
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);

	if (levels->level[levels->chosen].cache.share != LOCI_SHARE_PRIVATE)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (key[i].distance == LOCI_DISTANCE_PRIVATE &&
			key[i].block_bytes == levels->block_bytes)
			owners |= 1u << key[i].owner;
	return owners;
}

/* The block size of the owners' histograms and counts: the subject's, if sites have it. */
static uint64_t owners_block(
	const struct loci_subject *subject, const struct loci_catalogue *catalogue)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(subject->profile, &n);

	if (loci_blame_has_hists(subject->profile, LOCI_OWNER_SITE, subject->grain->block_bytes))
		return subject->grain->block_bytes;
	if (catalogue->n_level)
		return catalogue->level[0].line_bytes;
	for (size_t i = 0; i < n; i++)
		if (key[i].owner != LOCI_OWNER_WHOLE && key[i].owner != LOCI_OWNER_THREAD)
			return key[i].block_bytes;
	return subject->grain->block_bytes;
}

/* Elements smaller than a line: the cache with room for as many bytes of them, wherever these
 * lie. */
static void add_elements(struct loci_blame_levels *levels, struct loci_cache cache)
{
	if (cache.is_tlb || cache.line_bytes < levels->block_bytes || levels->n == LOCI_LEVELS_MAX)
		return;
	cache.line_bytes = levels->block_bytes;
	cache.ways = 0;
	levels->level[levels->n++] = (struct loci_blame_level){ cache, 0 };
	levels->of_elements = true;
}

static int choose(struct loci_blame_levels *levels, const char *name, struct loci_err *err)
{
	char names[LOCI_LEVELS_MAX * 18] = "";
	size_t used = 0;

	for (unsigned i = 0; i < levels->n; i++) {
		if (!strcasecmp(levels->level[i].cache.name, name)) {
			levels->chosen = i;
			return 0;
		}
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
			levels->level[i].cache.name);
	}
	return loci_err_set(err, EINVAL, "there is no level \"%.40s\" here, only %s", name, names);
}

int loci_blame_levels(const struct loci_subject *subject, const struct loci_catalogue *catalogue,
	const char *name, struct loci_blame_levels *ret, struct loci_err *err)
{
	const struct loci_hierarchy *h = &subject->hierarchy;

	*ret = (struct loci_blame_levels){ .block_bytes = owners_block(subject, catalogue) };
	if (!subject->is_given && catalogue->n_level &&
		catalogue->level[0].line_bytes == ret->block_bytes)
		for (size_t i = 0; i < catalogue->n_level && ret->n < LOCI_LEVELS_MAX; i++)
			ret->level[ret->n++] =
				(struct loci_blame_level){ cache_of(&catalogue->level[i]),
					catalogue->level[i].id };
	if (!ret->n)
		for (unsigned i = 0; i < h->n_levels; i++)
			if (subject->is_object || h->level[i].line_bytes == ret->block_bytes)
				ret->level[ret->n++] = (struct loci_blame_level){ h->level[i],
					recorded_as(catalogue, &h->level[i]) };
	if (!ret->n && !subject->is_given)
		for (size_t i = 0; i < catalogue->n_level; i++)
			add_elements(ret, cache_of(&catalogue->level[i]));
	if (!ret->n)
		for (unsigned i = 0; i < h->n_levels; i++)
			add_elements(ret, h->level[i]);
	if (!ret->n && h->n_levels)
		return loci_err_set(err, EINVAL,
			"%.200s: sites and objects were recorded with %u-byte blocks, and no cache "
			"given has such lines",
			loci_profile_path(subject->profile), (unsigned)ret->block_bytes);
	if (!ret->n)
		return loci_err_set(err, EINVAL,
			"%.200s: the machine is not known; name its caches with --cache",
			loci_profile_path(subject->profile));
	return name ? choose(ret, name, err) : 0;
}

void loci_blame_level_of(const struct loci_subject *subject, const struct loci_catalogue *catalogue,
	const struct loci_cache *cache, struct loci_blame_levels *ret)
{
	*ret = (struct loci_blame_levels){ .level = { { *cache, recorded_as(catalogue, cache) } },
		.n = 1,
		.block_bytes = owners_block(subject, catalogue) };
}

/* Whether the caches named at record time counted touches of the owners' block size. */
static bool counts_touches(const struct loci_blame *blame)
{
	const struct loci_catalogue *c = blame->catalogue;

	return c->n_level && c->level[0].line_bytes == blame->levels.block_bytes;
}

/* Counts come owner by owner with ascending ids: the row sought is mostly the last or the next. */
struct seeker {
	const char *rows;
	size_t n, row_bytes, at;
};

static int64_t id_at(const struct seeker *s, size_t i)
{
	int64_t id;

	memcpy(&id, s->rows + i * s->row_bytes, sizeof(id));
	return id;
}

static bool seek(struct seeker *s, int64_t id)
{
	const char *found;

	for (; s->at < s->n && id_at(s, s->at) < id; s->at++)
		;
	if (s->at < s->n && id_at(s, s->at) == id)
		return true;
	found = loci_row_find(s->rows, s->n, s->row_bytes, id);
	if (!found)
		return false;
	s->at = (size_t)(found - s->rows) / s->row_bytes;
	return true;
}

static void from_counts(const struct loci_blame *blame, enum loci_owner owner, const char *rows,
	size_t n, size_t row_bytes, const struct loci_blame_counts *ret)
{
	const struct loci_catalogue *c = blame->catalogue;
	const struct loci_blame_levels *levels = &blame->levels;
	int64_t chosen = levels->level[levels->chosen].level_id;
	bool touches = ret->touches && counts_touches(blame);
	struct seeker s = { rows, n, row_bytes, 0 };

	for (size_t i = 0; i < c->n_level_count; i++) {
		const struct loci_level_count_row *count = &c->level_count[i];

		if (count->owner != owner || !seek(&s, count->owner_id))
			continue;
		if (count->level_id == chosen) {
			ret->misses[s.at] += (double)count->misses;
			if (ret->writebacks)
				ret->writebacks[s.at] += (double)count->writebacks;
		}
		/* every touch hits the first level or misses it */
		if (touches && count->level_id == c->level[0].id)
			ret->touches[s.at] += (double)(count->first_hits + count->misses);
		for (unsigned k = 0; ret->level_misses && k < levels->n; k++)
			if (count->level_id == levels->level[k].level_id)
				ret->level_misses[s.at * LOCI_LEVELS_MAX + k] +=
					(double)count->misses;
	}
}

/* A prediction is linear in the histogram's weights: what one reuse in each bin would miss is found
 * once, and a thousand owners cost a thousand products. */
static int learn_bins(const struct loci_cache *cache, enum loci_scheme scheme, uint32_t n_bins,
	double *ret_share, struct loci_err *err)
{
	const struct loci_predict_options options = { .policy = LOCI_POLICY_LRU };
	struct loci_prediction prediction;
	struct loci_hist one;
	int r = 0;

	loci_hist_init(&one, scheme);
	if (loci_hist_reserve(&one, n_bins) < 0)
		return loci_err_nomem(err);
	for (uint32_t i = 0; r == 0 && i < n_bins; i++) {
		const struct loci_predict_input input = { .touches = 1, .stack = &one };

		one.weight[i] = 1;
		r = loci_predict_cache(&input, cache, &options, &prediction, err);
		ret_share[i] = prediction.misses;
		one.weight[i] = 0;
	}
	loci_hist_fini(&one);
	return r;
}

/* What one owner's histogram says of the cache. share: of coarse bins, as learnt. */
static int estimate(const struct loci_cache *cache, const struct loci_hist *hist,
	const double *share, double *ret, struct loci_err *err)
{
	const struct loci_predict_options options = { .policy = LOCI_POLICY_LRU };
	const struct loci_predict_input input = { .stack = hist };
	struct loci_prediction prediction;
	int r;

	if (hist->scheme == LOCI_SCHEME_COARSE) {
		*ret = hist->cold + hist->coherence;
		for (uint32_t i = 0; i < hist->n_bins; i++)
			*ret += hist->weight[i] * share[i];
		return 0;
	}
	r = loci_predict_cache(&input, cache, &options, &prediction, err);
	if (r == 0)
		*ret = prediction.misses;
	return r;
}

static int from_histograms(const struct loci_blame *blame, enum loci_owner owner, const char *rows,
	size_t n, size_t row_bytes, const struct loci_blame_counts *ret, struct loci_err *err)
{
	const struct loci_blame_levels *levels = &blame->levels;
	const struct loci_cache *cache = &levels->level[levels->chosen].cache;
	struct seeker s = { rows, n, row_bytes, 0 };
	const struct loci_owner_hist *hist;
	double share[LOCI_COARSE_BINS];
	size_t n_hists;
	int r = loci_profile_hists(blame->catalogue->profile, loci_blame_distance(blame, owner),
		owner, levels->block_bytes, &hist, &n_hists, err);

	if (r == 0)
		r = learn_bins(cache, LOCI_SCHEME_COARSE, LOCI_COARSE_BINS, share, err);
	for (size_t i = 0; r == 0 && i < n_hists; i++) {
		if (!seek(&s, hist[i].owner_id))
			continue;
		r = estimate(cache, hist[i].hist, share, &ret->misses[s.at], err);
		if (ret->touches && !counts_touches(blame))
			ret->touches[s.at] = loci_hist_total(hist[i].hist);
	}
	return r;
}

int loci_blame_count(const struct loci_blame *blame, enum loci_owner owner, const char *rows,
	size_t n, size_t row_bytes, const struct loci_blame_counts *ret, struct loci_err *err)
{
	from_counts(blame, owner, rows, n, row_bytes, ret);
	if (!blame->is_estimate)
		return 0;
	return from_histograms(blame, owner, rows, n, row_bytes, ret, err);
}

void loci_blame_count_sharing(struct loci_blame *blame)
{
	const struct loci_catalogue *c = blame->catalogue;
	const struct loci_blame_index *index = blame->index;

	for (size_t i = 0; i < c->n_coherence; i++) {
		const struct loci_coherence_row *met = &c->coherence[i];
		struct loci_blame_row *row;
		const char *found;

		if (met->owner != index->base || met->block_bytes != blame->levels.block_bytes)
			continue;
		found = loci_row_find(index->rows, index->n, index->row_bytes, met->owner_id);
		if (!found)
			continue;
		row = &blame->row[index->serial_of[(size_t)(found - index->rows) /
			index->row_bytes]];
		row->true_sharing += (double)met->true_sharing;
		row->false_sharing += (double)met->false_sharing;
		row->remote += (double)met->remote;
		blame->has_sharing = true;
	}
}
