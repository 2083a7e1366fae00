// SPDX-License-Identifier: GPL-2.0-or-later
/* Matrix product of size x size. ijk walks b by column; ikj and the tiles walk all by row. The sums
 * are of whole numbers, so their order does not matter. */
#include "kernels.h"

enum { TILE = 32 };

typedef void multiply_fn(const double *a, const double *b, double *c, size_t n);

static void ijk(const double *a, const double *b, double *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

static void ikj(const double *a, const double *b, double *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			c[i * n + j] = 0;
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
	}
}

static void one_tile(const double *a, const double *b, double *c, size_t n, size_t k0, size_t j0)
{
	size_t k1 = k0 + TILE < n ? k0 + TILE : n, j1 = j0 + TILE < n ? j0 + TILE : n;

	for (size_t i = 0; i < n; i++)
		for (size_t k = k0; k < k1; k++)
			for (size_t j = j0; j < j1; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void tiled(const double *a, const double *b, double *c, size_t n)
{
	for (size_t i = 0; i < n * n; i++)
		c[i] = 0;
	for (size_t k = 0; k < n; k += TILE)
		for (size_t j = 0; j < n; j += TILE)
			one_tile(a, b, c, n, k, j);
}

static uint64_t product(size_t n, unsigned rounds, multiply_fn *multiply)
{
	double *a = kernel_memory(n * n, sizeof(*a)), *b = kernel_memory(n * n, sizeof(*b));
	double *c = kernel_memory(n * n, sizeof(*c));

	kernel_fill(a, n * n, 13);
	kernel_fill(b, n * n, 7);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		multiply(a, b, c, n);
	kernel_stop();
	return kernel_checksum(c, n * n);
}

static uint64_t run_ijk(size_t size, unsigned rounds)
{
	return product(size, rounds, ijk);
}

static uint64_t run_ikj(size_t size, unsigned rounds)
{
	return product(size, rounds, ikj);
}

static uint64_t run_tiled(size_t size, unsigned rounds)
{
	return product(size, rounds, tiled);
}

const struct kernel kernels_product[] = {
	{ "product", "ijk", 360, 3, run_ijk },
	{ "product", "ikj", 360, 3, run_ikj },
	{ "product", "tiled", 360, 3, run_tiled },
	KERNEL_END,
};
