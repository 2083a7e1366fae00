// SPDX-License-Identifier: GPL-2.0-or-later
/* The shape function of a particle-in-cell code, as Anger et al. (2014) count it: in single
 * precision over a vector, then summed up in double precision. Also a call of each kind whose
 * number is known: shape N ROUNDS. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static double shape(size_t n, const float *restrict v, float *restrict vs)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		float x = fabsf(v[i]);

		vs[i] = (1 - x) * (x <= 1 ? 1 : 0);
	}
	for (size_t i = 0; i < n; i++)
		sum += vs[i];
	return sum;
}

/* Bytes that are known. */
__attribute__((noinline)) static void fill(float *v, float *vs, size_t n)
{
	memcpy(vs, v, n * sizeof(*v));
	memset(v, 0, n * sizeof(*v));
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	float *v = malloc(n * sizeof(*v)), *vs = malloc(n * sizeof(*vs));
	double sum = 0;

	if (!v || !vs)
		return 1;
	v[0] = v[n - 1] = 0;
	for (unsigned r = 0; r < rounds; r++) {
		fill(v, vs, n);
		sum += shape(n, v, vs);
	}
	printf("%g\n", sum);
	free(v);
	free(vs);
	return 0;
}
