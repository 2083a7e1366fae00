// SPDX-License-Identifier: GPL-2.0-or-later
/* Speckle-reducing anisotropic diffusion of an image (Yu and Acton 2002), size pixels a side:
 * gradients to four sides and a coefficient for each pixel, then the update; down columns or along
 * rows. */
#include "kernels.h"

struct image {
	size_t n;
	double *pixel, *north, *south, *west, *east, *coefficient;
	double noise;
};

static inline void gradient(const struct image *m, size_t i, size_t j)
{
	size_t n = m->n, at = i * n + j;
	double here = m->pixel[at];
	double up = m->pixel[(i ? i - 1 : 0) * n + j] - here;
	double down = m->pixel[(i + 1 < n ? i + 1 : i) * n + j] - here;
	double left = m->pixel[i * n + (j ? j - 1 : 0)] - here;
	double right = m->pixel[i * n + (j + 1 < n ? j + 1 : j)] - here;
	double square = (up * up + down * down + left * left + right * right) / (here * here);
	double laplace = (up + down + left + right) / here, q, c;

	q = (0.5 * square - laplace * laplace / 16) / ((1 + 0.25 * laplace) * (1 + 0.25 * laplace));
	c = 1 / (1 + (q - m->noise) / (m->noise * (1 + m->noise)));
	m->coefficient[at] = c < 0 ? 0 : c > 1 ? 1 : c;
	m->north[at] = up;
	m->south[at] = down;
	m->west[at] = left;
	m->east[at] = right;
}

static inline void update(const struct image *m, size_t i, size_t j)
{
	size_t n = m->n, at = i * n + j;
	double here = m->coefficient[at];
	double south = m->coefficient[(i + 1 < n ? i + 1 : i) * n + j];
	double east = m->coefficient[i * n + (j + 1 < n ? j + 1 : j)];

	m->pixel[at] += 0.125 *
		(here * m->north[at] + south * m->south[at] + here * m->west[at] +
			east * m->east[at]);
}

static void columns(const struct image *m)
{
	for (size_t j = 0; j < m->n; j++)
		for (size_t i = 0; i < m->n; i++)
			gradient(m, i, j);
	for (size_t j = 0; j < m->n; j++)
		for (size_t i = 0; i < m->n; i++)
			update(m, i, j);
}

static void rows(const struct image *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t j = 0; j < m->n; j++)
			gradient(m, i, j);
	for (size_t i = 0; i < m->n; i++)
		for (size_t j = 0; j < m->n; j++)
			update(m, i, j);
}

static uint64_t diffuse(size_t n, unsigned rounds, void (*step)(const struct image *))
{
	size_t pixels = n * n;
	struct image m = { n, kernel_memory(pixels, sizeof(double)),
		kernel_memory(pixels, sizeof(double)), kernel_memory(pixels, sizeof(double)),
		kernel_memory(pixels, sizeof(double)), kernel_memory(pixels, sizeof(double)),
		kernel_memory(pixels, sizeof(double)), 0.05 };

	kernel_fill(m.pixel, pixels, 31);
	for (size_t i = 0; i < pixels; i++)
		m.pixel[i] = 1 + m.pixel[i] / 64;
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		step(&m);
	kernel_stop();
	return kernel_checksum(m.pixel, pixels);
}

static uint64_t run_columns(size_t size, unsigned rounds)
{
	return diffuse(size, rounds, columns);
}

static uint64_t run_rows(size_t size, unsigned rounds)
{
	return diffuse(size, rounds, rows);
}

const struct kernel kernels_diffusion[] = {
	{ "diffusion", "column", 512, 3, run_columns },
	{ "diffusion", "row", 512, 3, run_rows },
	KERNEL_END,
};
