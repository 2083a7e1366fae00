// SPDX-License-Identifier: GPL-2.0-or-later
/* The error of what samples say, against binomial probabilities. */
#include "analyse/sample_sum.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>

/* Of n samples so many are far. */
static double error_of(double n, double far)
{
	struct loci_sample_sum sum;
	double error;

	loci_sample_sum_init(&sum);
	sum.weight = sum.square = sum.touches = n;
	if (n > far)
		CHECK(loci_hist_add_several(&sum.time, 1, n - far, n - far) == 0);
	sum.time.cold = far;
	error = loci_sample_sum_error(&sum);
	loci_sample_sum_fini(&sum);
	return error;
}

/* Of k or fewer, or k or more, that happen with probability p. */
static double tail(double n, double k, double p, bool below)
{
	double sum = 0;

	for (double i = below ? 0 : k; i <= (below ? k : n); i++)
		sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
			(i > 0 ? i * log(p) : 0) + (n > i ? (n - i) * log1p(-p) : 0));
	return sum;
}

/* A truth farther away than the error would seldom have given these samples: on either side one
 * time in 40, by Wilson's intervals, which of a few samples hold less. */
static void check_error(double n, double far)
{
	double p = far / n, error = error_of(n, far) / 100, seldom = n < 100 ? 0.21 : 0.045;

	CHECK(error > 0 && error <= 1);
	CHECK(p + error >= 1 || tail(n, far, p + error, true) < seldom);
	CHECK(p - error <= 0 || tail(n, far, p - error, false) < seldom);
}

/* Half of the touches are far, told by few samples that weigh as many: the error is that of these.
 */
static void check_weights(void)
{
	const double near = 1000, far = 10, weight = near / far;
	struct loci_sample_sum sum;

	loci_sample_sum_init(&sum);
	sum.weight = sum.touches = 2 * near;
	sum.square = near + far * weight * weight;
	CHECK(loci_hist_add_several(&sum.time, 1, near, near) == 0);
	CHECK(loci_hist_add_several(&sum.time, 1000, near, far * weight * weight) == 0);
	CHECK_NEAR(loci_sample_sum_effective(&sum), 39.6, 0.01);
	CHECK_NEAR(loci_sample_sum_error(&sum), 100 * 1.96 / 2 / sqrt(39.6 + 1.96 * 1.96), 0.5);
	/* one in twenty */
	sum.weight = sum.touches = near + near / 19;
	sum.square = near + far * weight * weight / 19 / 19;
	loci_hist_fini(&sum.time);
	loci_hist_init(&sum.time, LOCI_SCHEME_FINE);
	sum.time.square = calloc(1, sizeof(double));
	CHECK(loci_hist_add_several(&sum.time, 1, near, near) == 0);
	CHECK(loci_hist_add_several(&sum.time, 1000, near / 19, far * weight * weight / 19 / 19) ==
		0);
	CHECK(loci_sample_sum_error(&sum) > 100 * 1.96 * 0.05 / sqrt(far) * 0.95);
	loci_sample_sum_fini(&sum);
}

int main(void)
{
	static const double sizes[] = { 1, 3, 10, 100, 1000, 5000 };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (unsigned part = 0; part <= 4; part++)
			check_error(sizes[i], round(sizes[i] * part / 4));
	CHECK_NEAR(error_of(3, 3), 56.2, 0.1);
	CHECK_NEAR(error_of(100, 0), 3.7, 0.01);
	CHECK_NEAR(error_of(2000, 1000), 2.19, 0.01);
	CHECK_NEAR(error_of(0, 0), 100, 1e-9); /* nothing is known */
	check_weights();
	return check_status();
}
