// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"

#include "model/bins.h"

#include <stdlib.h>

static void row_is(
	const struct loci_bins *bins, unsigned i, uint64_t low, uint64_t high, double share)
{
	CHECK(i < bins->n_rows);
	if (i >= bins->n_rows)
		return;
	CHECK_U64(bins->row[i].low, low);
	CHECK_U64(bins->row[i].high, high);
	CHECK_NEAR(bins->row[i].share[0], share, 1e-12);
}

static void check_edges(void)
{
	const uint64_t edge[] = { 768, 4096 };
	struct loci_hist hist;
	struct loci_bins bins;

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	loci_hist_add(&hist, 0, 40);
	loci_hist_add(&hist, 767, 10); /* the last that a cache of 768 holds */
	loci_hist_add(&hist, 768, 20); /* the first that it does not */
	loci_hist_add(&hist, 4095, 15);
	loci_hist_add(&hist, 5000, 5);
	hist.cold = 10;
	loci_bins_cut(&hist, NULL, edge, 2, 80, &bins);
	CHECK_U64(bins.n_rows, 5);
	row_is(&bins, 0, 0, 1, 0.4);
	row_is(&bins, 1, 1, 768, 0.1);
	row_is(&bins, 2, 768, 1024, 0.2);
	row_is(&bins, 3, 1024, 4096, 0.15);
	row_is(&bins, 4, 4096, 8192, 0.05);
	/* too many: the quietest joins its follower, but never across an edge */
	loci_bins_cut(&hist, NULL, edge, 2, 4, &bins);
	CHECK_U64(bins.n_rows, 4);
	row_is(&bins, 2, 768, 4096, 0.35);
	loci_hist_fini(&hist);
}

static void check_merging(void)
{
	struct loci_hist hist;
	struct loci_bins bins;
	double sum = 0;

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	for (unsigned i = 0; i < 40; i++)
		loci_hist_add(&hist, (1ull << i) - 1, 1 + i % 7);
	for (unsigned max = 3; max < 45; max++) {
		loci_bins_cut(&hist, NULL, NULL, 0, max, &bins);
		CHECK(bins.n_rows <= max);
		sum = 0;
		for (unsigned i = 0; i < bins.n_rows; i++) {
			sum += bins.row[i].share[0];
			CHECK_U64(bins.row[i].low, i ? bins.row[i - 1].high : 0);
		}
		CHECK_NEAR(sum, 1, 1e-3);
	}
	loci_bins_log2(&hist, &bins);
	CHECK_U64(bins.n_rows, 40);
	row_is(&bins, 39, 1ull << 38, 1ull << 39,
		loci_hist_at_least(&hist, 1ull << 38, NULL) / loci_hist_total(&hist));
	loci_hist_fini(&hist);
}

static void check_two(void)
{
	struct loci_hist first, second;
	struct loci_bins bins;

	loci_hist_init(&first, LOCI_SCHEME_FINE);
	loci_hist_init(&second, LOCI_SCHEME_FINE);
	loci_hist_add(&first, 100, 3);
	loci_hist_add(&second, 1000, 7);
	first.cold = 1;
	loci_bins_cut(&first, &second, NULL, 0, 10, &bins);
	CHECK_U64(bins.n_rows, 2);
	row_is(&bins, 0, 0, 128, 0.75);
	row_is(&bins, 1, 128, 1024, 0);
	CHECK_NEAR(bins.row[0].share[1], 0, 0);
	CHECK_NEAR(bins.row[1].share[1], 1, 0);
	loci_hist_fini(&first);
	loci_hist_fini(&second);
	loci_hist_init(&first, LOCI_SCHEME_FINE);
	loci_bins_cut(&first, NULL, NULL, 0, 10, &bins);
	CHECK_U64(bins.n_rows, 0);
	loci_bins_log2(&first, &bins);
	CHECK_U64(bins.n_rows, 0);
}

int main(void)
{
	check_edges();
	check_merging();
	check_two();
	return check_status();
}
