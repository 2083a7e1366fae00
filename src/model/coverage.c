// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/coverage.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "model/thread_hist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const unsigned loci_coverage_percents[LOCI_COVERAGES] = { 75, 80, 90, 95 };

void loci_coverage_fini(struct loci_coverage *coverage)
{
	free(coverage->site);
	coverage->site = NULL;
	coverage->n_sites = 0;
}

static double missing_at(const struct loci_hist *hist, uint64_t blocks, double *ret_uncertain)
{
	return hist->coherence + loci_hist_at_least(hist, blocks, ret_uncertain);
}

/* The largest edge of the sites' bins at which at least so much of the reuses miss; at least one
 * block. What is lost to a write misses at any size and does not choose. */
static uint64_t choose(const struct loci_hist *hist, double share)
{
	double wanted = share * loci_hist_finite(hist);
	uint64_t best = 1;

	for (uint32_t bin = 1; bin < LOCI_COARSE_BINS; bin++) {
		uint64_t edge = loci_bin_low(LOCI_SCHEME_COARSE, bin);

		if (!(loci_hist_at_least(hist, edge, NULL) >= wanted))
			break;
		if (loci_hist_at_least(hist, edge, NULL) > 0)
			best = edge;
	}
	return best;
}

static int compare_sites(const void *a, const void *b)
{
	const struct loci_coverage_site *x = a, *y = b;

	if (x->misses != y->misses)
		return x->misses > y->misses ? -1 : 1;
	return strcmp(x->site->site_key, y->site->site_key);
}

static int judge_whole(struct loci_profile *profile, const struct loci_coverage_options *options,
	struct loci_coverage *ret, struct loci_err *err)
{
	struct loci_hist_key key = { .distance = ret->distance,
		.block_bytes = options->block_bytes };
	loci_cleanup(loci_hist_fini) struct loci_hist whole = { 0 };
	int r = loci_thread_hist(profile, &key, NULL, 0, &whole, err);

	if (r == -ENOENT)
		return loci_err_set(err, ENOENT, "%.300s has no %s distances of this block size",
			loci_profile_path(profile), loci_distance_name(ret->distance));
	if (r < 0)
		return r;
	ret->is_chosen = !options->blocks;
	ret->blocks = options->blocks ? options->blocks : choose(&whole, options->miss);
	ret->reuses = loci_hist_finite(&whole) + whole.coherence;
	ret->missing = missing_at(&whole, ret->blocks, NULL);
	ret->cold = whole.cold;
	return 0;
}

int loci_coverage_new(struct loci_profile *profile, const struct loci_coverage_options *options,
	struct loci_coverage *ret, struct loci_err *err)
{
	const struct loci_owner_hist *hist;
	double uncertain = 0;
	size_t n;
	int r;

	*ret = (struct loci_coverage){ .block_bytes = options->block_bytes };
	ret->distance = options->is_private && loci_thread_hist_known(profile, options->block_bytes)
		? LOCI_DISTANCE_PRIVATE
		: LOCI_DISTANCE_STACK;
	r = loci_catalogue_load(&ret->catalogue, profile, err);
	if (r == 0)
		r = judge_whole(profile, options, ret, err);
	if (r == 0)
		r = loci_profile_hists(profile, ret->distance, LOCI_OWNER_SITE,
			options->block_bytes, &hist, &n, err);
	if (r < 0)
		return r;
	if (!n)
		return loci_err_set(err, ENOENT,
			"%.300s: its sites have no %s distances of this block size; loci record "
			"makes profiles that do",
			loci_profile_path(profile), loci_distance_name(ret->distance));
	ret->site = calloc(n, sizeof(*ret->site));
	if (!ret->site)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct loci_coverage_site site = {
			.site = loci_catalogue_find_site(&ret->catalogue, hist[i].owner_id),
			.misses = missing_at(hist[i].hist, ret->blocks, &uncertain),
		};

		ret->is_interpolated |= uncertain > 0;
		if (site.site && site.misses > 0)
			ret->site[ret->n_sites++] = site;
		ret->misses += site.misses;
	}
	qsort(ret->site, ret->n_sites, sizeof(*ret->site), compare_sites);
	return 0;
}

size_t loci_coverage_sites(const struct loci_coverage *coverage, double share)
{
	/* sums of doubles: what is short by rounding is not short */
	double wanted = share * coverage->misses * (1 - 1e-12), sum = 0;

	for (size_t i = 0; i < coverage->n_sites; i++) {
		sum += coverage->site[i].misses;
		if (sum >= wanted)
			return i + 1;
	}
	return coverage->n_sites;
}
