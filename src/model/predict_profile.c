// SPDX-License-Identifier: GPL-2.0-or-later
/* The histograms a cache needs, from a profile. */
#include "model/topology.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "profile/dimension.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "64, 4K" and, with the size that is missing in its place, "64,128,4K" for -b. */
static int no_grain(
	const struct loci_profile *profile, const struct loci_cache *cache, struct loci_err *err)
{
	size_t n, has_length = 0, want_length = 0;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);
	char has[256] = "", want[256] = "", size[LOCI_UNITS_MAX];
	bool told = false;

	for (size_t i = 0; i <= n; i++) {
		if (!told && (i == n || grain[i].block_bytes > cache->line_bytes)) {
			told = true;
			want_length += (size_t)snprintf(want + want_length,
				sizeof(want) - want_length, "%s%s", want_length ? "," : "",
				loci_units_size(size, cache->line_bytes));
		}
		if (i == n || has_length + 32 > sizeof(has) || want_length + 32 > sizeof(want))
			continue;
		loci_units_size(size, grain[i].block_bytes);
		has_length += (size_t)snprintf(has + has_length, sizeof(has) - has_length, "%s%s",
			has_length ? ", " : "", size);
		want_length += (size_t)snprintf(want + want_length, sizeof(want) - want_length,
			"%s%s", want_length ? "," : "", size);
	}
	return loci_err_set(err, ENOENT,
		"%s: %s has lines of %s bytes, and the profile knows blocks of %s; record it again "
		"with -b %s",
		loci_profile_path(profile), cache->name, loci_units_size(size, cache->line_bytes),
		has, want);
}

static int get_hist(struct loci_profile *profile, enum loci_distance distance, uint64_t block_bytes,
	unsigned set_bits, const struct loci_hist **ret, struct loci_err *err)
{
	struct loci_hist_key key = {
		.distance = distance,
		.block_bytes = block_bytes,
		.set_bits = set_bits,
		.owner = LOCI_OWNER_WHOLE,
	};
	int r = loci_profile_hist(profile, &key, ret, err);

	if (r == -ENOENT) {
		*ret = NULL;
		return 0;
	}
	return r;
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = words; at && (at = strstr(at, word)); at += length)
		if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

static int get_input(struct loci_profile *profile, const struct loci_cache *cache,
	struct loci_predict_input *ret, struct loci_err *err)
{
	static const struct loci_hist no_writes = { .scheme = LOCI_SCHEME_LINEAR };
	const struct loci_grain *grain = loci_profile_grain(profile, cache->line_bytes);
	const struct loci_run *run = loci_profile_run(profile);
	uint64_t line = cache->line_bytes, sets = loci_cache_sets(cache);
	const struct {
		enum loci_distance distance;
		unsigned set_bits;
		const struct loci_hist **hist;
	} wanted[] = {
		{ LOCI_DISTANCE_STACK, 0, &ret->stack },
		{ LOCI_DISTANCE_TIME, 0, &ret->time },
		{ LOCI_DISTANCE_DIRTY, 0, &ret->dirty },
		{ LOCI_DISTANCE_NEAR, 0, &ret->near },
		{ LOCI_DISTANCE_NEAR_TIME, 0, &ret->near_time },
		{ LOCI_DISTANCE_SET, (unsigned)__builtin_ctzll(sets), &ret->set },
		{ LOCI_DISTANCE_SET_DIRTY, (unsigned)__builtin_ctzll(sets), &ret->set_dirty },
		{ LOCI_DISTANCE_SET_BOTH, (unsigned)__builtin_ctzll(sets), &ret->set_both },
	};
	size_t n = loci_is_power_of_2(sets) ? LOCI_ARRAY_SIZE(wanted) : 5;

	if (!grain)
		return no_grain(profile, cache, err);
	*ret = (struct loci_predict_input){
		.touches = (double)grain->touches,
		.blocks = grain->blocks,
		.sampled = grain->sampling_rate < 1 || grain->error_points > 0,
		.sampling_points = grain->error_points,
		.stores_known = has_word(run->capabilities, "stores"),
	};
	for (size_t i = 0; i < n; i++) {
		int r = get_hist(
			profile, wanted[i].distance, line, wanted[i].set_bits, wanted[i].hist, err);

		if (r < 0)
			return r;
	}
	if (!ret->dirty && !grain->writes)
		ret->dirty = &no_writes;
	if (!ret->set_dirty && !grain->writes)
		ret->set_dirty = &no_writes;
	return 0;
}

/* Caches named at record time were simulated: what they missed is known. */
static int get_counts(struct loci_profile *profile, const struct loci_cache *cache,
	struct loci_predict_input *input, struct loci_err *err)
{
	const struct loci_level_count_row *count;
	const struct loci_level_row *level;
	size_t n_levels, n_counts;
	int64_t id = 0;
	int r = loci_profile_levels(profile, &level, &n_levels, err);

	for (size_t i = 0; r == 0 && i < n_levels; i++)
		if (level[i].size_bytes == cache->size_bytes && level[i].ways == cache->ways &&
			level[i].line_bytes == cache->line_bytes)
			id = level[i].id;
	if (r < 0 || !id)
		return r;
	r = loci_profile_level_counts(profile, &count, &n_counts, err);
	for (size_t i = 0; r == 0 && i < n_counts; i++)
		if (count[i].owner == LOCI_OWNER_WHOLE && count[i].level_id == id) {
			input->is_counted = true;
			input->counted_misses = (double)count[i].misses;
			input->counted_writebacks = (double)count[i].writebacks;
			break;
		}
	return r;
}

/* Sizes of a profile whose unit is object count objects, whatever line they were given with. */
static int in_objects(struct loci_cache *cache, struct loci_err *err)
{
	if (cache->is_tlb)
		cache->size_bytes = loci_cache_blocks(cache);
	cache->line_bytes = 1;
	cache->is_tlb = false;
	return loci_cache_check(cache, err);
}

/* Where the levels are those recorded, one for one, it was counted which one a touch hit first:
 * what threads that share an outer cache leave no other way to know. */
static void take_counted_hits(
	const struct loci_predict_input *input, struct loci_prediction *prediction, unsigned n)
{
	unsigned caches = 0;

	for (unsigned i = 0; i < n; i++) {
		if (prediction[i].cache.is_tlb)
			continue;
		if (!input[i].is_threaded || !input[i].is_counted ||
			input[i].counted_at != ++caches)
			return;
		prediction[i].hits = input[i].counted_hits;
		prediction[i].hits_estimated = false;
	}
}

int loci_predict(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	const struct loci_predict_options *options, struct loci_prediction *ret,
	struct loci_err *err)
{
	const struct loci_run *run = loci_profile_run(profile);
	bool objects = run->unit && !strcmp(run->unit, "object");
	struct loci_predict_input inputs[LOCI_LEVELS_MAX];

	for (unsigned i = 0; i < hierarchy->n_levels; i++) {
		struct loci_cache cache = hierarchy->level[i];
		loci_cleanup(loci_topology_fini) struct loci_topology topology = { 0 };
		struct loci_predict_input *input = &inputs[i];
		int r = objects ? in_objects(&cache, err) : 0;

		if (r >= 0)
			r = get_input(profile, &cache, input, err);
		if (r >= 0)
			r = loci_topology_input(profile, &cache, options, &topology, input, err);
		if (r >= 0 && !input->is_threaded && !input->set)
			r = get_counts(profile, &cache, input, err);
		if (r >= 0)
			r = loci_predict_cache(input, &cache, options, &ret[i], err);
		if (r < 0)
			return r;
	}
	loci_predict_hits(ret, hierarchy->n_levels, options->policy);
	take_counted_hits(inputs, ret, hierarchy->n_levels);
	return 0;
}
