// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands around a sample: the last references by site, and fewer of them, evenly, where they
 * are of too many sites. */
#include "check.h"
#include "collect/runtime/around.h"

static uint64_t touches_of(const struct loci_around_shares *shares, uint64_t site)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < shares->n; i++)
		sum += shares->share[i].site == site ? shares->share[i].touches : 0;
	return sum;
}

/* The first ones, of which there are few. */
static void check_few(void)
{
	struct loci_around around = { 0 };
	struct loci_around_shares shares;
	uint64_t words[LOCI_AROUND_WORDS];

	loci_around_share_out(&around, &shares);
	CHECK_U64(shares.n_refs, 0);
	CHECK_U64(loci_around_put(&shares, words), 1);
	loci_around_add(&around, 7, 1);
	loci_around_add(&around, 9, 4);
	loci_around_add(&around, 7, 2);
	loci_around_share_out(&around, &shares);
	CHECK_U64(shares.n_refs, 3);
	CHECK_U64(shares.n, 2);
	CHECK_U64(touches_of(&shares, 7), 3);
	CHECK_U64(touches_of(&shares, 9), 4);
	CHECK_U64(loci_around_put(&shares, words), 5);
	CHECK_U64(words[0], 3);
	CHECK_U64(words[1], 7); /* from the last one back */
	CHECK_U64(words[2], 3);
	CHECK_U64(words[3], 9);
	CHECK_U64(words[4], 4);
}

/* Older ones are forgotten. */
static void check_last(void)
{
	struct loci_around around = { 0 };
	struct loci_around_shares shares;

	for (unsigned i = 0; i < 1000; i++)
		loci_around_add(&around, i < 1000 - LOCI_AROUND ? 1 : 2 + i % 4, 1);
	loci_around_share_out(&around, &shares);
	CHECK_U64(shares.n_refs, LOCI_AROUND);
	CHECK_U64(shares.n, 4);
	CHECK_U64(touches_of(&shares, 1), 0);
	for (unsigned site = 2; site < 6; site++)
		CHECK_U64(touches_of(&shares, site), LOCI_AROUND / 4);
}

/* Too many sites: over all samples each has its part nevertheless. */
static void check_many(void)
{
	const unsigned sites = 48, rounds = 100;
	struct loci_around around = { 0 };
	struct loci_around_shares shares;
	double sum[48] = { 0 };

	for (unsigned i = 0; i < sites * (rounds + 2); i++) {
		loci_around_add(&around, i % sites, 1 + i % 3);
		if (i < 2 * sites)
			continue;
		loci_around_share_out(&around, &shares);
		CHECK_U64(shares.n_refs, LOCI_AROUND_SHARES);
		CHECK_U64(touches_of(&shares, i % sites) > 0, 1);
		for (unsigned site = 0; site < sites; site++)
			sum[site] += (double)touches_of(&shares, site) / shares.n_refs;
	}
	for (unsigned site = 0; site < sites; site++)
		CHECK_NEAR(sum[site], rounds * (1 + site % 3), 1e-6);
}

int main(void)
{
	check_few();
	check_last();
	check_many();
	return check_status();
}
