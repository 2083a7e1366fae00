// SPDX-License-Identifier: GPL-2.0-or-later
/* LU factors, without pivoting, of a size x size matrix with a heavy diagonal. An element gets its
 * updates in the same order in every variant: down columns, along rows, in tiles. */
#include "kernels.h"

enum { TILE = 40 };

typedef void factor_fn(double *a, size_t n);

static void columns(double *a, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		for (size_t i = k + 1; i < n; i++)
			a[i * n + k] /= a[k * n + k];
		for (size_t j = k + 1; j < n; j++)
			for (size_t i = k + 1; i < n; i++)
				a[i * n + j] -= a[i * n + k] * a[k * n + j];
	}
}

/* Rows from first on by the pivots k0 to k1, in the columns j0 to j1. */
static void update(double *a, size_t n, size_t k0, size_t k1, size_t first, size_t j0, size_t j1)
{
	for (size_t i = first; i < n; i++)
		for (size_t k = k0; k < k1 && k < i; k++) {
			double factor;

			if (j0 <= k)
				a[i * n + k] /= a[k * n + k];
			factor = a[i * n + k];
			for (size_t j = j0 > k ? j0 : k + 1; j < j1; j++)
				a[i * n + j] -= factor * a[k * n + j];
		}
}

static void rows(double *a, size_t n)
{
	for (size_t k = 0; k < n; k++)
		update(a, n, k, k + 1, k + 1, k, n);
}

/* A panel of columns is finished, then the columns right of it follow in tiles. */
static void tiles(double *a, size_t n)
{
	for (size_t k = 0; k < n; k += TILE) {
		size_t end = k + TILE < n ? k + TILE : n;

		update(a, n, k, end, k + 1, k, end);
		for (size_t j = end; j < n; j += TILE)
			update(a, n, k, end, k + 1, j, j + TILE < n ? j + TILE : n);
	}
}

static uint64_t lu(size_t n, unsigned rounds, factor_fn *factor)
{
	double *a = kernel_memory(n * n, sizeof(*a));

	for (unsigned r = 0; r < rounds; r++) {
		kernel_fill(a, n * n, 29);
		for (size_t i = 0; i < n; i++)
			a[i * n + i] = 64.0 * (double)n;
		kernel_start();
		factor(a, n);
		kernel_stop();
	}
	return kernel_checksum(a, n * n);
}

static uint64_t run_columns(size_t size, unsigned rounds)
{
	return lu(size, rounds, columns);
}

static uint64_t run_rows(size_t size, unsigned rounds)
{
	return lu(size, rounds, rows);
}

static uint64_t run_tiles(size_t size, unsigned rounds)
{
	return lu(size, rounds, tiles);
}

const struct kernel kernels_lu[] = {
	{ "lu", "column", 400, 4, run_columns },
	{ "lu", "row", 400, 4, run_rows },
	{ "lu", "tiled", 400, 4, run_tiles },
	KERNEL_END,
};
