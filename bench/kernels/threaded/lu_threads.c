// SPDX-License-Identifier: GPL-2.0-or-later
/* LU factors of a sparse matrix of size x size blocks by OpenMP, most of which are not there: after
 * the sparse LU of Barcelona's OpenMP tasks suite (Duran et al. 2009). Blocks go to whichever
 * thread is free, or to the same one each time. */
#include "threaded.h"

#include <stdbool.h>

enum { SIDE = 24 }; /* of a block */

struct sparse {
	size_t n;
	double **block; /* NULL: zeros */
	unsigned threads;
	bool is_dynamic;
};

static double **at(const struct sparse *m, size_t i, size_t j)
{
	return &m->block[i * m->n + j];
}

static void factor(double *a)
{
	for (int k = 0; k < SIDE; k++)
		for (int i = k + 1; i < SIDE; i++) {
			a[i * SIDE + k] /= a[k * SIDE + k];
			for (int j = k + 1; j < SIDE; j++)
				a[i * SIDE + j] -= a[i * SIDE + k] * a[k * SIDE + j];
		}
}

/* A row's block: by the inverse of the diagonal's lower part. */
static void forward(const double *diagonal, double *a)
{
	for (int k = 0; k < SIDE; k++)
		for (int i = k + 1; i < SIDE; i++)
			for (int j = 0; j < SIDE; j++)
				a[i * SIDE + j] -= diagonal[i * SIDE + k] * a[k * SIDE + j];
}

/* A column's block: by that of its upper part. */
static void divide(const double *diagonal, double *a)
{
	for (int i = 0; i < SIDE; i++)
		for (int k = 0; k < SIDE; k++) {
			a[i * SIDE + k] /= diagonal[k * SIDE + k];
			for (int j = k + 1; j < SIDE; j++)
				a[i * SIDE + j] -= a[i * SIDE + k] * diagonal[k * SIDE + j];
		}
}

static void update(const double *left, const double *up, double *a)
{
	for (int i = 0; i < SIDE; i++)
		for (int k = 0; k < SIDE; k++)
			for (int j = 0; j < SIDE; j++)
				a[i * SIDE + j] -= left[i * SIDE + k] * up[k * SIDE + j];
}

static void step_border(const struct sparse *m, size_t k, size_t i)
{
	if (i < m->n - k - 1) {
		if (*at(m, k, k + 1 + i))
			forward(*at(m, k, k), *at(m, k, k + 1 + i));
	} else {
		i -= m->n - k - 1;
		if (*at(m, k + 1 + i, k))
			divide(*at(m, k, k), *at(m, k + 1 + i, k));
	}
}

static void step_inside(const struct sparse *m, size_t k, size_t i)
{
	size_t left = m->n - k - 1, row = k + 1 + i / left, column = k + 1 + i % left;

	if (*at(m, row, k) && *at(m, k, column))
		update(*at(m, row, k), *at(m, k, column), *at(m, row, column));
}

/* What was zero and will not be: by one thread, so that memory is the same in every run. */
static void fill_in(const struct sparse *m, size_t k)
{
	for (size_t i = k + 1; i < m->n; i++)
		for (size_t j = k + 1; j < m->n; j++)
			if (*at(m, i, k) && *at(m, k, j) && !*at(m, i, j))
				*at(m, i, j) = threaded_lines(SIDE * SIDE * sizeof(double));
}

static void for_each(const struct sparse *m, size_t k, size_t n,
	void (*step)(const struct sparse *m, size_t k, size_t i))
{
	if (m->is_dynamic) {
#pragma omp parallel for num_threads(m->threads) schedule(dynamic, 1)
		for (size_t i = 0; i < n; i++)
			step(m, k, i);
		return;
	}
#pragma omp parallel for num_threads(m->threads) schedule(static, 1)
	for (size_t i = 0; i < n; i++)
		step(m, k, i);
}

static void factor_all(const struct sparse *m)
{
	for (size_t k = 0; k < m->n; k++) {
		size_t left = m->n - k - 1;

		factor(*at(m, k, k));
		fill_in(m, k);
		for_each(m, k, 2 * left, step_border);
		for_each(m, k, left * left, step_inside);
	}
}

static void fill(const struct sparse *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t j = 0; j < m->n; j++) {
			double *block;

			if (i != j && (i * 5 + j * 3) % 4 != 1)
				continue;
			block = threaded_lines(SIDE * SIDE * sizeof(double));
			kernel_fill(block, SIDE * SIDE, 7);
			for (int k = 0; i == j && k < SIDE; k++)
				block[k * SIDE + k] = 8.0 * SIDE * (double)m->n;
			*at(m, i, j) = block;
		}
}

static uint64_t factors(size_t n, unsigned rounds, unsigned threads, bool is_dynamic)
{
	struct sparse m = { n, NULL, threads, is_dynamic };
	uint64_t sum = 0;

	for (unsigned r = 0; r < rounds; r++) {
		m.block = kernel_memory(n * n, sizeof(*m.block));
		fill(&m);
		kernel_start();
		factor_all(&m);
		kernel_stop();
	}
	for (size_t i = 0; i < n * n; i++)
		if (m.block[i])
			sum = sum * 31 + kernel_checksum(m.block[i], SIDE * SIDE) + i;
	return sum;
}

static uint64_t run_dynamic(size_t size, unsigned rounds, unsigned threads)
{
	return factors(size, rounds, threads, true);
}

static uint64_t run_static(size_t size, unsigned rounds, unsigned threads)
{
	return factors(size, rounds, threads, false);
}

const struct threaded_kernel threaded_lu[] = {
	{ "lu", "dynamic", 24, 4, run_dynamic },
	{ "lu", "static", 24, 4, run_static },
	THREADED_END,
};
