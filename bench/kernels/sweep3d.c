// SPDX-License-Identifier: GPL-2.0-or-later
/* Discrete ordinates: particles of ANGLES directions swept through a cube of size cells a side,
 * from one corner; each cell takes what flows in from three sides, adds its source and passes it
 * on. Slow: a sweep through the whole cube for each angle. Tuned: all angles in a cell before the
 * next cell. */
#include "kernels.h"

enum { ANGLES = 6 };

struct room {
	size_t n;
	double *source, *total, *flux;
	/* What leaves the last cell in each direction: by row and column of the other two. */
	double *x, *y, *z;
};

static inline void cell(const struct room *r, size_t k, size_t j, size_t i, size_t angle)
{
	size_t n = r->n, at = (k * n + j) * n + i;
	double mu = 0.1 + 0.1 * (double)angle, eta = 0.9 - 0.1 * (double)angle, xi = 0.5;
	double *x = &r->x[(k * n + j) * ANGLES + angle], *y = &r->y[(k * n + i) * ANGLES + angle];
	double *z = &r->z[(j * n + i) * ANGLES + angle];
	double phi = (r->source[at] + 2 * (mu * *x + eta * *y + xi * *z)) /
		(r->total[at] + 2 * (mu + eta + xi));

	r->flux[at] += 0.125 * phi;
	*x = 2 * phi - *x;
	*y = 2 * phi - *y;
	*z = 2 * phi - *z;
}

static void angle_by_angle(const struct room *r)
{
	for (size_t angle = 0; angle < ANGLES; angle++)
		for (size_t k = 0; k < r->n; k++)
			for (size_t j = 0; j < r->n; j++)
				for (size_t i = 0; i < r->n; i++)
					cell(r, k, j, i, angle);
}

static void cell_by_cell(const struct room *r)
{
	for (size_t k = 0; k < r->n; k++)
		for (size_t j = 0; j < r->n; j++)
			for (size_t i = 0; i < r->n; i++)
				for (size_t angle = 0; angle < ANGLES; angle++)
					cell(r, k, j, i, angle);
}

static uint64_t sweeps(size_t n, unsigned rounds, void (*sweep)(const struct room *))
{
	size_t cells = n * n * n, faces = n * n * ANGLES;
	struct room r = { n, kernel_memory(cells, sizeof(double)),
		kernel_memory(cells, sizeof(double)), kernel_memory(cells, sizeof(double)),
		kernel_memory(faces, sizeof(double)), kernel_memory(faces, sizeof(double)),
		kernel_memory(faces, sizeof(double)) };

	kernel_fill(r.source, cells, 11);
	for (size_t i = 0; i < cells; i++)
		r.total[i] = 1 + (double)(i % 3);
	kernel_start();
	for (unsigned round = 0; round < rounds; round++)
		sweep(&r);
	kernel_stop();
	return kernel_checksum(r.flux, cells);
}

static uint64_t run_angles(size_t size, unsigned rounds)
{
	return sweeps(size, rounds, angle_by_angle);
}

static uint64_t run_cells(size_t size, unsigned rounds)
{
	return sweeps(size, rounds, cell_by_cell);
}

const struct kernel kernels_sweep3d[] = {
	{ "sweep3d", "angle", 80, 3, run_angles },
	{ "sweep3d", "cell", 80, 3, run_cells },
	KERNEL_END,
};
