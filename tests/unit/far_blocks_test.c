// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets of blocks, against a flag for each block. */
#include "check.h"
#include "collect/runtime/far_blocks.h"
#include "rnd.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS 300000

/* Sweeps, single ones and long ranges, near block `base`. */
static void check_random(struct loci_far_blocks *far, bool *is_in, uint64_t base)
{
	uint64_t n = 0;

	memset(far, 0, sizeof(*far));
	memset(is_in, 0, BLOCKS * sizeof(*is_in));
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t of = i % 100 ? 1 + rnd(5) : rnd(2000);
		uint64_t first = rnd(BLOCKS - of);

		CHECK(loci_far_add(far, base + first, of));
		for (uint64_t k = 0; k < of; k++) {
			n += !is_in[first + k];
			is_in[first + k] = true;
		}
		if (far->n != n)
			CHECK_FAIL("%llu blocks, want %llu, base %llx", (unsigned long long)far->n,
				(unsigned long long)n, (unsigned long long)base);
	}
}

/* One block of 64, as far as there is room; what is in it is still found then. */
static void check_full(struct loci_far_blocks *far)
{
	uint64_t n = 0;

	memset(far, 0, sizeof(*far));
	while (loci_far_add(far, n * 64, 1))
		n++;
	CHECK_U64(n, LOCI_FAR_SLOTS / 4 * 3);
	CHECK_U64(far->n, n);
	CHECK(loci_far_add(far, 0, 64));
	CHECK_U64(far->n, n + 63);
	CHECK(!loci_far_add(far, (n - 1) * 64 + 1, 64));
}

int main(void)
{
	struct loci_far_blocks *far = calloc(1, sizeof(*far));
	bool *is_in = calloc(BLOCKS, sizeof(*is_in));

	CHECK(far && is_in);
	check_random(far, is_in, 0);
	check_random(far, is_in, UINT64_C(0x7fffffff0000) >> 3);
	check_random(far, is_in, UINT64_MAX - BLOCKS - 64);
	check_full(far);
	free(far);
	free(is_in);
	return check_status();
}
