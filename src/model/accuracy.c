// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/accuracy.h"

#include "model/curve.h"

#include <math.h>

#define RDX_BINS  20
#define RDX_FIRST 4096.0 /* bytes in the first bin */
#define EDGES_MAX 656    /* 64 powers of two of 10 bins, and a few */

/* Bins of distances in blocks: bin i holds edge[i] <= distance < edge[i+1], the last one all the
 * rest. */
struct bins {
	uint64_t edge[EDGES_MAX];
	unsigned n;
};

/* The whole number a real edge stands for: the first distance not below it. */
static void add_edge(struct bins *bins, double edge)
{
	if (edge < 0x1p63)
		bins->edge[bins->n++] = (uint64_t)ceil(edge);
}

static void rdx_bins(struct bins *bins, uint64_t block_bytes)
{
	bins->n = 0;
	add_edge(bins, 0);
	for (int i = 0; i + 1 < RDX_BINS; i++)
		add_edge(bins, ldexp(RDX_FIRST, i) / (double)block_bytes);
}

static void per_doubling_bins(struct bins *bins, int n)
{
	bins->n = 0;
	add_edge(bins, 0);
	for (int k = 0; k < 63; k++)
		for (int i = 0; i < n; i++)
			add_edge(bins, exp2(k + (double)i / n));
}

/* Fractions of the finite reuses from bin `first` on; false where there are none. */
static bool fractions(
	const struct loci_hist *hist, const struct bins *bins, unsigned first, double *ret)
{
	double all = loci_hist_at_least(hist, bins->edge[first], NULL), above = all;

	if (!(all > 0))
		return false;
	for (unsigned i = first; i < bins->n; i++) {
		double next =
			i + 1 < bins->n ? loci_hist_at_least(hist, bins->edge[i + 1], NULL) : 0;

		ret[i] = (above - next) / all;
		above = next;
	}
	return true;
}

/* S over bins from `first` on; window 2 averages neighbours first. Two histograms without any
 * reuse there agree (NAN: nothing to say); one without and one with do not. */
static double similarity(const struct loci_hist *truth, const struct loci_hist *other,
	const struct bins *bins, unsigned first, unsigned window)
{
	double a[EDGES_MAX], b[EDGES_MAX], sum = 0;
	bool has_a = fractions(truth, bins, first, a), has_b = fractions(other, bins, first, b);

	if (!has_a || !has_b)
		return has_a || has_b ? 0 : NAN;
	for (unsigned i = first; i + window <= bins->n; i++) {
		double difference = 0;

		for (unsigned j = 0; j < window; j++)
			difference += (a[i + j] - b[i + j]) / window;
		sum += fabs(difference);
	}
	return 1 - sum / 2;
}

static double or_one(double s)
{
	return isnan(s) ? 1 : s;
}

/* Over sizes of 1, 2, 4, ... blocks, up to the first that holds every reuse of both. */
static void miss_ratio_errors(
	const struct loci_hist *truth, const struct loci_hist *other, struct loci_accuracy *ret)
{
	double sum = 0;
	unsigned n = 0;

	ret->worst_points = 0;
	ret->worst_blocks = 1;
	for (unsigned k = 0; k < 63; k++) {
		uint64_t blocks = 1ull << k;
		double points = 100 *
			fabs(loci_curve_ratio(truth, blocks) - loci_curve_ratio(other, blocks));

		sum += points;
		n++;
		if (points > ret->worst_points) {
			ret->worst_points = points;
			ret->worst_blocks = blocks;
		}
		if (!(loci_hist_at_least(truth, blocks, NULL) > 0) &&
			!(loci_hist_at_least(other, blocks, NULL) > 0))
			break;
	}
	ret->mean_points = sum / n;
}

void loci_accuracy(const struct loci_hist *truth, const struct loci_hist *other,
	uint64_t block_bytes, struct loci_accuracy *ret)
{
	struct bins bins;

	rdx_bins(&bins, block_bytes);
	ret->s_rdx = or_one(similarity(truth, other, &bins, 0, 1));
	ret->s_rdx_smooth = or_one(similarity(truth, other, &bins, 0, 2));
	ret->s_beyond = similarity(truth, other, &bins, 1, 1);
	per_doubling_bins(&bins, 1);
	ret->s_log2 = or_one(similarity(truth, other, &bins, 0, 1));
	per_doubling_bins(&bins, 10);
	ret->s_schuff = or_one(similarity(truth, other, &bins, 0, 1));
	ret->s_schuff_far = similarity(truth, other, &bins, 1, 1); /* the first holds 0 alone */
	miss_ratio_errors(truth, other, ret);
}
