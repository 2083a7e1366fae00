// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/accuracy_random.h"

#include "model/convert.h"
#include "model/curve.h"

#include <math.h>
#include <stddef.h>

void loci_accuracy_random(const struct loci_hist *stack, const struct loci_hist *time,
	double distinct_blocks, struct loci_accuracy_random *ret)
{
	unsigned n = 0;

	*ret = (struct loci_accuracy_random){ .worst_blocks = 1 };
	if (!(loci_hist_total(stack) > 0))
		return;
	/* up to the first size that holds everything */
	for (uint64_t blocks = 1; blocks < 1ull << 62; blocks *= 2) {
		double points = 100 *
			fabs(loci_curve_ratio(stack, blocks) -
				loci_convert_statcache(time, distinct_blocks, blocks));

		ret->mean_points += points;
		n++;
		if (points > ret->worst_points) {
			ret->worst_points = points;
			ret->worst_blocks = blocks;
		}
		if ((double)blocks >= distinct_blocks)
			break;
	}
	ret->mean_points /= n;
}
