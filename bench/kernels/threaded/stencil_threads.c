// SPDX-License-Identifier: GPL-2.0-or-later
/* Jacobi's iteration on a plane of size points a side by OpenMP, five points each: the threads take
 * columns in turn, so that every line of the cache is written by several, or one block of rows. */
#include "threaded.h"

static inline double mean(const double *v, size_t n, size_t at)
{
	return 0.25 * (v[at - 1] + v[at + 1] + v[at - n] + v[at + n]);
}

static void columns(const double *from, double *to, size_t n, unsigned threads)
{
#pragma omp parallel for num_threads(threads) schedule(static, 1)
	for (size_t j = 1; j < n - 1; j++)
		for (size_t i = 1; i < n - 1; i++)
			to[i * n + j] = mean(from, n, i * n + j);
}

static void rows(const double *from, double *to, size_t n, unsigned threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
	for (size_t i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			to[i * n + j] = mean(from, n, i * n + j);
}

static uint64_t iterate(size_t n, unsigned rounds, unsigned threads,
	void (*step)(const double *from, double *to, size_t n, unsigned threads))
{
	double *a = threaded_lines(n * n * sizeof(double)),
	       *b = threaded_lines(n * n * sizeof(double));

	kernel_fill(a, n * n, 17);
	kernel_fill(b, n * n, 17);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++) {
		step(a, b, n, threads);
		step(b, a, n, threads);
	}
	kernel_stop();
	return kernel_checksum(a, n * n);
}

static uint64_t run_columns(size_t size, unsigned rounds, unsigned threads)
{
	return iterate(size, rounds, threads, columns);
}

static uint64_t run_rows(size_t size, unsigned rounds, unsigned threads)
{
	return iterate(size, rounds, threads, rows);
}

const struct threaded_kernel threaded_stencil[] = {
	{ "stencil", "column", 800, 40, run_columns },
	{ "stencil", "row", 800, 40, run_rows },
	THREADED_END,
};
