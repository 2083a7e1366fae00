// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms of many owners against plain arrays. */
#include "check.h"
#include "rnd.h"

#include "analyse/spread.h"
#include "engine/stack.h"

#include <stdlib.h>
#include <string.h>

#define OWNERS 50

static void check_bins(void)
{
	for (unsigned bit = 0; bit < 63; bit++)
		for (int near = -3; near <= 3; near++) {
			uint64_t distance = (1ull << bit) + (uint64_t)near;

			if (distance < 1ull << 63)
				CHECK_U64(loci_spread_bin(distance), loci_bin_coarse(distance));
		}
	for (unsigned i = 0; i < 5000; i++)
		CHECK_U64(loci_spread_bin(i), loci_bin_coarse(i));
	CHECK_U64(loci_spread_bin(LOCI_INFINITE), LOCI_SPREAD_COLD);
	CHECK_U64(loci_spread_bin(LOCI_UNSAMPLED), LOCI_SPREAD_UNSAMPLED);
}

static void count(struct loci_spread *spread, uint32_t owner, unsigned bin)
{
	loci_spread_near_count(spread, owner, bin);
	if (bin >= LOCI_SPREAD_NEAR)
		CHECK(loci_spread_far_count(&spread->far[owner], bin, 1) == 0);
}

/* Owners that have few far counts, and such that have many, of all bins. */
static void check_counts(void)
{
	static uint64_t want[OWNERS][256];
	struct loci_spread spread = { 0 };
	unsigned flat = 0;

	CHECK(loci_spread_reserve(&spread, OWNERS) == 0);
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t owner = (uint32_t)(rnd(OWNERS) * rnd(OWNERS) / OWNERS);
		unsigned bin =
			rnd(owner + 2) ? (unsigned)rnd(LOCI_SPREAD_NEAR) : (unsigned)rnd(256);

		count(&spread, owner, bin);
		want[owner][bin]++;
		if (rnd(100) == 0) {
			uint64_t n = rnd(1ull << 34);

			CHECK(loci_spread_add(&spread, owner, bin, n) == 0);
			want[owner][bin] += n;
			CHECK(loci_spread_near_clear(&spread) == 0);
		}
	}
	for (uint32_t i = 0; i < OWNERS; i++) {
		uint64_t bins[256] = { 0 };

		loci_spread_collect(&spread, i, bins);
		CHECK(!memcmp(bins, want[i], sizeof(bins)));
		flat += spread.far[i].flat != NULL;
	}
	CHECK(flat > 5 && flat < OWNERS);
	loci_spread_fini(&spread);
}

/* As pairs are counted: any bin, the same one mostly, or all of them. */
static void check_far(void)
{
	for (unsigned n_bins = 1; n_bins <= 256; n_bins *= 2) {
		struct loci_spread_far far = { 0 };
		uint64_t bins[256] = { 0 }, want[256] = { 0 };

		for (unsigned i = 0; i < 3000; i++) {
			unsigned bin = rnd(4) ? 30 % n_bins : (unsigned)rnd(n_bins);

			uint32_t n = rnd(3) ? 1 : (uint32_t)rnd(1u << 30); /* carries, too */

			CHECK(loci_spread_far_count(&far, bin, n) == 0);
			want[bin] += n;
		}
		loci_spread_far_collect(&far, bins);
		CHECK(!memcmp(bins, want, sizeof(bins)));
		CHECK((far.flat != NULL) == (n_bins > 1));
		loci_spread_far_fini(&far);
	}
}

/* Counters of 32 bits hold more than that. */
static void check_carry(void)
{
	struct loci_spread spread = { 0 };
	uint64_t bins[256] = { 0 };

	CHECK(loci_spread_reserve(&spread, 1) == 0);
	for (unsigned i = 0; i < 100; i++)
		count(&spread, 0, 40 + i % 3);
	spread.near[0][3] = UINT32_MAX;
	spread.near[0][4] = LOCI_SPREAD_NEAR_COUNTS;
	CHECK(loci_spread_near_clear(&spread) == 0);
	CHECK_U64(spread.near[0][3], 0);
	CHECK_U64(spread.near[0][4], LOCI_SPREAD_NEAR_COUNTS); /* there is room for as many */
	count(&spread, 0, 4);
	count(&spread, 0, 3);
	count(&spread, 0, 3);
	count(&spread, 0, 3 + LOCI_SPREAD_NEAR);
	spread.far[0].flat[40 - LOCI_SPREAD_FLAT_FROM] = UINT32_MAX - 1;
	count(&spread, 0, 40);
	count(&spread, 0, 40);
	count(&spread, 0, 40);
	loci_spread_collect(&spread, 0, bins);
	CHECK_U64(bins[3], (1ull << 32) + 1);
	CHECK_U64(bins[4], LOCI_SPREAD_NEAR_COUNTS + 1ull);
	CHECK_U64(bins[3 + LOCI_SPREAD_NEAR], 1);
	CHECK(bins[40] > 1ull << 32 && bins[40] < (1ull << 32) + 100);
	loci_spread_fini(&spread);
}

int main(void)
{
	check_bins();
	check_counts();
	check_far();
	check_carry();
	return check_status();
}
