// SPDX-License-Identifier: GPL-2.0-or-later
/* Points by the saddle-point form of Loader (2000), which loses no digits where log-gamma
 * differences lose half of them (a thousand million trials); tails by summing points from the
 * nearer end; and for large variances the Edgeworth series. */
#include "model/binomial.h"

#include <float.h>
#include <math.h>

/* ln(n!) - ln(sqrt(2 pi n) (n/e)^n), n whole: what Stirling's formula leaves out. */
static double stirling_rest(double n)
{
	static const double small[16] = { 0, 0.0810614667953272582, 0.0413406959554092941,
		0.0276779256849983391, 0.0207906721037650931, 0.0166446911898211922,
		0.0138761288230707480, 0.0118967099458917701, 0.0104112652619720965,
		0.00925546218271273292, 0.00833056343336287126, 0.00757367548795184079,
		0.00694284010720952987, 0.00640899418800420707, 0.00595137011275884774,
		0.00555473355196280137 };
	double square = n * n;

	if (n < 16)
		return small[(int)n];
	return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / n;
}

/* x ln(x/mean) + mean - x without cancellation near x = mean. */
static double deviance(double x, double mean)
{
	double difference = x - mean, v, term, sum;

	if (fabs(difference) >= 0.1 * (x + mean))
		return x * log(x / mean) - difference;
	v = difference / (x + mean);
	sum = difference * v;
	term = 2 * x * v;
	for (int i = 3; i < 1000; i += 2) {
		double next;

		term *= v * v;
		next = sum + term / i;
		if (next == sum)
			break;
		sum = next;
	}
	return sum;
}

double loci_binomial_point(double n, double p, double k)
{
	double q = 1 - p, exponent;

	if (k < 0 || k > n)
		return 0;
	if (p <= 0 || p >= 1)
		return k == (p <= 0 ? 0 : n);
	if (k == 0)
		return exp(n * log1p(-p));
	if (k == n)
		return exp(n * log(p));
	exponent = stirling_rest(n) - stirling_rest(k) - stirling_rest(n - k) - deviance(k, n * p) -
		deviance(n - k, n * q);
	return exp(exponent) * sqrt(n / (2 * M_PI * k * (n - k)));
}

/* Sum of the points from k away from the mean, each from the one before. */
static double sum_tail(double n, double p, double k, int step)
{
	double odds = p / (1 - p), term = loci_binomial_point(n, p, k), sum = 0;

	while (term > sum * DBL_EPSILON / 8 && term > DBL_MIN) {
		sum += term;
		if (step > 0)
			term *= (n - k) / (k + 1) * odds;
		else
			term *= k / ((n - k + 1) * odds);
		k += step;
	}
	return sum;
}

static double edgeworth_at_least(double n, double p, double k)
{
	double sd = sqrt(n * p * (1 - p)), z = (k - 0.5 - n * p) / sd;
	double skew = (1 - 2 * p) / sd;
	double density = exp(-z * z / 2) / sqrt(2 * M_PI);
	/* the last term is Sheppard's: a lattice has a variance of 1/12 less */
	double tail =
		erfc(z / M_SQRT2) / 2 + density * (skew * (z * z - 1) / 6 - z / (24 * sd * sd));

	return fmin(1, fmax(0, tail));
}

double loci_binomial_at_least(double n, double p, double k)
{
	if (k <= 0)
		return 1;
	if (k > n || p <= 0)
		return 0;
	if (p >= 1)
		return 1;
	if (n * p * (1 - p) > LOCI_BINOMIAL_SUMMED)
		return edgeworth_at_least(n, p, k);
	if (k > n * p)
		return fmin(1, sum_tail(n, p, k, 1));
	return fmax(0, 1 - sum_tail(n, p, k - 1, -1));
}
