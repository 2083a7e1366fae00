// SPDX-License-Identifier: GPL-2.0-or-later
/* Miss-ratio curves and knees of histograms with known answers. */
#include "check.h"

#include "model/curve.h"

static void add(struct loci_hist *hist, uint64_t value, double weight)
{
	CHECK(loci_hist_add(hist, value, weight) == 0);
}

/* A cyclic sweep of M blocks, R rounds: cold M, all else at M - 1. */
static void sweep(uint64_t blocks, double rounds)
{
	struct loci_hist hist;
	struct loci_knee knee[4];

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	hist.cold = (double)blocks;
	add(&hist, blocks - 1, (double)blocks * (rounds - 1));
	CHECK_NEAR(loci_curve_ratio(&hist, 0), 1, 0);
	CHECK_NEAR(loci_curve_ratio(&hist, blocks / 2), blocks > 1 ? 1 : 1, 1e-12);
	CHECK_NEAR(loci_curve_ratio(&hist, 2 * blocks), 1 / rounds, 1e-12);
	CHECK_U64(loci_curve_knees(&hist, knee, 4), 1);
	/* just enough is the sweep's size, up to the next edge of a bin */
	CHECK_U64(knee[0].blocks, loci_bin_high(LOCI_SCHEME_FINE, loci_bin_fine(blocks - 1)));
	CHECK(knee[0].blocks >= blocks &&
		(double)knee[0].blocks <= (double)blocks * (1 + 1.0 / 64));
	CHECK_NEAR(knee[0].fall, 1 - 1 / rounds, 1e-12);
	loci_hist_fini(&hist);
}

int main(void)
{
	struct loci_hist hist;
	struct loci_knee knee[8];

	sweep(1, 5);
	sweep(2, 3);
	sweep(100, 10);
	sweep(1024, 4);
	sweep(1025, 4);
	sweep(819200, 40);

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	CHECK_U64(loci_curve_knees(&hist, knee, 8), 0);
	CHECK_NEAR(loci_curve_ratio(&hist, 1), 0, 0);
	/* two loops, one inside the other, and a trace of a third below a point */
	hist.cold = 1000;
	add(&hist, 49, 60000);
	add(&hist, 4000, 38500);
	add(&hist, 100000, 500);
	CHECK_U64(loci_curve_knees(&hist, knee, 8), 2);
	CHECK_U64(knee[0].blocks, 50);
	CHECK_NEAR(knee[0].fall, .6, 1e-12);
	CHECK_U64(knee[1].blocks, 4016); /* bins of 16 from 2048 to 4096 */
	CHECK_NEAR(knee[1].fall, .385, 1e-12);
	CHECK_U64(loci_curve_knees(&hist, knee, 1), 1);
	/* adjacent doublings are one knee, up to the outermost that counts */
	add(&hist, 2000, 30000);
	CHECK_U64(loci_curve_knees(&hist, knee, 8), 2);
	CHECK_U64(knee[1].blocks, 4016);
	CHECK_NEAR(knee[1].fall, 68500 / 130000.0, 1e-12);
	/* the last hundredth of a fall does not count for its size */
	add(&hist, 4090, 300);
	CHECK_U64(loci_curve_knees(&hist, knee, 8), 2);
	CHECK_U64(knee[1].blocks, 4016);
	add(&hist, 4090, 3000);
	CHECK_U64(loci_curve_knees(&hist, knee, 8), 2);
	CHECK_U64(knee[1].blocks, 4096);
	loci_hist_fini(&hist);

	/* uniform over M blocks: every distance below M alike, one knee at 99 % of M */
	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	for (uint64_t d = 0; d < 1 << 16; d++)
		add(&hist, d, 1);
	CHECK_U64(loci_curve_knees(&hist, knee, 8), 1);
	CHECK_NEAR((double)knee[0].blocks, 65536 * .99, 512);
	CHECK(knee[0].blocks >= 64881);
	CHECK_NEAR(knee[0].fall, 1 - 1.0 / 64, 1e-12); /* below 1024 no doubling falls a point */
	/* within a bin the ratio is interpolated, at edges exact */
	CHECK_NEAR(loci_curve_ratio(&hist, 32768), .5, 1e-12);
	CHECK_NEAR(loci_curve_ratio(&hist, 12345), 1 - 12345 / 65536.0, 1e-12);
	loci_hist_fini(&hist);

	/* a fall below a point in the next doubling is no part of a small knee */
	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	hist.cold = 7910;
	add(&hist, 49, 2000);
	add(&hist, 100, 90);
	CHECK_U64(loci_curve_knees(&hist, knee, 8), 1);
	CHECK_U64(knee[0].blocks, 50);
	loci_hist_fini(&hist);

	/* all hits at distance 0: one block is enough */
	loci_hist_init(&hist, LOCI_SCHEME_COARSE);
	add(&hist, 0, 99);
	hist.coherence = 1;
	CHECK_U64(loci_curve_knees(&hist, knee, 8), 1);
	CHECK_U64(knee[0].blocks, 1);
	CHECK_NEAR(loci_curve_ratio(&hist, 1), .01, 1e-12);
	loci_hist_fini(&hist);
	return check_status();
}
