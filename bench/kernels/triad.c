// SPDX-License-Identifier: GPL-2.0-or-later
/* a = b + s c over size elements: in order, and in strides of eight lines as a bad layout would. */
#include "kernels.h"

enum { STRIDE = 64 };

struct vectors {
	double *a, *b, *c;
	size_t n;
};

static void in_order(const struct vectors *v, double s)
{
	double *a = v->a, *b = v->b, *c = v->c;

	for (size_t i = 0; i < v->n; i++)
		a[i] = b[i] + s * c[i];
}

static void strided(const struct vectors *v, double s)
{
	double *a = v->a, *b = v->b, *c = v->c;

	for (size_t start = 0; start < STRIDE; start++)
		for (size_t i = start; i < v->n; i += STRIDE)
			a[i] = b[i] + s * c[i];
}

static uint64_t triad(size_t n, unsigned rounds, void (*pass)(const struct vectors *, double))
{
	struct vectors v = { kernel_memory(n, sizeof(double)), kernel_memory(n, sizeof(double)),
		kernel_memory(n, sizeof(double)), n };

	kernel_fill(v.b, n, 11);
	kernel_fill(v.c, n, 17);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		pass(&v, r + 3);
	kernel_stop();
	return kernel_checksum(v.a, n);
}

static uint64_t run_strided(size_t size, unsigned rounds)
{
	return triad(size, rounds, strided);
}

static uint64_t run_in_order(size_t size, unsigned rounds)
{
	return triad(size, rounds, in_order);
}

const struct kernel kernels_triad[] = {
	{ "triad", "strided", 1000000, 20, run_strided },
	{ "triad", "row", 1000000, 20, run_in_order },
	KERNEL_END,
};
