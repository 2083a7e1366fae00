// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/anger.h"

#include "model/predict.h"

#include <math.h>

double loci_anger_hits(const struct loci_hist *hist, struct loci_anger_cache cache)
{
	double finite = loci_hist_finite(hist);

	if (cache.ways == 0 || cache.ways >= cache.blocks)
		return finite - loci_hist_at_least(hist, (uint64_t)cache.blocks, NULL);
	return finite - loci_predict_binomial(hist, cache.blocks / cache.ways, cache.ways);
}

double loci_anger_remote_hits(
	const struct loci_hist *shared, size_t n_threads, struct loci_anger_cache first)
{
	double n = (double)n_threads;

	return loci_anger_hits(
		shared, (struct loci_anger_cache){ n * first.blocks, n * first.ways });
}

/* Of all threads, each in a cache of its own. */
static double own_hits(
	const struct loci_hist *hist, size_t n_threads, struct loci_anger_cache cache)
{
	double hits = 0;

	for (size_t i = 0; i < n_threads; i++)
		hits += loci_anger_hits(&hist[i], cache);
	return hits;
}

void loci_anger_levels(const struct loci_anger *anger, enum loci_anger_model model,
	const struct loci_anger_cache *level, size_t n_levels, double *ret_hits)
{
	double before = 0;

	for (size_t i = 0; i < n_levels; i++) {
		struct loci_anger_cache cache = level[i];
		double hits;

		if (model == LOCI_ANGER_STACK)
			cache.ways = 0;
		hits = own_hits(anger->own, anger->n_threads, cache);
		if (model == LOCI_ANGER_COHERENCE && i == 0)
			hits += loci_anger_remote_hits(anger->shared, anger->n_threads, cache) -
				own_hits(anger->lost, anger->n_threads, cache);
		ret_hits[i] = fmax(0, hits - before);
		before = fmax(before, hits);
	}
}
