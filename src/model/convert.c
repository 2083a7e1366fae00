// SPDX-License-Identifier: GPL-2.0-or-later
/* Conversions to stack distances. Both rest on one function of the time distance, the expected
 * number F of distinct blocks touched in between (hist/statstack.h). StatStack takes it, rounded,
 * as the stack distance; Shen et al. take F(r) / (N-1) as the probability that any one other block
 * was touched, and so a binomial distribution with the same mean. */
#include "model/convert.h"

#include "hist/statstack.h"
#include "model/binomial.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Adds weight at a stack distance given as a real number. */
static int add_rounded(struct loci_hist *stack, double value, double weight)
{
	return loci_hist_add(stack, value <= 0 ? 0 : (uint64_t)(value + 0.5), weight);
}

/* Spreads weight evenly over the reals low..high, each rounded to the nearest distance. */
static int add_spread(struct loci_hist *stack, double low, double high, double weight)
{
	uint64_t first = (uint64_t)(low + 0.5);
	double width = high - low, from = low;
	uint32_t bin = loci_bin_of(stack->scheme, first);

	if (width < 1e-9)
		return add_rounded(stack, low, weight);
	for (; from < high; bin++) {
		/* a real rounds into the bin if it is below the bin's end less a half */
		double to = fmin(high, (double)loci_bin_high(stack->scheme, bin) - 0.5);
		int r = loci_hist_reserve(stack, bin + 1);

		if (r < 0)
			return r;
		if (to > from) {
			stack->weight[bin] += weight * (to - from) / width;
			from = to;
		}
	}
	return 0;
}

/* The binomial spread of one bin's weight about its mean. */
static int add_binomial(struct loci_hist *stack, double trials, double mean, double weight)
{
	double p = mean / trials, variance = mean * (1 - p), sd = sqrt(variance);
	double from = fmax(0, floor(mean - 8 * sd - 2)), to = fmin(trials, ceil(mean + 8 * sd + 2));
	bool summed = variance <= LOCI_BINOMIAL_SUMMED;
	double k = from, left = 1, point = summed ? loci_binomial_point(trials, p, from) : 0;
	double odds = p / (1 - p);
	uint32_t last = loci_bin_of(stack->scheme, (uint64_t)to);
	int r = loci_hist_reserve(stack, last + 1);

	if (r < 0)
		return r;
	for (uint32_t bin = loci_bin_of(stack->scheme, (uint64_t)from); bin < last; bin++) {
		double end = (double)loci_bin_high(stack->scheme, bin), share = 0;

		if (summed) {
			for (; k < end; k++) {
				share += point;
				point *= (trials - k) / (k + 1) * odds;
			}
		} else {
			share = left - loci_binomial_at_least(trials, p, end);
		}
		stack->weight[bin] += weight * share;
		left -= share;
	}
	stack->weight[last] += weight * left; /* so that the whole weight arrives */
	return 0;
}

/* trials 0: StatStack, else Shen's N-1. */
static int add_bin(struct loci_hist *stack, double low, double high, double width, double trials,
	double weight)
{
	double mean = (low + high) / 2, sd;

	if (!trials)
		return width > 1 ? add_spread(stack, low, high, weight)
				 : add_rounded(stack, low, weight);
	if (width == 1)
		mean = low;
	if (mean >= trials)
		return add_rounded(stack, trials, weight);
	if (mean <= 0)
		return add_rounded(stack, 0, weight);
	sd = sqrt(mean * (1 - mean / trials));
	/* where the time bin itself is wider than the binomial, its width is the spread */
	if (high - low > 4 * sd)
		return add_spread(stack, low, fmin(high, trials), weight);
	return add_binomial(stack, trials, mean, weight);
}

/* known: of these time distances the stack distances are known; NULL: of none. */
static int convert(const struct loci_hist *time, const struct loci_hist *known, double trials,
	struct loci_hist *ret)
{
	struct loci_statstack statstack;
	int r = loci_statstack_init(&statstack, time);

	loci_hist_init(ret, LOCI_SCHEME_FINE);
	ret->cold = time->cold;
	ret->coherence = time->coherence;
	for (uint32_t i = 0; i < time->n_bins && r >= 0; i++) {
		double width = (double)loci_bin_high(time->scheme, i) -
			(double)loci_bin_low(time->scheme, i);
		double weight =
			time->weight[i] - (known && i < known->n_bins ? known->weight[i] : 0);

		/* of two sums of the same weights there may be a rest */
		if (weight > 1e-9 * time->weight[i])
			r = add_bin(ret, statstack.expected[i], statstack.expected[i + 1], width,
				trials, weight);
	}
	loci_statstack_fini(&statstack);
	if (r < 0)
		loci_hist_fini(ret);
	return r;
}

int loci_convert_statstack(const struct loci_hist *time, struct loci_hist *ret_stack)
{
	return convert(time, NULL, 0, ret_stack);
}

int loci_convert_statstack_near(const struct loci_hist *time, const struct loci_hist *near,
	const struct loci_hist *near_time, struct loci_hist *ret_stack)
{
	bool is_known = near && near_time && near_time->scheme == time->scheme;
	int r = convert(time, is_known ? near_time : NULL, 0, ret_stack);

	for (uint32_t i = 0; r == 0 && is_known && i < near->n_bins; i++)
		if (near->weight[i] > 0)
			r = loci_hist_add(
				ret_stack, loci_bin_low(near->scheme, i), near->weight[i]);
	if (r < 0)
		loci_hist_fini(ret_stack);
	return r;
}

int loci_convert_shen(
	const struct loci_hist *time, double distinct_blocks, struct loci_hist *ret_stack)
{
	/* fewer than two blocks leave nothing to come between */
	return convert(time, NULL, fmax(1e-9, round(distinct_blocks) - 1), ret_stack);
}

int loci_convert(enum loci_conversion conversion, const struct loci_hist *time,
	double distinct_blocks, struct loci_hist *ret_stack)
{
	switch (conversion) {
	case LOCI_CONVERT_STATSTACK:
		return loci_convert_statstack(time, ret_stack);
	case LOCI_CONVERT_SHEN:
		return loci_convert_shen(time, distinct_blocks, ret_stack);
	case LOCI_CONVERT_NONE:
		break;
	}
	return -EINVAL;
}

const char *loci_conversion_name(enum loci_conversion conversion)
{
	static const char *const names[] = { "none", "StatStack", "Shen" };

	return names[conversion];
}

/* Misses expected of the reuses if a fraction m of touches evicts some block: each of the m (d-1)
 * evictions in between hits this one with probability 1/lines. keep_log is ln(1 - 1/lines). */
static double reuse_misses(const struct loci_hist *time, double keep_log, double m)
{
	double c = -m * keep_log, misses = 0;

	for (uint32_t i = 1; i < time->n_bins; i++) {
		double low = (double)loci_bin_low(time->scheme, i) - 1, kept;
		double n = (double)loci_bin_high(time->scheme, i) - 1 - low;

		if (!time->weight[i])
			continue;
		kept = exp(-c * low);
		if (n > 1 && kept > 0) /* the mean of a geometric series */
			kept *= expm1(-c * n) / (n * expm1(-c));
		misses += time->weight[i] * (1 - kept);
	}
	return misses;
}

double loci_convert_statcache(const struct loci_hist *time, double distinct_blocks, uint64_t lines)
{
	double total = loci_hist_total(time), never = time->cold + time->coherence;
	double fill = 0, low, high = 1, keep_log;

	if (!(total > 0))
		return 0;
	if (!lines)
		return 1;
	if (distinct_blocks > 0 && distinct_blocks <= (double)lines)
		return never / total;
	if (lines == 1)
		return (never + loci_hist_at_least(time, 2, NULL)) / total;
	keep_log = log1p(-1 / (double)lines);
	if (distinct_blocks > 0) /* as a fraction of touches, whatever the weights are scaled to */
		fill = (double)lines / distinct_blocks * time->cold / total;
	/* misses expected minus m * total is concave in m from fill on, not negative there and not
	 * positive at 1: the largest root lies where it turns negative. Without cold misses 0 is a
	 * root too. */
	low = never > 0 ? fill : 1e-9;
	if (never + reuse_misses(time, keep_log, low - fill) < low * total)
		return never > 0 ? low : 0;
	for (int i = 0; i < 50; i++) {
		double m = (low + high) / 2;

		if (never + reuse_misses(time, keep_log, m - fill) >= m * total)
			low = m;
		else
			high = m;
	}
	return (low + high) / 2;
}
