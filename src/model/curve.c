// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/curve.h"

#define KNEE_FALL       0.01 /* of all touches, within a doubling */
#define KNEE_NEGLIGIBLE 0.01 /* of the knee's own fall */

double loci_curve_ratio(const struct loci_hist *stack, uint64_t blocks)
{
	double total = loci_hist_total(stack);

	if (!(total > 0))
		return 0;
	return (stack->cold + stack->coherence + loci_hist_at_least(stack, blocks, NULL)) / total;
}

/* Doubling 0 is from no block to one; doubling k > 0 from 2^(k-1) to 2^k blocks. */
static uint64_t doubling_end(unsigned k)
{
	return 1ull << k;
}

/* The smallest bin edge from which at most this weight lies below end. */
static uint64_t just_enough(const struct loci_hist *stack, uint64_t end, double negligible)
{
	uint32_t bin = loci_bin_of(stack->scheme, end);
	double rest = 0;

	while (bin > 0) {
		if (bin - 1 < stack->n_bins)
			rest += stack->weight[bin - 1];
		if (rest > negligible)
			break;
		bin--;
	}
	return loci_bin_low(stack->scheme, bin);
}

size_t loci_curve_knees(const struct loci_hist *stack, struct loci_knee *ret, size_t cap)
{
	double total = loci_hist_total(stack), before, run = 0;
	size_t n = 0;

	if (!(total > 0))
		return 0;
	before = loci_hist_at_least(stack, 0, NULL);
	for (unsigned k = 0; k < 64 && n < cap; k++) {
		double after = loci_hist_at_least(stack, doubling_end(k), NULL);
		double fall = before - after;
		bool is_part = fall >= KNEE_FALL * total;

		before = after;
		if (is_part)
			run += fall;
		if (run > 0 && (!is_part || k == 63)) {
			uint64_t end = doubling_end(is_part ? k : k - 1);

			ret[n].blocks = just_enough(stack, end, KNEE_NEGLIGIBLE * run);
			ret[n++].fall = run / total;
			run = 0;
		}
	}
	return n;
}
