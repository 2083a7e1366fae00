// SPDX-License-Identifier: GPL-2.0-or-later
/* Multigrid (Fedorenko 1961; Brandt 1977) for Poisson's equation by OpenMP: V-cycles on cubes of
 * size + 1 points a side, a power of two and one. The threads divide the dimension in which points
 * are neighbours in memory, or the outermost one. */
#include "threaded.h"

#include <stdbool.h>

enum { LEVELS_MAX = 12, SMOOTHINGS = 2 };

struct level {
	size_t n; /* points a side */
	double *u, *f, *r;
};

struct grids {
	struct level level[LEVELS_MAX]; /* the finest first */
	int n_levels;
	unsigned threads;
};

/* The laplacian without the six neighbours' part, that of the cell being h = 1 everywhere. */
static inline double neighbours(const double *u, size_t n, size_t at)
{
	return u[at - 1] + u[at + 1] + u[at - n] + u[at + n] + u[at - n * n] + u[at + n * n];
}

/* Points of a line within: the n - 2 from `at` on, so far apart. */
typedef void line_fn(const struct level *l, size_t at, size_t apart);

static void relax(const struct level *l, size_t at, size_t apart)
{
	for (size_t i = 2; i < l->n; i++, at += apart)
		l->r[at] =
			l->u[at] + 0.85 * ((neighbours(l->u, l->n, at) + l->f[at]) / 6 - l->u[at]);
}

static void keep(const struct level *l, size_t at, size_t apart)
{
	for (size_t i = 2; i < l->n; i++, at += apart)
		l->u[at] = l->r[at];
}

static void residual(const struct level *l, size_t at, size_t apart)
{
	for (size_t i = 2; i < l->n; i++, at += apart)
		l->r[at] = l->f[at] + neighbours(l->u, l->n, at) - 6 * l->u[at];
}

/* All points within. */
static void sweep(const struct grids *g, const struct level *l, line_fn *line, bool inner)
{
	size_t n = l->n;

	if (inner) {
#pragma omp parallel for num_threads(g->threads) schedule(static, 1)
		for (size_t k = 1; k < n - 1; k++)
			for (size_t j = 1; j < n - 1; j++)
				line(l, (n + j) * n + k, n * n);
		return;
	}
#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			line(l, (i * n + j) * n + 1, 1);
}

/* To the coarser grid: of each of its points the mean of the finer one's in its cell. */
static void restrict_to(const struct grids *g, const struct level *fine, const struct level *coarse)
{
	size_t n = coarse->n, m = fine->n;

#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			for (size_t k = 1; k < n - 1; k++) {
				size_t to = (i * n + j) * n + k;
				size_t from = (2 * i * m + 2 * j) * m + 2 * k;

				coarse->f[to] =
					2 * fine->r[from] + neighbours(fine->r, m, from) / 3;
				coarse->u[to] = 0;
			}
}

static void prolong(const struct grids *g, const struct level *coarse, const struct level *fine)
{
	size_t n = coarse->n, m = fine->n;

#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t i = 1; i < m - 1; i++)
		for (size_t j = 1; j < m - 1; j++)
			for (size_t k = 1; k < m - 1; k++) {
				size_t low = (i / 2 * n + j / 2) * n + k / 2;
				size_t high = (((i + 1) / 2) * n + (j + 1) / 2) * n + (k + 1) / 2;

				fine->u[(i * m + j) * m + k] +=
					0.5 * (coarse->u[low] + coarse->u[high]);
			}
}

static void cycle(const struct grids *g, int depth, bool inner)
{
	const struct level *l = &g->level[depth];
	int times = depth + 1 == g->n_levels ? 8 : SMOOTHINGS;

	for (int i = 0; i < times; i++) {
		sweep(g, l, relax, inner);
		sweep(g, l, keep, inner);
	}
	if (depth + 1 == g->n_levels)
		return;
	sweep(g, l, residual, inner);
	restrict_to(g, l, l + 1);
	cycle(g, depth + 1, inner);
	prolong(g, l + 1, l);
	for (int i = 0; i < SMOOTHINGS; i++) {
		sweep(g, l, relax, inner);
		sweep(g, l, keep, inner);
	}
}

static double error_of(const struct grids *g)
{
	const struct level *l = &g->level[0];
	double sum = 0;

	sweep(g, l, residual, false);
	for (size_t i = 0; i < l->n * l->n * l->n; i++)
		sum += l->r[i] * l->r[i];
	return sum;
}

static uint64_t multigrid(size_t size, unsigned rounds, unsigned threads, bool inner)
{
	struct grids g = { .threads = threads };
	double before;

	if (size < 4 || size & (size - 1))
		threaded_wrong("mg: the size is no power of two from 4 on");
	for (size_t side = size; side >= 4 && g.n_levels < LEVELS_MAX; side /= 2) {
		size_t n = side + 1;

		g.level[g.n_levels++] =
			(struct level){ n, threaded_lines(n * n * n * sizeof(double)),
				threaded_lines(n * n * n * sizeof(double)),
				threaded_lines(n * n * n * sizeof(double)) };
	}
	for (size_t n = size + 1, i = 1; i < n - 1; i++)
		for (size_t j = 1; j < n - 1; j++)
			for (size_t k = 1; k < n - 1; k++)
				g.level[0].f[(i * n + j) * n + k] =
					(double)((i * 7 + j * 3 + k) % 5) - 2;
	before = error_of(&g);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		cycle(&g, 0, inner);
	kernel_stop();
	if (!(error_of(&g) < 0.1 * before))
		threaded_wrong("mg: it does not converge");
	return kernel_checksum(g.level[0].u, (size + 1) * (size + 1) * (size + 1));
}

static uint64_t run_inner(size_t size, unsigned rounds, unsigned threads)
{
	return multigrid(size, rounds, threads, true);
}

static uint64_t run_outer(size_t size, unsigned rounds, unsigned threads)
{
	return multigrid(size, rounds, threads, false);
}

const struct threaded_kernel threaded_mg[] = {
	{ "mg", "inner", 64, 5, run_inner },
	{ "mg", "outer", 64, 5, run_outer },
	THREADED_END,
};
