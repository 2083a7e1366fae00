// SPDX-License-Identifier: GPL-2.0-or-later
/* The nests of a scalar pentadiagonal solver: five components on a cube of size points a side,
 * solved along the third direction, whose neighbours are a plane apart. Slow: the component is the
 * outermost index and a line is finished before the next. Tuned: the components of a point lie
 * together and all lines of a plane advance together. */
#include "kernels.h"

enum { PARTS = 5 };

struct cube {
	size_t n;
	double *right, *factor;
	size_t part, point; /* strides of the component and of the point */
};

static inline size_t place(const struct cube *c, size_t m, size_t k, size_t j, size_t i)
{
	return m * c->part + ((k * c->n + j) * c->n + i) * c->point;
}

/* Elimination at plane k, which needs the two before it; back substitution, the two after it. */
static inline void down(const struct cube *c, size_t m, size_t k, size_t j, size_t i)
{
	size_t at = place(c, m, k, j, i), one = place(c, m, k - 1, j, i);
	size_t two = place(c, m, k - 2, j, i);
	double pivot = 1 / (6 - c->factor[one] - 0.25 * c->factor[two]);

	c->factor[at] = pivot;
	c->right[at] = (c->right[at] + c->right[one] + 0.5 * c->right[two]) * pivot;
}

static inline void up(const struct cube *c, size_t m, size_t k, size_t j, size_t i)
{
	size_t at = place(c, m, k, j, i);

	c->right[at] += c->factor[at] *
		(c->right[place(c, m, k + 1, j, i)] + 0.5 * c->right[place(c, m, k + 2, j, i)]);
}

static void lines(const struct cube *c)
{
	for (size_t m = 0; m < PARTS; m++)
		for (size_t j = 0; j < c->n; j++)
			for (size_t i = 0; i < c->n; i++) {
				for (size_t k = 2; k < c->n; k++)
					down(c, m, k, j, i);
				for (size_t k = c->n - 2; k-- > 0;)
					up(c, m, k, j, i);
			}
}

static void planes(const struct cube *c)
{
	for (size_t k = 2; k < c->n; k++)
		for (size_t j = 0; j < c->n; j++)
			for (size_t i = 0; i < c->n; i++)
				for (size_t m = 0; m < PARTS; m++)
					down(c, m, k, j, i);
	for (size_t k = c->n - 2; k-- > 0;)
		for (size_t j = 0; j < c->n; j++)
			for (size_t i = 0; i < c->n; i++)
				for (size_t m = 0; m < PARTS; m++)
					up(c, m, k, j, i);
}

static uint64_t penta(struct cube *c, unsigned rounds, void (*solve)(const struct cube *))
{
	size_t points = c->n * c->n * c->n;
	double *sums = kernel_memory(points, sizeof(*sums));

	c->right = kernel_memory(points * PARTS, sizeof(double));
	c->factor = kernel_memory(points * PARTS, sizeof(double));
	for (size_t p = 0; p < points; p++)
		for (size_t m = 0; m < PARTS; m++) {
			c->right[m * c->part + p * c->point] = (double)((p + m) % 13);
			c->factor[m * c->part + p * c->point] = 0.2;
		}
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		solve(c);
	kernel_stop();
	for (size_t p = 0; p < points; p++)
		for (size_t m = 0; m < PARTS; m++)
			sums[p] += c->right[m * c->part + p * c->point];
	return kernel_checksum(sums, points);
}

static uint64_t run_lines(size_t n, unsigned rounds)
{
	struct cube c = { n, NULL, NULL, n * n * n, 1 };

	return penta(&c, rounds, lines);
}

static uint64_t run_planes(size_t n, unsigned rounds)
{
	struct cube c = { n, NULL, NULL, 1, PARTS };

	return penta(&c, rounds, planes);
}

const struct kernel kernels_penta[] = {
	{ "sp", "line", 64, 3, run_lines },
	{ "sp", "plane", 64, 3, run_planes },
	KERNEL_END,
};
