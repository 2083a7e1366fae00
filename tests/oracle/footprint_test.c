// SPDX-License-Identifier: GPL-2.0-or-later
/* Distinct bytes against a flag for every byte; samples of functions against the truth, as often as
 * their error says; limits. */
#include "check.h"

#include "analyse/footprint.h"

#include <stdlib.h>

#define SPAN (4u << 20)

static uint64_t state = 1;

static uint64_t any(uint64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

static uint8_t *flags; /* 1: loaded, 2: stored */

/* A sum of one footprint; function i is map[i]. */
static struct loci_footprint_sum sum_of(const struct loci_footprint *footprint)
{
	static const uint32_t map[4] = { 0, 1, 2, 3 };
	struct loci_footprint_sum sum = { 0 };
	uint32_t *all = calloc(footprint->sketch_cap + 4, sizeof(*all));

	if (!all)
		abort();
	memcpy(all, map, sizeof(map));
	CHECK(loci_footprint_add(&sum, footprint, all) == 0);
	free(all);
	return sum;
}

static void count(uint64_t want[3])
{
	memset(want, 0, 3 * sizeof(*want));
	for (size_t i = 0; i < SPAN; i++) {
		want[0] += flags[i] & 1;
		want[1] += flags[i] >> 1;
		want[2] += flags[i] != 0;
	}
}

/* References of all sizes, aligned or not, near the top of the address space or not. */
static void check_exact(uint64_t base, unsigned n)
{
	struct loci_footprint *footprint = loci_footprint_new(0);
	struct loci_footprint_sum sum;
	uint64_t want[3];

	memset(flags, 0, SPAN);
	for (unsigned i = 0; i < n; i++) {
		uint64_t at = any(SPAN / 4), size = any(20) ? 1 + any(64) : any(20000);
		bool stores = any(3) == 0;

		CHECK(loci_footprint_touch(footprint, base + at, size, stores, 1) == 0);
		for (uint64_t k = 0; k < size; k++)
			flags[at + k] |= stores ? 2 : 1;
	}
	sum = sum_of(footprint);
	count(want);
	CHECK_U64(sum.loaded_bytes, want[0]);
	CHECK_U64(sum.stored_bytes, want[1]);
	CHECK_U64(sum.touched_bytes, want[2]);
	loci_footprint_sum_fini(&sum);
	loci_footprint_free(footprint);
}

/* An error of 95 % holds that often, and is worth something. */
static void check_samples(void)
{
	unsigned within = 0, runs = 200;
	double worst = 0, bias = 0;

	for (unsigned i = 0; i < runs; i++) {
		struct loci_footprint *footprint = loci_footprint_new(0);
		uint64_t base = any(1u << 30) << 12, n = 20000 + any(200000), bytes = 0;
		struct loci_footprint_sum sum;

		for (uint64_t k = 0; k < n; k++) {
			uint64_t size = 1 + (k * 7 + i) % 8; /* of a word, and none twice */

			CHECK(loci_footprint_touch(footprint, base + 8 * k, size, k % 3 == 0, 2) ==
				0);
			bytes += size;
		}
		sum = sum_of(footprint);
		CHECK_U64(sum.touched_bytes, bytes);
		CHECK_U64(sum.n_functions, 1);
		CHECK_U64(sum.function[0].function, 2);
		{
			double error = 1.96 * sqrt(sum.function[0].variance);
			double off = sum.function[0].touched - (double)bytes;

			CHECK(error > 0);
			within += fabs(off) <= error;
			bias += off / (double)bytes;
			if (worst < error / (double)bytes)
				worst = error / (double)bytes;
		}
		loci_footprint_sum_fini(&sum);
		loci_footprint_free(footprint);
	}
	/* binomial: 190 expected, 3.1 the deviation */
	CHECK(within >= 178);
	CHECK(worst < 0.04);
	CHECK(fabs(bias / runs) < 0.005);
}

/* Few words: no error. A word seen often is one; loads and stores of it are told apart. */
static void check_small(void)
{
	struct loci_footprint *footprint = loci_footprint_new(0);
	struct loci_footprint_sum sum;

	for (unsigned round = 0; round < 3; round++)
		for (uint64_t k = 0; k < LOCI_SKETCH_WORDS; k++)
			CHECK(loci_footprint_touch(footprint, 4096 + 8 * k, 4, round == 1, 3) == 0);
	sum = sum_of(footprint);
	CHECK_NEAR(sum.function[0].touched, 4. * LOCI_SKETCH_WORDS, 0);
	CHECK_NEAR(sum.function[0].loaded, 4. * LOCI_SKETCH_WORDS, 0);
	CHECK_NEAR(sum.function[0].stored, 4. * LOCI_SKETCH_WORDS, 0);
	CHECK_NEAR(sum.function[0].variance, 0, 0);
	CHECK_U64(loci_footprint_words(&sum, 100), LOCI_SKETCH_WORDS);
	CHECK_U64(loci_footprint_words(&sum, 50), LOCI_SKETCH_WORDS / 2);
	loci_footprint_sum_fini(&sum);
	loci_footprint_free(footprint);
}

/* What is taken is counted, and nothing is left over a limit. */
static void check_limit(void)
{
	struct loci_footprint *footprint = loci_footprint_new(1u << 20);
	struct loci_footprint_sum sum;
	uint64_t at = 0;

	while (!footprint->dropped && at < 1u << 30) {
		CHECK(footprint->bytes <= 1u << 20);
		CHECK(loci_footprint_touch(footprint, at, 8, false, 1) == 0);
		at += 4096;
	}
	CHECK(at > 100 * 4096ull && at < 250 * 4096ull);
	CHECK(!footprint->page && !footprint->sketch && !footprint->bytes);
	CHECK(loci_footprint_touch(footprint, 0, 8, false, 1) == 0);
	sum = sum_of(footprint);
	CHECK(sum.dropped && sum.recorded);
	CHECK_U64(sum.touched_bytes, 0);
	loci_footprint_sum_fini(&sum);
	loci_footprint_free(footprint);
}

/* Two processes add up. */
static void check_sum(void)
{
	struct loci_footprint *one = loci_footprint_new(0), *two = loci_footprint_new(0);
	static const uint32_t first[64] = { 0, 7 }, second[64] = { 0, 0, 7 };
	struct loci_footprint_sum sum = { 0 };

	CHECK(loci_footprint_touch(one, 100, 10, false, 1) == 0);
	CHECK(loci_footprint_touch(two, 100, 10, true, 2) == 0);
	CHECK(loci_footprint_touch(two, 104, 4, true, 2) == 0);
	CHECK(loci_footprint_add(&sum, one, first) == 0 &&
		loci_footprint_add(&sum, two, second) == 0);
	CHECK_U64(sum.touched_bytes, 20);
	CHECK_U64(sum.loaded_bytes, 10);
	CHECK_U64(sum.n_functions, 1);
	CHECK_U64(sum.function[0].function, 7);
	CHECK_NEAR(sum.function[0].touched, 20, 0);
	/* uses by word: 1, 1 and 2, 1: of 5 the most used word has 2 */
	CHECK_U64(loci_footprint_words(&sum, 40), 1);
	CHECK_U64(loci_footprint_words(&sum, 45), 2);
	CHECK_U64(loci_footprint_words(&sum, 100), 4);
	loci_footprint_sum_fini(&sum);
	loci_footprint_free(one);
	loci_footprint_free(two);
}

int main(void)
{
	flags = malloc(SPAN);
	if (!flags)
		return 1;
	check_exact(0, 3000);
	check_exact(0x7fff00000123, 3000);
	check_exact(UINT64_MAX - SPAN, 300);
	check_samples();
	check_small();
	check_limit();
	check_sum();
	free(flags);
	return check_status();
}
