// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"

#include "model/binomial.h"

#include <stdlib.h>

/* All of P(X >= k) by n additions of one trial, in long double. */
static void small(int n, double p)
{
	long double *point = calloc((size_t)n + 2, sizeof(*point)), tail = 0;

	if (!point)
		abort();
	point[0] = 1;
	for (int i = 1; i <= n; i++)
		for (int k = i; k >= 0; k--)
			point[k] = point[k] * (1 - (long double)p) + (k ? point[k - 1] * p : 0);
	for (int k = n; k >= 0; k--) {
		tail += point[k];
		CHECK_NEAR(loci_binomial_point(n, p, k), (double)point[k],
			1e-13 + 1e-10 * (double)point[k]);
		CHECK_NEAR(loci_binomial_at_least(n, p, k), (double)tail, 1e-12);
	}
	free(point);
}

/* Many trials, few successes: Poisson, up to n p^2. */
static void rare(double n, double mean)
{
	long double term = expl(-mean), below = 0;

	for (int k = 0; k < 200; k++) {
		CHECK_NEAR(loci_binomial_at_least(n, mean / n, k), (double)(1 - below),
			2 * mean * mean / n + 1e-12);
		below += term;
		term *= (long double)mean / (k + 1);
	}
}

/* Just above the largest variance that is summed, against sums. */
static void large(double n, double p)
{
	double mean = n * p, sd = sqrt(mean * (1 - p));

	CHECK(sd * sd > LOCI_BINOMIAL_SUMMED);
	for (double z = -6; z <= 6; z += 0.25) {
		double k = floor(mean + z * sd), sum = 0;

		for (double i = k; i <= mean + 9 * sd; i++)
			sum += loci_binomial_point(n, p, i);
		CHECK_NEAR(loci_binomial_at_least(n, p, k), sum, 2e-5);
	}
}

int main(void)
{
	small(1, .3);
	small(2, .5);
	small(7, .9);
	small(40, 1.0 / 64);
	small(300, .3);
	small(1000, 1.0 / 12);
	rare(1e9, 8);
	rare(1e12, 60);
	rare(1e15, .5);
	large(20000, .5);
	large(1e6, .0045);
	large(1e9, 1e-5);
	large(30000, .8);
	/* the ends */
	CHECK_NEAR(loci_binomial_at_least(10, .5, 0), 1, 0);
	CHECK_NEAR(loci_binomial_at_least(10, .5, 11), 0, 0);
	CHECK_NEAR(loci_binomial_at_least(0, .5, 1), 0, 0);
	CHECK_NEAR(loci_binomial_at_least(10, 1, 10), 1, 0);
	CHECK_NEAR(loci_binomial_at_least(10, 0, 1), 0, 0);
	CHECK_NEAR(loci_binomial_point(10, 1, 10), 1, 0);
	CHECK_NEAR(loci_binomial_point(10, 0, 1), 0, 0);
	CHECK_NEAR(loci_binomial_at_least(1e9, 1e-4, 8), 1, 0);
	CHECK_NEAR(loci_binomial_at_least(1e3, 1e-6, 64), 0, 1e-100);
	return check_status();
}
