// SPDX-License-Identifier: GPL-2.0-or-later
/* Alternating directions: a tridiagonal solve along every row of a size x size grid, then along
 * every column. Slow: a column is solved as a whole before the next. Tuned: all columns advance
 * together, row by row. */
#include "kernels.h"

struct grid {
	double *x, *scratch; /* scratch: the eliminated coefficients */
	size_t n;
};

static void solve_rows(const struct grid *g)
{
	size_t n = g->n;

	for (size_t i = 0; i < n; i++) {
		double *x = g->x + i * n, *c = g->scratch + i * n;

		c[0] = 0.25;
		x[0] *= 0.25;
		for (size_t j = 1; j < n; j++) {
			double pivot = 1.0 / (4.0 - c[j - 1]);

			c[j] = pivot;
			x[j] = (x[j] + x[j - 1]) * pivot;
		}
		for (size_t j = n - 1; j-- > 0;)
			x[j] += c[j] * x[j + 1];
	}
}

static void column_down(const struct grid *g, size_t i, size_t j)
{
	double *x = g->x + i * g->n + j, *c = g->scratch + i * g->n + j;
	double pivot = 1.0 / (4.0 - c[-(ptrdiff_t)g->n]);

	*c = pivot;
	*x = (*x + x[-(ptrdiff_t)g->n]) * pivot;
}

static void column_up(const struct grid *g, size_t i, size_t j)
{
	double *x = g->x + i * g->n + j;

	*x += g->scratch[i * g->n + j] * x[g->n];
}

static void first_row(const struct grid *g)
{
	for (size_t j = 0; j < g->n; j++) {
		g->scratch[j] = 0.25;
		g->x[j] *= 0.25;
	}
}

static void one_by_one(const struct grid *g)
{
	first_row(g);
	for (size_t j = 0; j < g->n; j++) {
		for (size_t i = 1; i < g->n; i++)
			column_down(g, i, j);
		for (size_t i = g->n - 1; i-- > 0;)
			column_up(g, i, j);
	}
}

static void together(const struct grid *g)
{
	first_row(g);
	for (size_t i = 1; i < g->n; i++)
		for (size_t j = 0; j < g->n; j++)
			column_down(g, i, j);
	for (size_t i = g->n - 1; i-- > 0;)
		for (size_t j = 0; j < g->n; j++)
			column_up(g, i, j);
}

static uint64_t adi(size_t n, unsigned rounds, void (*solve_columns)(const struct grid *))
{
	struct grid g = { kernel_memory(n * n, sizeof(double)),
		kernel_memory(n * n, sizeof(double)), n };

	kernel_fill(g.x, n * n, 19);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++) {
		solve_rows(&g);
		solve_columns(&g);
	}
	kernel_stop();
	return kernel_checksum(g.x, n * n);
}

static uint64_t run_one_by_one(size_t size, unsigned rounds)
{
	return adi(size, rounds, one_by_one);
}

static uint64_t run_together(size_t size, unsigned rounds)
{
	return adi(size, rounds, together);
}

const struct kernel kernels_adi[] = {
	{ "adi", "column", 700, 8, run_one_by_one },
	{ "adi", "row", 700, 8, run_together },
	KERNEL_END,
};
