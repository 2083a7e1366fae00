// SPDX-License-Identifier: GPL-2.0-or-later
/* Distinct blocks between two touches, against looking at each of them again. */
#include "check.h"
#include "collect/runtime/passed.h"

#include <stdlib.h>

static uint64_t touched[3 * LOCI_PASSED];

static uint64_t naive(uint64_t from, uint64_t to, uint64_t except)
{
	uint64_t distinct = 0;

	for (uint64_t i = from; i < to; i++) {
		uint64_t before = from;

		while (before < i && touched[before] != touched[i])
			before++;
		distinct += before == i && touched[i] != except;
	}
	return distinct;
}

static void check_stretches(struct loci_passed *passed, uint64_t blocks)
{
	uint64_t state = blocks, n = 0;

	passed->n = 0;
	for (unsigned i = 0; i < 2 * LOCI_PASSED; i++) {
		uint64_t of, first, length;

		state = state * UINT64_C(6364136223846793005) + 1;
		of = 1 + (state >> 60) % 3; /* one reference, of so many blocks */
		first = (state >> 30) % blocks;
		loci_passed_add(passed, first, of);
		for (uint64_t k = 0; k < of && n < 3 * LOCI_PASSED; k++)
			touched[n++] = first + k;
		length = (state >> 20) % 400;
		if (i % 37 || length > n || n == 3 * LOCI_PASSED)
			continue;
		CHECK_U64(loci_passed_distinct(passed, n - length, n, UINT64_MAX),
			naive(n - length, n, UINT64_MAX) + 1);
		CHECK_U64(loci_passed_distinct(passed, n - length, n - length / 2, first),
			naive(n - length, n - length / 2, first) + 1);
	}
}

/* As many as are remembered, and one more. */
static void check_ends(struct loci_passed *passed)
{
	passed->n = 0;
	loci_passed_add(passed, 100, LOCI_PASSED);
	CHECK_U64(loci_passed_distinct(passed, 0, LOCI_PASSED, 0), LOCI_PASSED + 1);
	CHECK_U64(loci_passed_distinct(passed, 0, 0, 0), 1);
	CHECK_U64(loci_passed_distinct(passed, 0, LOCI_PASSED + 1, 0), 0);
	CHECK_U64(loci_passed_distinct(passed, 2, 1, 0), 0);
	loci_passed_add(passed, 7, 1);
	CHECK_U64(loci_passed_distinct(passed, 0, 5, 0), 0);
	CHECK_U64(loci_passed_distinct(passed, 1, LOCI_PASSED + 1, 0), LOCI_PASSED + 1);
	/* a range of more blocks than are remembered */
	loci_passed_add(passed, 0, UINT64_C(1) << 40);
	CHECK_U64(passed->n, (UINT64_C(1) << 40) + LOCI_PASSED + 1);
	CHECK_U64(passed->block[(passed->n - 1) % LOCI_PASSED], (UINT64_C(1) << 40) - 1);
	CHECK_U64(loci_passed_distinct(passed, passed->n - 10, passed->n, 0), 11);
}

int main(void)
{
	struct loci_passed *passed = calloc(1, sizeof(*passed));

	CHECK(passed);
	check_stretches(passed, 3);
	check_stretches(passed, 100);
	check_stretches(passed, UINT64_C(1) << 33);
	check_ends(passed);
	free(passed);
	return check_status();
}
