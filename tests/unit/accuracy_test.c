// SPDX-License-Identifier: GPL-2.0-or-later
/* S and miss-ratio errors of histograms with known answers. */
#include "check.h"

#include "model/accuracy.h"

static void add(struct loci_hist *hist, uint64_t value, double weight)
{
	CHECK(loci_hist_add(hist, value, weight) == 0);
}

int main(void)
{
	struct loci_hist a, b, none;
	struct loci_accuracy s;

	loci_hist_init(&a, LOCI_SCHEME_FINE);
	loci_hist_init(&b, LOCI_SCHEME_FINE);
	loci_hist_init(&none, LOCI_SCHEME_FINE);

	/* identical, also when one has ten times the weight */
	add(&a, 3, 50);
	add(&a, 100, 30);
	add(&a, 5000, 20);
	a.cold = 10;
	add(&b, 3, 500);
	add(&b, 100, 300);
	add(&b, 5000, 200);
	b.cold = 100;
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_rdx, 1, 1e-12);
	CHECK_NEAR(s.s_rdx_smooth, 1, 1e-12);
	CHECK_NEAR(s.s_log2, 1, 1e-12);
	CHECK_NEAR(s.s_beyond, 1, 1e-12);
	CHECK_NEAR(s.s_schuff, 1, 1e-12);
	CHECK_NEAR(s.worst_points, 0, 1e-12);
	CHECK_NEAR(s.mean_points, 0, 1e-12);
	/* S leaves infinite distances out, miss ratios do not */
	b.cold = 1100;
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_log2, 1, 1e-12);
	CHECK_NEAR(s.worst_points, 100 * (1100 / 2100.0 - 10 / 110.0), 1e-9);
	CHECK_U64(s.worst_blocks, 8192);
	loci_hist_fini(&a);
	loci_hist_fini(&b);

	/* disjoint in every set of bins: 4 blocks of 64 bytes are in RDX's first bin, 1000 are not
	 */
	add(&a, 4, 7);
	add(&b, 1000, 9);
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_rdx, 0, 1e-12);
	CHECK_NEAR(s.s_log2, 0, 1e-12);
	CHECK_NEAR(s.s_schuff, 0, 1e-12);
	CHECK_NEAR(s.s_beyond, 0, 1e-12); /* one has something there, the other nothing */
	CHECK_NEAR(s.worst_points, 100, 1e-12);
	CHECK_U64(s.worst_blocks, 8);
	CHECK_NEAR(s.mean_points, 100 * 7 / 11.0, 1e-9); /* 8..512 of 1..1024 blocks */
	loci_hist_fini(&b);

	/* both in RDX's first bin, which hides what log2 bins show */
	add(&b, 40, 7);
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_rdx, 1, 1e-12);
	CHECK_NEAR(s.s_log2, 0, 1e-12);
	CHECK(isnan(s.s_beyond));
	/* with larger blocks the same distances are more bytes: 4 * 4K is not below 4K */
	loci_accuracy(&a, &b, 4096, &s);
	CHECK_NEAR(s.s_rdx, 0, 1e-12);
	loci_hist_fini(&a);
	loci_hist_fini(&b);

	/* half of it one bin off: S 1/2; smoothed over two, half of that is forgiven */
	add(&a, 128, 10); /* 8 KiB */
	add(&a, 600, 10);
	add(&b, 256, 10); /* 16 KiB */
	add(&b, 600, 10);
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_rdx, .5, 1e-12);
	CHECK_NEAR(s.s_rdx_smooth, .75, 1e-12);
	CHECK_NEAR(s.s_beyond, .5, 1e-12);
	CHECK_NEAR(s.s_log2, .5, 1e-12);
	CHECK_NEAR(s.worst_points, 50, 1e-12);
	CHECK_U64(s.worst_blocks, 256);
	loci_hist_fini(&b);

	/* ten bins per power of two tell apart what log2 bins do not: 128 and 150 */
	add(&b, 150, 10);
	add(&b, 600, 10);
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_log2, 1, 1e-12);
	CHECK_NEAR(s.s_schuff, .5, 1e-12);
	CHECK_NEAR(s.s_schuff_far, .5, 1e-12);

	/* distance 0 apart, and it alone: 30 of 60 and 5 of 25 there, beyond as before */
	add(&a, 0, 20);
	add(&b, 0, 5);
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_schuff_far, .5, 1e-12);
	CHECK_NEAR(s.s_schuff, 1 - (.5 - .2 + .25 + .4 + (.4 - .25)) / 2, 1e-12);
	loci_hist_fini(&a);
	add(&a, 128, 10);
	add(&a, 600, 10);
	loci_hist_fini(&b);

	/* distances past the last edge fall into the last bin: 1 GiB and 64 GiB of 64-byte blocks
	 */
	loci_hist_fini(&a);
	add(&a, 1ull << 24, 1);
	add(&b, 1ull << 30, 1);
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_rdx, 1, 1e-12);
	CHECK_NEAR(s.s_beyond, 1, 1e-12);
	CHECK_NEAR(s.s_log2, 0, 1e-12);

	/* the last window of the smoothed S is the last two bins: 512 MiB and 1 GiB */
	loci_hist_fini(&b);
	add(&b, 1ull << 23, 1);
	loci_accuracy(&a, &b, 64, &s);
	CHECK_NEAR(s.s_rdx, 0, 1e-12);
	CHECK_NEAR(s.s_rdx_smooth, .75, 1e-12);

	/* nothing to compare agrees; something with nothing does not */
	loci_accuracy(&none, &none, 64, &s);
	CHECK_NEAR(s.s_rdx, 1, 0);
	CHECK(isnan(s.s_beyond));
	loci_accuracy(&a, &none, 64, &s);
	CHECK_NEAR(s.s_rdx, 0, 0);
	loci_hist_fini(&a);
	loci_hist_fini(&b);
	return check_status();
}
