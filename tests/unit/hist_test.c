// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"

#include "hist/hist.h"

static void check_bins(enum loci_scheme scheme, uint32_t bins)
{
	uint64_t low = 0;

	for (uint32_t bin = 0; bin < bins; bin++) {
		uint64_t high = loci_bin_high(scheme, bin);

		CHECK_U64(loci_bin_low(scheme, bin), low);
		CHECK(high > low);
		CHECK_U64(loci_bin_of(scheme, low), bin);
		CHECK_U64(loci_bin_of(scheme, high - 1), bin);
		low = high;
	}
	CHECK_U64(low, LOCI_INFINITE);
	for (unsigned bit = 0; bit < 64; bit++) /* every power of two is an edge */
		CHECK_U64(loci_bin_low(scheme, loci_bin_of(scheme, 1ull << bit)), 1ull << bit);
}

static void check_linear(void)
{
	struct loci_hist hist;

	loci_hist_init(&hist, LOCI_SCHEME_LINEAR);
	for (uint64_t d = 0; d < 64; d++)
		CHECK(loci_hist_add(&hist, d, 1) == 0);
	for (uint64_t ways = 0; ways <= 70; ways++)
		CHECK_NEAR(loci_hist_at_least(&hist, ways, NULL), ways < 64 ? 64 - (double)ways : 0,
			0);
	CHECK_U64(loci_bin_high(LOCI_SCHEME_LINEAR, 63), 64);
	loci_hist_fini(&hist);
}

static void check_sums(void)
{
	struct loci_hist hist, copy;
	double uncertain;

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	for (uint64_t d = 0; d < 1024; d++)
		loci_hist_add(&hist, d, 1);
	hist.cold = 10;
	CHECK_NEAR(loci_hist_total(&hist), 1034, 0);
	CHECK_NEAR(loci_hist_at_least(&hist, 100, &uncertain), 924, 0);
	CHECK_NEAR(uncertain, 0, 0);
	CHECK_NEAR(loci_hist_at_least(&hist, 513, &uncertain), 511, 1e-9);
	CHECK_NEAR(uncertain, 4, 0);
	CHECK_NEAR(loci_hist_at_least(&hist, 1 << 20, NULL), 0, 0);
	CHECK_U64(loci_hist_percentile(&hist, 0.5), 520);
	CHECK_U64(loci_hist_percentile(&hist, 0.9999), LOCI_INFINITE);
	CHECK(loci_hist_copy(&copy, &hist) == 0);
	CHECK(loci_hist_merge(&copy, &hist) == 0);
	CHECK_NEAR(loci_hist_total(&copy), 2068, 0);
	loci_hist_fini(&copy);
	loci_hist_fini(&hist);
}

int main(void)
{
	check_bins(LOCI_SCHEME_FINE, LOCI_FINE_BINS);
	check_bins(LOCI_SCHEME_COARSE, LOCI_COARSE_BINS);
	check_linear();
	check_sums();
	return check_status();
}
