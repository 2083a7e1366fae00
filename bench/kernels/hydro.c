// SPDX-License-Identifier: GPL-2.0-or-later
/* Two loops of a hydrodynamics code on size x size cells: the first makes velocities of pressures,
 * the second moves the cells by them and needs those of the next row too. Apart, each passes over
 * all the data; fused, the second follows the first a row behind. */
#include "kernels.h"

struct cells {
	size_t n;
	double *pressure, *viscosity, *mass, *u, *v, *r, *z;
};

static void velocities(const struct cells *c, size_t i)
{
	size_t n = c->n;

	for (size_t j = 1; j < n - 1; j++) {
		size_t at = i * n + j;
		double west = c->pressure[at] + c->viscosity[at] - c->pressure[at - 1] -
			c->viscosity[at - 1];
		double north = c->pressure[at] + c->viscosity[at] - c->pressure[at - n] -
			c->viscosity[at - n];

		c->u[at] += 0.01 * west / (c->mass[at] + c->mass[at - 1]);
		c->v[at] += 0.01 * north / (c->mass[at] + c->mass[at - n]);
	}
}

static void move(const struct cells *c, size_t i)
{
	size_t n = c->n;

	for (size_t j = 1; j < n - 1; j++) {
		size_t at = i * n + j;

		c->r[at] += 0.01 * (c->u[at] + c->u[at + n]);
		c->z[at] += 0.01 * (c->v[at] + c->v[at + n]);
	}
}

static void apart(const struct cells *c)
{
	for (size_t i = 1; i < c->n - 1; i++)
		velocities(c, i);
	for (size_t i = 1; i < c->n - 2; i++)
		move(c, i);
}

static void fused(const struct cells *c)
{
	velocities(c, 1);
	for (size_t i = 2; i < c->n - 1; i++) {
		velocities(c, i);
		move(c, i - 1);
	}
}

static uint64_t hydro(size_t n, unsigned rounds, void (*step)(const struct cells *))
{
	size_t cells = n * n;
	struct cells c = { n, kernel_memory(cells, sizeof(double)),
		kernel_memory(cells, sizeof(double)), kernel_memory(cells, sizeof(double)),
		kernel_memory(cells, sizeof(double)), kernel_memory(cells, sizeof(double)),
		kernel_memory(cells, sizeof(double)), kernel_memory(cells, sizeof(double)) };

	kernel_fill(c.pressure, cells, 37);
	kernel_fill(c.viscosity, cells, 5);
	for (size_t i = 0; i < cells; i++)
		c.mass[i] = 1 + (double)(i % 7);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		step(&c);
	kernel_stop();
	return kernel_checksum(c.r, cells) ^ kernel_checksum(c.z, cells) << 1;
}

static uint64_t run_apart(size_t size, unsigned rounds)
{
	return hydro(size, rounds, apart);
}

static uint64_t run_fused(size_t size, unsigned rounds)
{
	return hydro(size, rounds, fused);
}

const struct kernel kernels_hydro[] = {
	{ "hydro", "apart", 700, 20, run_apart },
	{ "hydro", "fused", 700, 20, run_fused },
	KERNEL_END,
};
