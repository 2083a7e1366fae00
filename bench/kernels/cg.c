// SPDX-License-Identifier: GPL-2.0-or-later
/* Conjugate gradients (Hestenes and Stiefel 1952) with a sparse matrix by rows: a grid of size
 * points a side, each coupled to its four neighbours, its unknowns numbered at random or along the
 * grid. The right side belongs to a solution of whole numbers, so that rounding it gives the same
 * result whatever the order of the sums. */
#include "kernels.h"

#include <math.h>

enum { STEPS = 60, ROW = 5 };

struct matrix {
	size_t n;
	uint32_t *first, *column; /* row i: [first[i], first[i + 1]) */
	double *value;
};

struct vectors {
	double *x, *r, *p, *q;
};

static void multiply(const struct matrix *m, const double *v, double *product)
{
	for (size_t i = 0; i < m->n; i++) {
		double sum = 0;

		for (uint32_t k = m->first[i]; k < m->first[i + 1]; k++)
			sum += m->value[k] * v[m->column[k]];
		product[i] = sum;
	}
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void solve(const struct matrix *m, const struct vectors *v)
{
	double rho = dot(v->r, v->r, m->n);

	for (int step = 0; step < STEPS && rho > 1e-20; step++) {
		double alpha, next;

		multiply(m, v->p, v->q);
		alpha = rho / dot(v->p, v->q, m->n);
		for (size_t i = 0; i < m->n; i++) {
			v->x[i] += alpha * v->p[i];
			v->r[i] -= alpha * v->q[i];
		}
		next = dot(v->r, v->r, m->n);
		for (size_t i = 0; i < m->n; i++)
			v->p[i] = v->r[i] + next / rho * v->p[i];
		rho = next;
	}
}

/* number[point]: of its unknown. */
static void assemble(struct matrix *m, size_t side, const uint32_t *number)
{
	uint32_t *point = kernel_memory(m->n, sizeof(*point)), used = 0;

	for (size_t i = 0; i < m->n; i++)
		point[number[i]] = (uint32_t)i;
	for (size_t i = 0; i < m->n; i++) {
		size_t at = point[i], x = at % side, y = at / side;
		size_t neighbour[] = { at - side, at - 1, at + 1, at + side };
		int there[] = { y > 0, x > 0, x + 1 < side, y + 1 < side };

		m->first[i] = used;
		m->column[used] = (uint32_t)i;
		m->value[used++] = 6;
		for (int k = 0; k < 4; k++)
			if (there[k]) {
				m->column[used] = number[neighbour[k]];
				m->value[used++] = -1;
			}
	}
	m->first[m->n] = used;
}

static uint64_t gradients(size_t side, unsigned rounds, const uint32_t *number)
{
	size_t n = side * side;
	struct matrix m = { n, kernel_memory(n + 1, sizeof(uint32_t)),
		kernel_memory(n * ROW, sizeof(uint32_t)), kernel_memory(n * ROW, sizeof(double)) };
	struct vectors v = { kernel_memory(n, sizeof(double)), kernel_memory(n, sizeof(double)),
		kernel_memory(n, sizeof(double)), kernel_memory(n, sizeof(double)) };
	double *result = kernel_memory(n, sizeof(*result));

	assemble(&m, side, number);
	for (unsigned round = 0; round < rounds; round++) {
		for (size_t i = 0; i < n; i++)
			v.q[number[i]] = (double)(i % 9) - 4;
		multiply(&m, v.q, v.r);
		for (size_t i = 0; i < n; i++) {
			v.x[i] = 0;
			v.p[i] = v.r[i];
		}
		kernel_start();
		solve(&m, &v);
		kernel_stop();
	}
	for (size_t i = 0; i < n; i++)
		result[i] = floor(v.x[number[i]] + 0.5) + 0.0;
	return kernel_checksum(result, n);
}

static uint64_t run_random(size_t size, unsigned rounds)
{
	uint32_t *number = kernel_memory(size * size, sizeof(*number));

	kernel_shuffle(number, size * size);
	return gradients(size, rounds, number);
}

static uint64_t run_grid(size_t size, unsigned rounds)
{
	uint32_t *number = kernel_memory(size * size, sizeof(*number));

	for (size_t i = 0; i < size * size; i++)
		number[i] = (uint32_t)i;
	return gradients(size, rounds, number);
}

const struct kernel kernels_cg[] = {
	{ "cg", "random", 250, 4, run_random },
	{ "cg", "row", 250, 4, run_grid },
	KERNEL_END,
};
