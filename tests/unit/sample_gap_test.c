// SPDX-License-Identifier: GPL-2.0-or-later
/* Gaps between samples are geometric with the mean that was asked for, and as many samples are
 * taken as the bounds of Schuff et al. (2010, appendix A) say. */
#include "check.h"

#include "collect/runtime/gap.h"
#include "model/sample_bounds.h"

#include <math.h>

#define GAPS 200000

static void check_logarithm(void)
{
	for (uint64_t x = 1; x; x <<= 1)
		for (unsigned i = 0; i < 3; i++) {
			uint64_t at = x + x / 7 * i;

			CHECK_NEAR((double)loci_gap_exponential(at) / 0x1p32,
				-log((double)at / 0x1p64), 5e-9);
		}
	CHECK_NEAR((double)loci_gap_exponential(UINT64_MAX), 0, 4);
}

/* Mean, chance of the shortest gap, and of those longer than the mean. */
static void check_period(uint64_t period)
{
	uint64_t state = period, ones = 0, longer = 0;
	double sum = 0, p = 1 / (double)period, tail = pow(1 - p, (double)period);
	double spread = sqrt((1 - p) / (p * p) / GAPS);

	for (unsigned i = 0; i < GAPS; i++) {
		uint64_t gap = loci_gap_draw(&state, period);

		CHECK(gap >= 1);
		sum += (double)gap;
		ones += gap == 1;
		longer += gap > period;
	}
	CHECK_NEAR(sum / GAPS, (double)period, 4 * spread + 1e-9);
	CHECK_NEAR((double)ones / GAPS, p, 4 * sqrt(p * (1 - p) / GAPS) + 1e-9);
	CHECK_NEAR((double)longer / GAPS, tail, 4 * sqrt(tail * (1 - tail) / GAPS) + 1e-9);
}

/* The same seed gives the same gaps, another does not. */
static void check_seed(void)
{
	uint64_t a = 5, b = 5, c = 6, same = 0;

	for (unsigned i = 0; i < 100; i++) {
		uint64_t gap = loci_gap_draw(&a, 1000);

		CHECK_U64(loci_gap_draw(&b, 1000), gap);
		same += loci_gap_draw(&c, 1000) == gap;
	}
	CHECK(same < 10);
}

/* 76,832 samples are the paper's figure for 200 bins and an error of 10 % in sum. */
static void check_bounds(void)
{
	struct loci_sample_bounds bounds;

	CHECK_U64(loci_sample_bounds(0.05, &bounds), bounds.relative);
	CHECK_U64(bounds.aggregate, 76832);
	CHECK_U64(bounds.absolute, 385);
	CHECK_U64(bounds.relative, 152128);
	loci_sample_bounds(0.001, &bounds);
	CHECK_U64(bounds.absolute, 960400);
}

int main(void)
{
	static const uint64_t periods[] = { 1, 2, 3, 7, 50, 1000, 1000000 };

	check_logarithm();
	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
		check_period(periods[i]);
	check_seed();
	check_bounds();
	return check_status();
}
