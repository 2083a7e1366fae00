// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/anger_profile.h"

#include "base/cleanup.h"
#include "profile/dimension.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	[LOCI_ANGER_STACK] = "stack",
	[LOCI_ANGER_ASSOC] = "assoc",
	[LOCI_ANGER_COHERENCE] = "coherence",
};

const char *loci_anger_name(enum loci_anger_model model)
{
	return names[model];
}

int loci_anger_from_name(const char *name, enum loci_anger_model *ret)
{
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name)) {
			*ret = (enum loci_anger_model)i;
			return 0;
		}
	return -EINVAL;
}

/* Histograms that the profile keeps, side by side as the equations want them. */
struct inputs {
	struct loci_hist *own, *lost;
};

static void inputs_fini(struct inputs *inputs)
{
	free(inputs->own);
	free(inputs->lost);
}

static int check_levels(const struct loci_hierarchy *hierarchy, struct loci_err *err)
{
	for (unsigned i = 0; i < hierarchy->n_levels; i++)
		if (hierarchy->level[i].is_tlb ||
			hierarchy->level[i].line_bytes != hierarchy->level[0].line_bytes)
			return loci_err_set(err, EINVAL,
				"%s: the model of Anger et al. knows caches alone, of one line "
				"size",
				hierarchy->level[i].name);
	return 0;
}

/* The thread's part of a cache. */
static struct loci_anger_cache part_of(const struct loci_cache *cache, size_t n_threads)
{
	double among = cache->share == LOCI_SHARE_ALL ? (double)n_threads
		: cache->share == LOCI_SHARE_SOME && cache->share_n < n_threads
		? (double)cache->share_n
		: cache->share == LOCI_SHARE_SOME ? (double)n_threads
						  : 1;

	return (struct loci_anger_cache){ (double)loci_cache_blocks(cache) / among,
		(double)cache->ways };
}

/* Of each thread both histograms; one that lost nothing may lack the second. */
static int load(struct loci_profile *profile, uint64_t line_bytes, struct inputs *inputs,
	struct loci_anger *ret, struct loci_err *err)
{
	const struct loci_owner_hist *own, *lost;
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_REMOTE, .block_bytes = line_bytes };
	size_t n_lost, at = 0;
	int r = loci_profile_hists(profile, LOCI_DISTANCE_ALONE, LOCI_OWNER_THREAD, line_bytes,
		&own, &ret->n_threads, err);

	if (r == 0)
		r = loci_profile_hists(profile, LOCI_DISTANCE_ALONE_REMOTE, LOCI_OWNER_THREAD,
			line_bytes, &lost, &n_lost, err);
	if (r == 0)
		r = loci_profile_hist(profile, &key, &ret->shared, err);
	if (r == -ENOENT || (r == 0 && !ret->n_threads))
		return loci_err_set(err, ENOENT,
			"%.300s does not know what each thread would meet alone; loci record "
			"--alone keeps it, of programs whose threads share memory",
			loci_profile_path(profile));
	if (r < 0)
		return r;
	inputs->own = calloc(ret->n_threads, sizeof(*inputs->own));
	inputs->lost = calloc(ret->n_threads, sizeof(*inputs->lost));
	if (!inputs->own || !inputs->lost)
		return loci_err_nomem(err);
	for (size_t i = 0; i < ret->n_threads; i++) {
		inputs->own[i] = *own[i].hist;
		while (at < n_lost && lost[at].owner_id < own[i].owner_id)
			at++;
		if (at < n_lost && lost[at].owner_id == own[i].owner_id)
			inputs->lost[i] = *lost[at].hist;
	}
	ret->own = inputs->own;
	ret->lost = inputs->lost;
	return 0;
}

int loci_anger_profile(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	enum loci_anger_model model, struct loci_anger_result *ret, struct loci_err *err)
{
	loci_cleanup(inputs_fini) struct inputs inputs = { 0 };
	struct loci_anger anger = { 0 };
	struct loci_anger_cache part[LOCI_LEVELS_MAX];
	double hits[LOCI_LEVELS_MAX], left;
	int r = check_levels(hierarchy, err);

	if (r == 0)
		r = load(profile, hierarchy->level[0].line_bytes, &inputs, &anger, err);
	if (r < 0)
		return r;
	*ret = (struct loci_anger_result){
		.model = model, .n = hierarchy->n_levels, .n_threads = anger.n_threads
	};
	for (unsigned i = 0; i < ret->n; i++)
		part[i] = part_of(&hierarchy->level[i], anger.n_threads);
	loci_anger_levels(&anger, model, part, ret->n, hits);
	for (size_t i = 0; i < anger.n_threads; i++)
		ret->touches += loci_hist_total(&anger.own[i]);
	if (model == LOCI_ANGER_COHERENCE)
		ret->remote_hits = loci_anger_remote_hits(anger.shared, anger.n_threads, part[0]);
	left = ret->touches;
	for (unsigned i = 0; i < ret->n; i++) {
		left -= hits[i];
		ret->row[i] = (struct loci_anger_row){ hierarchy->level[i], hits[i],
			left > 0 ? left : 0 };
	}
	return 0;
}
