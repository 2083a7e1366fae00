// SPDX-License-Identifier: GPL-2.0-or-later
/* How well one profile finds another's worst sites. */
#include "model/coverage.h"

#include "base/cleanup.h"
#include "model/thread_hist.h"

#include <stdlib.h>
#include <string.h>

/* A site of the truth by its key; rank: its place among the worst, from 0. */
struct known {
	const char *key;
	double misses;
	size_t rank;
};

static int compare_known(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->key, ((const struct known *)b)->key);
}

static const struct known *find(const struct known *known, size_t n, const char *key)
{
	const struct known wanted = { .key = key };

	return n ? bsearch(&wanted, known, n, sizeof(*known), compare_known) : NULL;
}

static struct loci_rank_row match(const struct loci_coverage *truth,
	const struct loci_coverage *other, const struct known *known, unsigned percent)
{
	struct loci_rank_row row = {
		.distance = truth->distance,
		.blocks = truth->blocks,
		.percent = percent,
		.sites = loci_coverage_sites(truth, percent / 100.),
	};
	double best = 0, found = 0;
	size_t same = 0;

	for (size_t i = 0; i < row.sites; i++)
		best += truth->site[i].misses;
	for (size_t i = 0; i < row.sites && i < other->n_sites; i++) {
		const struct known *one =
			find(known, truth->n_sites, other->site[i].site->site_key);

		if (!one)
			continue;
		found += one->misses;
		same += one->rank < row.sites;
	}
	row.weight_match = best > 0 ? found / best : 1;
	row.key_match = row.sites ? (double)same / (double)row.sites : 1;
	return row;
}

static int match_all(const struct loci_coverage *truth, const struct loci_coverage *other,
	struct loci_rank_row *ret, size_t *ret_n, struct loci_err *err)
{
	struct known *known = calloc(truth->n_sites + 1, sizeof(*known));

	if (!known)
		return loci_err_nomem(err);
	for (size_t i = 0; i < truth->n_sites; i++)
		known[i] =
			(struct known){ truth->site[i].site->site_key, truth->site[i].misses, i };
	qsort(known, truth->n_sites, sizeof(*known), compare_known);
	for (unsigned i = 0; i < LOCI_COVERAGES; i++)
		ret[(*ret_n)++] = match(truth, other, known, loci_coverage_percents[i]);
	free(known);
	return 0;
}

int loci_rank(struct loci_profile *truth, struct loci_profile *other,
	const struct loci_coverage_options *options, struct loci_rank_row *ret, size_t *ret_n,
	struct loci_err *err)
{
	bool has_private = loci_thread_hist_known(truth, options->block_bytes) &&
		loci_thread_hist_known(other, options->block_bytes);

	*ret_n = 0;
	for (unsigned i = 0; i < (has_private ? 2u : 1u); i++) {
		loci_cleanup(loci_coverage_fini) struct loci_coverage a = { 0 };
		loci_cleanup(loci_coverage_fini) struct loci_coverage b = { 0 };
		struct loci_coverage_options here = *options;
		int r;

		here.is_private = i == 1;
		r = loci_coverage_new(truth, &here, &a, err);
		here.blocks = a.blocks;
		if (r == 0)
			r = loci_coverage_new(other, &here, &b, err);
		if (r == 0)
			r = match_all(&a, &b, ret, ret_n, err);
		if (r < 0)
			return r;
	}
	return 0;
}
