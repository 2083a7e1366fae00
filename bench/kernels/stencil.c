// SPDX-License-Identifier: GPL-2.0-or-later
/* Averages of neighbours on a grid of size points a side, in two and in three dimensions, from one
 * grid to another, walked down columns, along rows, and in tiles. */
#include "kernels.h"

enum { TILE = 16 };

typedef void sweep_fn(const double *from, double *to, size_t n);

static inline void point2(const double *from, double *to, size_t n, size_t i, size_t j)
{
	to[i * n + j] = 0.25 *
		(from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] +
			from[i * n + j + 1]);
}

static void columns2(const double *from, double *to, size_t n)
{
	for (size_t j = 1; j < n - 1; j++)
		for (size_t i = 1; i < n - 1; i++)
			point2(from, to, n, i, j);
}

static void rows2(const double *from, double *to, size_t n)
{
	for (size_t i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			point2(from, to, n, i, j);
}

static inline void point3(const double *from, double *to, size_t n, size_t i, size_t j, size_t k)
{
	size_t at = (i * n + j) * n + k;

	to[at] = 0.125 *
		(from[at - n * n] + from[at + n * n] + from[at - n] + from[at + n] + from[at - 1] +
			from[at + 1] + from[at] + from[at]);
}

static void columns3(const double *from, double *to, size_t n)
{
	for (size_t k = 1; k < n - 1; k++)
		for (size_t j = 1; j < n - 1; j++)
			for (size_t i = 1; i < n - 1; i++)
				point3(from, to, n, i, j, k);
}

static void rows3(const double *from, double *to, size_t n)
{
	for (size_t i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			for (size_t k = 1; k < n - 1; k++)
				point3(from, to, n, i, j, k);
}

/* Three planes of a tile stay in a small cache. */
static void tiles3(const double *from, double *to, size_t n)
{
	for (size_t j0 = 1; j0 < n - 1; j0 += TILE) {
		size_t j1 = j0 + TILE < n - 1 ? j0 + TILE : n - 1;

		for (size_t i = 1; i < n - 1; i++)
			for (size_t j = j0; j < j1; j++)
				for (size_t k = 1; k < n - 1; k++)
					point3(from, to, n, i, j, k);
	}
}

static uint64_t stencil(size_t n, size_t points, unsigned rounds, sweep_fn *sweep)
{
	double *from = kernel_memory(points, sizeof(*from));
	double *to = kernel_memory(points, sizeof(*to)), *swap;

	kernel_fill(from, points, 13);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++) {
		sweep(from, to, n);
		swap = from;
		from = to;
		to = swap;
	}
	kernel_stop();
	return kernel_checksum(from, points);
}

static uint64_t run_columns2(size_t n, unsigned rounds)
{
	return stencil(n, n * n, rounds, columns2);
}

static uint64_t run_rows2(size_t n, unsigned rounds)
{
	return stencil(n, n * n, rounds, rows2);
}

static uint64_t run_columns3(size_t n, unsigned rounds)
{
	return stencil(n, n * n * n, rounds, columns3);
}

static uint64_t run_rows3(size_t n, unsigned rounds)
{
	return stencil(n, n * n * n, rounds, rows3);
}

static uint64_t run_tiles3(size_t n, unsigned rounds)
{
	return stencil(n, n * n * n, rounds, tiles3);
}

const struct kernel kernels_stencil[] = {
	{ "stencil2", "column", 1000, 20, run_columns2 },
	{ "stencil2", "row", 1000, 20, run_rows2 },
	{ "stencil3", "column", 120, 8, run_columns3 },
	{ "stencil3", "row", 120, 8, run_rows3 },
	{ "stencil3", "tiled", 120, 8, run_tiles3 },
	KERNEL_END,
};
