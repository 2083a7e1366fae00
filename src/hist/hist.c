// SPDX-License-Identifier: GPL-2.0-or-later
#include "hist/hist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned bits;   /* log2 of bins per power of two */
	uint64_t linear; /* values below have a bin each */
	uint32_t bins;
} schemes[] = {
	[LOCI_SCHEME_FINE] = { "fine", LOCI_FINE_BITS, LOCI_FINE_LINEAR, LOCI_FINE_BINS },
	[LOCI_SCHEME_COARSE] = { "coarse", LOCI_COARSE_BITS, LOCI_COARSE_LINEAR, LOCI_COARSE_BINS },
	[LOCI_SCHEME_LINEAR] = { "linear", 0, LOCI_LINEAR_BINS, LOCI_LINEAR_BINS },
};

uint32_t loci_bin_of(enum loci_scheme scheme, uint64_t value)
{
	if (scheme == LOCI_SCHEME_LINEAR)
		return value < LOCI_LINEAR_BINS ? (uint32_t)value : LOCI_LINEAR_BINS - 1;
	return scheme == LOCI_SCHEME_FINE ? loci_bin_fine(value) : loci_bin_coarse(value);
}

uint64_t loci_bin_low(enum loci_scheme scheme, uint32_t bin)
{
	unsigned bits = schemes[scheme].bits;
	uint64_t above;

	if (bin < schemes[scheme].linear || scheme == LOCI_SCHEME_LINEAR)
		return bin;
	above = bin - schemes[scheme].linear;
	/* the first power of two above the linear part starts at bin `linear` */
	return ((1ull << bits) + (above & ((1ull << bits) - 1)))
		<< ((above >> bits) + (unsigned)__builtin_ctzll(schemes[scheme].linear) - bits);
}

uint64_t loci_bin_high(enum loci_scheme scheme, uint32_t bin)
{
	if (scheme != LOCI_SCHEME_LINEAR && bin + 1 >= schemes[scheme].bins)
		return LOCI_INFINITE;
	return loci_bin_low(scheme, bin + 1);
}

const char *loci_scheme_name(enum loci_scheme scheme)
{
	return schemes[scheme].name;
}

int loci_scheme_from_name(const char *name, enum loci_scheme *ret)
{
	for (unsigned i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (!strcmp(schemes[i].name, name)) {
			*ret = (enum loci_scheme)i;
			return 0;
		}
	return -EINVAL;
}

void loci_hist_init(struct loci_hist *hist, enum loci_scheme scheme)
{
	*hist = (struct loci_hist){ .scheme = scheme };
}

void loci_hist_fini(struct loci_hist *hist)
{
	free(hist->weight);
	free(hist->square);
	loci_hist_init(hist, hist->scheme);
}

static int grow(double **array, uint32_t from, uint32_t to)
{
	double *larger = realloc(*array, to * sizeof(double));

	if (!larger)
		return -ENOMEM;
	memset(larger + from, 0, (to - from) * sizeof(double));
	*array = larger;
	return 0;
}

int loci_hist_reserve(struct loci_hist *hist, uint32_t n_bins)
{
	if (n_bins > schemes[hist->scheme].bins)
		return -EINVAL;
	if (n_bins <= hist->n_bins)
		return 0;
	if (grow(&hist->weight, hist->n_bins, n_bins) < 0)
		return -ENOMEM;
	if (hist->square && grow(&hist->square, hist->n_bins, n_bins) < 0)
		return -ENOMEM;
	hist->n_bins = n_bins;
	return 0;
}

int loci_hist_add_several(struct loci_hist *hist, uint64_t value, double weight, double square)
{
	uint32_t bin = loci_bin_of(hist->scheme, value);
	int r = loci_hist_reserve(hist, bin + 1);

	if (r < 0)
		return r;
	hist->weight[bin] += weight;
	if (hist->square)
		hist->square[bin] += square;
	return 0;
}

int loci_hist_add(struct loci_hist *hist, uint64_t value, double weight)
{
	return loci_hist_add_several(hist, value, weight, weight * weight);
}

int loci_hist_from_counts(struct loci_hist *hist, const uint64_t *count, uint32_t n_bins)
{
	int r;

	while (n_bins && !count[n_bins - 1])
		n_bins--;
	r = loci_hist_reserve(hist, n_bins);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n_bins; i++)
		hist->weight[i] += (double)count[i];
	return 0;
}

int loci_hist_copy(struct loci_hist *to, const struct loci_hist *from)
{
	loci_hist_init(to, from->scheme);
	return loci_hist_merge(to, from);
}

int loci_hist_merge(struct loci_hist *into, const struct loci_hist *from)
{
	int r;

	if (into->scheme != from->scheme)
		return -EINVAL;
	r = loci_hist_reserve(into, from->n_bins);
	if (r < 0)
		return r;
	if (from->square && !into->square && into->n_bins) {
		/* what was exact so far had weights of one */
		into->square = malloc(into->n_bins * sizeof(double));
		if (!into->square)
			return -ENOMEM;
		memcpy(into->square, into->weight, into->n_bins * sizeof(double));
	}
	for (uint32_t i = 0; i < from->n_bins; i++) {
		into->weight[i] += from->weight[i];
		if (into->square)
			into->square[i] += from->square ? from->square[i] : from->weight[i];
	}
	into->cold += from->cold;
	into->coherence += from->coherence;
	return 0;
}

double loci_hist_finite(const struct loci_hist *hist)
{
	double sum = 0;

	for (uint32_t i = 0; i < hist->n_bins; i++)
		sum += hist->weight[i];
	return sum;
}

double loci_hist_total(const struct loci_hist *hist)
{
	return loci_hist_finite(hist) + hist->cold + hist->coherence;
}

double loci_hist_at_least(const struct loci_hist *hist, uint64_t value, double *ret_uncertain)
{
	uint32_t bin = loci_bin_of(hist->scheme, value);
	uint64_t low = loci_bin_low(hist->scheme, bin);
	double sum = 0;

	if (ret_uncertain)
		*ret_uncertain = 0;
	for (uint32_t i = hist->n_bins; i-- > bin + 1;)
		sum += hist->weight[i];
	if (bin >= hist->n_bins || value >= loci_bin_high(hist->scheme, bin))
		return sum;
	if (value <= low)
		return sum + hist->weight[bin];
	if (ret_uncertain)
		*ret_uncertain = hist->weight[bin];
	return sum +
		hist->weight[bin] * (double)(loci_bin_high(hist->scheme, bin) - value) /
		(double)(loci_bin_high(hist->scheme, bin) - low);
}

uint64_t loci_hist_percentile(const struct loci_hist *hist, double fraction)
{
	double goal = fraction * loci_hist_total(hist), sum = 0;

	for (uint32_t i = 0; i < hist->n_bins; i++) {
		sum += hist->weight[i];
		if (sum >= goal && sum > 0)
			return loci_bin_high(hist->scheme, i);
	}
	return LOCI_INFINITE;
}
