// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/sample_bounds.h"

#include <math.h>

#define NORMAL_95 1.96

uint64_t loci_sample_bounds(double error, struct loci_sample_bounds *ret)
{
	double square = NORMAL_95 * NORMAL_95 / (error * error);
	uint64_t most;

	/* a share errs most at one half */
	ret->absolute = (uint64_t)ceil(square / 4);
	ret->relative = (uint64_t)ceil(square * (1 - LOCI_SAMPLE_SHARE) / LOCI_SAMPLE_SHARE);
	/* shares that differ by 2 * error in sum agree to 1 - error */
	ret->aggregate = (uint64_t)ceil(square * LOCI_SAMPLE_BINS / 4);
	most = ret->absolute > ret->relative ? ret->absolute : ret->relative;
	return most > ret->aggregate ? most : ret->aggregate;
}
