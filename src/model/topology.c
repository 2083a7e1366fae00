// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/topology.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "model/curve.h"
#include "model/thread_hist.h"
#include "profile/dimension.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void loci_topology_fini(struct loci_topology *topology)
{
	for (unsigned i = 0; i < topology->n; i++)
		loci_hist_fini(&topology->hist[i]);
	topology->n = 0;
}

/* Those whose caches a level is made of. ids NULL: all threads. */
struct members {
	enum loci_owner owner; /* THREAD or THREAD_GROUP */
	const int64_t *ids;
	int64_t *own; /* ids, where they had to be looked up */
	size_t n;
};

static void members_fini(struct members *members)
{
	free(members->own);
}

static bool is_among(int64_t id, const int64_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return !ids;
}

/* How many of a group's threads, "3,4,7", are among those chosen. */
static size_t count_chosen(
	const char *threads, const struct loci_predict_options *options, size_t *ret_n)
{
	size_t chosen = 0;
	char *end;

	*ret_n = 0;
	for (; *threads; threads = *end == ',' ? end + 1 : "") {
		chosen += is_among(
			(int64_t)strtoll(threads, &end, 10), options->threads, options->n_threads);
		(*ret_n)++;
	}
	return chosen;
}

static int no_groups(struct loci_profile *profile, const struct loci_cache *cache,
	const struct loci_thread_group_row *group, size_t n, struct loci_err *err)
{
	char has[96] = "";
	size_t used = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < n && used + 24 < sizeof(has); i++) {
		if (group[i].share != last)
			used += (size_t)snprintf(has + used, sizeof(has) - used, "%s%" PRIu64,
				used ? ", " : "; it has groups of ", group[i].share);
		last = group[i].share;
	}
	return loci_err_set(err, ENOENT,
		"%.300s: %s is shared by %u threads each, and the profile has no such groups%s; "
		"record them with loci record --share %u",
		loci_profile_path(profile), cache->name, cache->share_n, has, cache->share_n);
}

/* The groups of the level's size all of whose threads are chosen. */
static int find_groups(struct loci_profile *profile, const struct loci_cache *cache,
	const struct loci_predict_options *options, struct members *ret, struct loci_err *err)
{
	const struct loci_thread_group_row *group;
	size_t n, found = 0;
	int r = loci_profile_thread_groups(profile, &group, &n, err);

	if (r < 0)
		return r;
	ret->own = calloc(n + 1, sizeof(*ret->own));
	if (!ret->own)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		size_t of, chosen;

		if (group[i].share != cache->share_n)
			continue;
		found++;
		chosen = count_chosen(group[i].threads, options, &of);
		if (chosen && chosen < of && !options->whole_groups)
			return loci_err_set(err, EINVAL,
				"threads %.100s share one %s: what each of them missed there is "
				"not "
				"known; choose all of them or none",
				group[i].threads, cache->name);
		if (chosen)
			ret->own[ret->n++] = group[i].id;
	}
	ret->owner = LOCI_OWNER_THREAD_GROUP;
	ret->ids = ret->own;
	return found ? 0 : no_groups(profile, cache, group, n, err);
}

/* The sum of the members' histograms, kept with the others; *ret NULL where they have none. */
static int sum_up(struct loci_profile *profile, const struct members *members,
	enum loci_distance distance, uint64_t block_bytes, unsigned set_bits,
	struct loci_topology *topology, const struct loci_hist **ret, struct loci_err *err)
{
	struct loci_hist_key key = { distance, block_bytes, set_bits, members->owner, 0 };
	struct loci_hist *sum = &topology->hist[topology->n];
	int r = loci_thread_hist(profile, &key, members->ids, members->n, sum, err);

	*ret = r == 0 ? sum : NULL;
	topology->n += r == 0;
	return r == -ENOENT ? 0 : r;
}

/* What the members met of others; and their touches. */
static int count_sharing(struct loci_profile *profile, const struct members *members,
	uint64_t block_bytes, struct loci_predict_input *input, struct loci_err *err)
{
	const struct loci_coherence_row *row;
	double touches = 0;
	size_t n;
	int r = loci_profile_coherences(profile, &row, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (row[i].block_bytes != block_bytes || row[i].owner != members->owner ||
			!is_among(row[i].owner_id, members->ids, members->n))
			continue;
		input->has_sharing = true;
		input->true_sharing += (double)row[i].true_sharing;
		input->false_sharing += (double)row[i].false_sharing;
		input->remote += (double)row[i].remote;
		touches += (double)row[i].touches;
	}
	if (members->ids)
		input->touches = touches; /* 0: the histogram's total */
	return r;
}

static bool is_shared_as(const char *share, const struct loci_cache *cache)
{
	unsigned n;

	if (!share)
		return false;
	switch (cache->share) {
	case LOCI_SHARE_PRIVATE:
		return !strcmp(share, "private");
	case LOCI_SHARE_ALL:
		return !strcmp(share, "shared");
	default:
		return sscanf(share, "share%u", &n) == 1 && n == cache->share_n;
	}
}

/* What this very cache, shared in this very way, met while recording. */
static int find_counts(struct loci_profile *profile, const struct loci_cache *cache,
	const struct loci_predict_options *options, const struct members *members,
	struct loci_predict_input *input, struct loci_err *err)
{
	enum loci_owner owner = options->threads ? members->owner : LOCI_OWNER_WHOLE;
	const struct loci_level_count_row *count;
	const struct loci_level_row *level;
	size_t n_levels, n_counts;
	int64_t id = 0;
	int r = loci_profile_levels(profile, &level, &n_levels, err);

	for (size_t i = 0; r == 0 && i < n_levels; i++)
		if (level[i].size_bytes == cache->size_bytes && level[i].ways == cache->ways &&
			level[i].line_bytes == cache->line_bytes &&
			is_shared_as(level[i].share, cache)) {
			id = level[i].id;
			input->counted_at = (unsigned)i + 1;
		}
	if (r < 0 || !id)
		return r;
	r = loci_profile_level_counts(profile, &count, &n_counts, err);
	for (size_t i = 0; r == 0 && i < n_counts; i++) {
		if (count[i].level_id != id || count[i].owner != owner ||
			(options->threads &&
				!is_among(count[i].owner_id, members->ids, members->n)))
			continue;
		input->is_counted = true;
		input->counted_misses += (double)count[i].misses;
		/* a line that another took dirty is not written back */
		input->counted_writebacks +=
			(double)count[i].writebacks - (double)count[i].transfers;
		input->counted_hits += (double)count[i].first_hits;
	}
	return r;
}

/* A cache that all share, and some of them. */
static int shared_input(struct loci_profile *profile, const struct loci_cache *cache,
	const struct members *members, struct loci_topology *topology,
	struct loci_predict_input *input, struct loci_err *err)
{
	uint64_t sets = loci_cache_sets(cache);
	unsigned set_bits = (unsigned)__builtin_ctzll(sets);
	const struct {
		enum loci_distance distance;
		unsigned set_bits;
		const struct loci_hist **hist;
	} wanted[LOCI_TOPOLOGY_HISTS] = {
		{ LOCI_DISTANCE_STACK, 0, &input->stack },
		{ LOCI_DISTANCE_DIRTY, 0, &input->dirty },
		{ LOCI_DISTANCE_SET, set_bits, &input->set },
		{ LOCI_DISTANCE_SET_DIRTY, set_bits, &input->set_dirty },
		{ LOCI_DISTANCE_SET_BOTH, set_bits, &input->set_both },
	};
	int r = 0;

	input->time = NULL;
	for (unsigned i = 0; r == 0 && i < LOCI_TOPOLOGY_HISTS; i++) {
		*wanted[i].hist = NULL;
		if (i < 2 || loci_is_power_of_2(sets))
			r = sum_up(profile, members, wanted[i].distance, cache->line_bytes,
				wanted[i].set_bits, topology, wanted[i].hist, err);
	}
	return r;
}

static int private_input(struct loci_profile *profile, const struct loci_cache *cache,
	const struct members *members, struct loci_topology *topology,
	struct loci_predict_input *input, struct loci_err *err)
{
	input->is_private = true;
	input->time = input->dirty = NULL;
	input->set = input->set_dirty = input->set_both = NULL;
	return sum_up(profile, members, LOCI_DISTANCE_PRIVATE, cache->line_bytes, 0, topology,
		&input->stack, err);
}

int loci_topology_input(struct loci_profile *profile, const struct loci_cache *cache,
	const struct loci_predict_options *options, struct loci_topology *topology,
	struct loci_predict_input *input, struct loci_err *err)
{
	loci_cleanup(members_fini) struct members members = {
		.owner = LOCI_OWNER_THREAD,
		.ids = options->threads,
		.n = options->n_threads,
	};
	int r = 0;

	*topology = (struct loci_topology){ 0 };
	if (!loci_thread_hist_known(profile, cache->line_bytes)) {
		if (options->threads)
			return loci_err_set(err, ENOENT,
				"%s: the run had no threads that share memory, or was recorded "
				"without telling them apart",
				loci_profile_path(profile));
		return 0;
	}
	input->is_threaded = true;
	if (cache->share == LOCI_SHARE_SOME)
		r = find_groups(profile, cache, options, &members, err);
	if (r == 0 && cache->share != LOCI_SHARE_ALL)
		r = private_input(profile, cache, &members, topology, input, err);
	else if (r == 0 && options->threads)
		r = shared_input(profile, cache, &members, topology, input, err);
	if (r == 0)
		r = count_sharing(profile, &members, cache->line_bytes, input, err);
	if (r == 0)
		r = find_counts(profile, cache, options, &members, input, err);
	if (r == 0 && cache->share == LOCI_SHARE_ALL)
		input->true_sharing = input->false_sharing = 0; /* nothing is lost there */
	if (r == 0 && !input->stack)
		r = loci_err_set(err, ENOENT, "%s: these threads have no distances of %s",
			loci_profile_path(profile),
			cache->share == LOCI_SHARE_ALL ? "the shared stack" : "their own");
	return r;
}

/* Just enough to hold every reuse. */
static uint64_t longest(const struct loci_hist *own)
{
	for (uint32_t i = own->n_bins; i-- > 0;)
		if (own->weight[i] > 0)
			return loci_bin_high(own->scheme, i);
	return 0;
}

struct loci_topology_share loci_topology_share_of(const struct loci_hist *own, double miss_ratio)
{
	uint64_t low = 0, high = longest(own);

	miss_ratio += 1e-12; /* by rounding */
	if (loci_curve_ratio(own, high) > miss_ratio)
		return (struct loci_topology_share){ true, (double)high, true };
	while (low < high) { /* high suffices, what is below low does not */
		uint64_t middle = low + (high - low) / 2;

		if (loci_curve_ratio(own, middle) > miss_ratio)
			low = middle + 1;
		else
			high = middle;
	}
	return (struct loci_topology_share){ true, (double)high, false };
}

static int find_share(struct loci_profile *profile, struct loci_topology_thread *thread,
	unsigned level, struct loci_err *err)
{
	const struct loci_prediction *p = &thread->level[level];
	struct loci_hist_key key = { LOCI_DISTANCE_PRIVATE, p->cache.line_bytes, 0,
		LOCI_OWNER_THREAD, 0 };
	struct loci_hist own;
	int r;

	if (p->cache.share != LOCI_SHARE_ALL || !(p->accesses > 0))
		return 0;
	r = loci_thread_hist(profile, &key, &thread->id, 1, &own, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	thread->share[level] = loci_topology_share_of(&own, p->misses / p->accesses);
	loci_hist_fini(&own);
	return 0;
}

/* The groups a thread is in stand for it at levels that they share. */
static int predict_thread(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	struct loci_predict_options options, struct loci_topology_thread *thread,
	struct loci_err *err)
{
	int r;

	options.threads = &thread->id;
	options.n_threads = 1;
	options.whole_groups = true;
	r = loci_predict(profile, hierarchy, &options, thread->level, err);
	for (unsigned i = 0; r == 0 && i < hierarchy->n_levels; i++)
		r = find_share(profile, thread, i, err);
	return r;
}

int loci_topology_threads(struct loci_profile *profile, const struct loci_hierarchy *hierarchy,
	const struct loci_predict_options *options, struct loci_topology_thread **ret,
	size_t *ret_n, struct loci_err *err)
{
	size_t n, found = 0;
	const struct loci_thread_totals *totals = loci_profile_threads(profile, &n);
	loci_autofree struct loci_topology_thread *thread = calloc(n + 1, sizeof(*thread));

	if (!thread)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		int r;

		if (!is_among(totals[i].thread, options->threads, options->n_threads) ||
			!totals[i].references)
			continue;
		thread[found].id = totals[i].thread;
		r = predict_thread(profile, hierarchy, *options, &thread[found++], err);
		if (r < 0)
			return r;
	}
	*ret = thread;
	*ret_n = found;
	thread = NULL;
	return 0;
}
