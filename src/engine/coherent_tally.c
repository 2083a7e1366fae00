// SPDX-License-Identifier: GPL-2.0-or-later
/* What is counted of each member of coherent stacks, also at several rates of sampling.
 *
 * Touches and writes are exact, and the weights of distances are made to add up to the touches as
 * in SHARDS-adj (Waldspurger et al. 2015): what is missing or too much is mostly a matter of the
 * most frequent blocks, whose distances are short, so it is added to or taken from the shortest
 * distances. Counts of sharing are estimates with no such correction. */
#include "engine/coherent_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void free_bins(struct loci_coherent_bins *bins)
{
	free(bins->count);
	free(bins->weight);
	free(bins->square);
}

void loci_coherent_tally_free(struct loci_coherent_tally *tally)
{
	if (!tally)
		return;
	free_bins(&tally->stack);
	free_bins(&tally->remote);
	free(tally);
}

static int init_bins(struct loci_coherent_bins *bins)
{
	bins->n = LOCI_FINE_BINS;
	bins->count = calloc(bins->n, sizeof(*bins->count));
	return bins->count ? 0 : -ENOMEM;
}

struct loci_coherent_tally *loci_coherent_tally_new(const struct loci_coherent *coherent)
{
	struct loci_coherent_tally *tally = calloc(1, sizeof(*tally));

	if (!tally)
		return NULL;
	tally->shift = coherent->shift;
	if (init_bins(&tally->stack) == 0 &&
		(coherent->taken_by != LOCI_COHERENT_BY_NONE || init_bins(&tally->remote) == 0))
		return tally;
	loci_coherent_tally_free(tally);
	return NULL;
}

static uint64_t bins_bytes(const struct loci_coherent_bins *bins)
{
	return bins->n * sizeof(*bins->count) +
		(bins->weight ? 2 * LOCI_FINE_BINS * sizeof(*bins->weight) : 0);
}

uint64_t loci_coherent_tally_bytes(const struct loci_coherent_tally *tally)
{
	return sizeof(*tally) + bins_bytes(&tally->stack) + bins_bytes(&tally->remote);
}

/* Bins after the last in use are given back. */
static void shrink(struct loci_coherent_bins *bins)
{
	uint64_t *smaller;

	while (bins->n && !bins->count[bins->n - 1])
		bins->n--;
	smaller = realloc(bins->count, (bins->n + 1) * sizeof(*smaller));
	if (smaller)
		bins->count = smaller;
}

void loci_coherent_tally_shrink(struct loci_coherent_tally *tally)
{
	shrink(&tally->stack);
	if (tally->remote.count)
		shrink(&tally->remote);
}

/* What was counted gets the weight it was counted at. */
static int settle_bins(struct loci_coherent_bins *bins, double scale)
{
	if (!bins->count)
		return 0;
	if (!bins->weight)
		bins->weight = calloc(LOCI_FINE_BINS, sizeof(*bins->weight));
	if (!bins->square)
		bins->square = calloc(LOCI_FINE_BINS, sizeof(*bins->square));
	if (!bins->weight || !bins->square)
		return -ENOMEM;
	for (uint32_t i = 0; i < bins->n; i++) {
		bins->weight[i] += (double)bins->count[i] * scale;
		bins->square[i] += (double)bins->count[i] * scale * scale;
	}
	memset(bins->count, 0, bins->n * sizeof(*bins->count));
	return 0;
}

int loci_coherent_tally_settle(struct loci_coherent_tally *tally)
{
	double scale = ldexp(1, (int)tally->shift);

	if (settle_bins(&tally->stack, scale) < 0 || settle_bins(&tally->remote, scale) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < LOCI_COHERENT_EVENTS; i++)
		tally->event_weight[i] += (double)tally->event[i] * scale;
	memset(tally->event, 0, sizeof(tally->event));
	tally->shift++;
	return 0;
}

/* Makes the weights add up to a total, from the shortest distance on. */
static void adjust(struct loci_hist *hist, uint64_t total)
{
	double missing = (double)total - loci_hist_total(hist);

	for (uint32_t bin = 0; bin < hist->n_bins && missing != 0; bin++) {
		double weight = fmax(0, hist->weight[bin] + missing);

		missing -= weight - hist->weight[bin];
		hist->weight[bin] = weight;
	}
	hist->cold += missing; /* only infinite distances were sampled */
}

static int fill(const struct loci_coherent_bins *bins, unsigned shift, struct loci_hist *hist)
{
	double scale = ldexp(1, (int)shift);

	if (!shift)
		return loci_hist_from_counts(hist, bins->count, bins->n);
	if (loci_hist_reserve(hist, LOCI_FINE_BINS) < 0)
		return -ENOMEM;
	hist->square = calloc(LOCI_FINE_BINS, sizeof(double));
	if (!hist->square)
		return -ENOMEM;
	for (uint32_t i = 0; i < LOCI_FINE_BINS; i++) {
		double count = i < bins->n ? (double)bins->count[i] * scale : 0;

		hist->weight[i] = count + (bins->weight ? bins->weight[i] : 0);
		hist->square[i] = count * scale + (bins->square ? bins->square[i] : 0);
	}
	while (hist->n_bins > 1 && hist->square[hist->n_bins - 1] == 0)
		hist->n_bins--;
	return 0;
}

int loci_coherent_tally_result(
	const struct loci_coherent_tally *tally, struct loci_coherent_result *ret)
{
	double event[LOCI_COHERENT_EVENTS];

	for (unsigned i = 0; i < LOCI_COHERENT_EVENTS; i++)
		event[i] =
			tally->event_weight[i] + ldexp((double)tally->event[i], (int)tally->shift);
	ret->touches = tally->touches;
	ret->writes = tally->writes;
	ret->true_sharing = (uint64_t)event[LOCI_COHERENT_N_TRUE];
	ret->false_sharing = (uint64_t)event[LOCI_COHERENT_N_FALSE];
	ret->remote = (uint64_t)event[LOCI_COHERENT_N_REMOTE];
	ret->invalidated = (uint64_t)event[LOCI_COHERENT_N_TAKEN];
	ret->stack.cold = event[LOCI_COHERENT_N_COLD];
	ret->stack.coherence = event[LOCI_COHERENT_N_TRUE] + event[LOCI_COHERENT_N_FALSE];
	if (fill(&tally->stack, tally->shift, &ret->stack) < 0)
		return -ENOMEM;
	if (tally->shift)
		adjust(&ret->stack, tally->touches);
	return tally->remote.count ? fill(&tally->remote, tally->shift, &ret->remote_stack) : 0;
}
