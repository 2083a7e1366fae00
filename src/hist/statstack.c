// SPDX-License-Identifier: GPL-2.0-or-later
#include "hist/statstack.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int loci_statstack_init(struct loci_statstack *statstack, const struct loci_hist *time)
{
	double total = loci_hist_total(time), above = total, f = 0;

	*statstack = (struct loci_statstack){ .scheme = time->scheme, .n_bins = time->n_bins };
	statstack->expected = calloc((size_t)time->n_bins + 1, sizeof(double));
	if (!statstack->expected)
		return -ENOMEM;
	/* above counts the distances from the bin on. A time distance of 0 cannot be; if some input
	 * has one it counts as 1. */
	for (uint32_t i = 0; i < time->n_bins && total > 0; i++) {
		double w = time->weight[i];
		double width = (double)loci_bin_high(time->scheme, i) -
			(double)loci_bin_low(time->scheme, i);

		/* sum over the bin's j of P(> j): those beyond it, and of its own, spread evenly,
		 * (width-1)/2 of width on average */
		if (i)
			f += width * ((above - w) + w * (width - 1) / (2 * width)) / total;
		statstack->expected[i + 1] = f;
		above = fmax(0, above - w);
	}
	statstack->beyond = total > 0 ? above / total : 0;
	return 0;
}

void loci_statstack_fini(struct loci_statstack *statstack)
{
	free(statstack->expected);
	statstack->expected = NULL;
}

uint64_t loci_statstack_distance(const struct loci_statstack *statstack, uint64_t time)
{
	uint32_t bin = loci_bin_of(statstack->scheme, time);
	double low, width, from;

	if (bin >= statstack->n_bins) {
		low = statstack->n_bins
			? (double)loci_bin_high(statstack->scheme, statstack->n_bins - 1)
			: 1;
		from = statstack->expected[statstack->n_bins];
		return (uint64_t)llround(from + fmax(0, (double)time - low) * statstack->beyond);
	}
	low = (double)loci_bin_low(statstack->scheme, bin);
	width = (double)loci_bin_high(statstack->scheme, bin) - low;
	from = statstack->expected[bin];
	return (uint64_t)llround(
		from + ((double)time - low) / width * (statstack->expected[bin + 1] - from));
}
