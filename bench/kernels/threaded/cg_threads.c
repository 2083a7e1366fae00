// SPDX-License-Identifier: GPL-2.0-or-later
/* Conjugate gradients (Hestenes and Stiefel 1952) by OpenMP: a grid of size points a side, each
 * coupled to its four neighbours. Rows are dealt to the threads one by one, so that neighbouring
 * elements of every vector are written by different threads (false sharing), or in one block each.
 * The right side belongs to a solution of whole numbers, which rounding finds whatever the order of
 * the sums. */
#include "threaded.h"

#include <math.h>

enum { STEPS = 25, ROW = 5 };

struct system {
	size_t n;
	uint32_t *first, *column; /* row i: [first[i], first[i + 1]) */
	double *value;
	double *x, *r, *p, *q;
	unsigned threads;
	size_t chunk; /* rows that are dealt at a time */
};

static double multiply(const struct system *s)
{
	double sum = 0;

#pragma omp parallel for num_threads(s->threads) schedule(static, s->chunk) reduction(+ : sum)
	for (size_t i = 0; i < s->n; i++) {
		double product = 0;

		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++)
			product += s->value[k] * s->p[s->column[k]];
		s->q[i] = product;
		sum += product * s->p[i];
	}
	return sum;
}

static double step(const struct system *s, double alpha)
{
	double sum = 0;

#pragma omp parallel for num_threads(s->threads) schedule(static, s->chunk) reduction(+ : sum)
	for (size_t i = 0; i < s->n; i++) {
		s->x[i] += alpha * s->p[i];
		s->r[i] -= alpha * s->q[i];
		sum += s->r[i] * s->r[i];
	}
	return sum;
}

static void turn(const struct system *s, double beta)
{
#pragma omp parallel for num_threads(s->threads) schedule(static, s->chunk)
	for (size_t i = 0; i < s->n; i++)
		s->p[i] = s->r[i] + beta * s->p[i];
}

static void solve(const struct system *s)
{
	double rho = step(s, 0);

	for (int i = 0; i < STEPS && rho > 1e-20; i++) {
		double alpha = rho / multiply(s), next = step(s, alpha);

		turn(s, next / rho);
		rho = next;
	}
}

static void assemble(struct system *s, size_t side)
{
	uint32_t used = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t x = i % side, y = i / side;
		size_t neighbour[] = { i - side, i - 1, i + 1, i + side };
		int there[] = { y > 0, x > 0, x + 1 < side, y + 1 < side };

		s->first[i] = used;
		s->column[used] = (uint32_t)i;
		s->value[used++] = 8;
		for (int k = 0; k < 4; k++)
			if (there[k]) {
				s->column[used] = (uint32_t)neighbour[k];
				s->value[used++] = -1;
			}
	}
	s->first[s->n] = used;
}

static double solution(size_t i)
{
	return (double)(i % 9) - 4;
}

static uint64_t gradients(size_t side, unsigned rounds, unsigned threads, int is_cyclic)
{
	size_t n = side * side;
	struct system s = { n, kernel_memory(n + 1, sizeof(uint32_t)),
		kernel_memory(n * ROW, sizeof(uint32_t)), kernel_memory(n * ROW, sizeof(double)),
		kernel_memory(n, sizeof(double)), kernel_memory(n, sizeof(double)),
		kernel_memory(n, sizeof(double)), kernel_memory(n, sizeof(double)), threads,
		is_cyclic ? 1 : (n + threads - 1) / threads };

	assemble(&s, side);
	for (unsigned round = 0; round < rounds; round++) {
		for (size_t i = 0; i < n; i++)
			s.p[i] = solution(i);
		multiply(&s);
		for (size_t i = 0; i < n; i++) {
			s.x[i] = 0;
			s.p[i] = s.r[i] = s.q[i];
		}
		kernel_start();
		solve(&s);
		kernel_stop();
	}
	for (size_t i = 0; i < n; i++) {
		s.x[i] = floor(s.x[i] + 0.5) + 0.0;
		if (s.x[i] != solution(i))
			threaded_wrong("cg: not the solution");
	}
	return kernel_checksum(s.x, n);
}

static uint64_t run_cyclic(size_t size, unsigned rounds, unsigned threads)
{
	return gradients(size, rounds, threads, 1);
}

static uint64_t run_block(size_t size, unsigned rounds, unsigned threads)
{
	return gradients(size, rounds, threads, 0);
}

const struct threaded_kernel threaded_cg[] = {
	{ "cg", "cyclic", 200, 12, run_cyclic },
	{ "cg", "block", 200, 12, run_block },
	THREADED_END,
};
