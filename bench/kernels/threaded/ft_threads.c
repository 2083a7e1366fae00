// SPDX-License-Identifier: GPL-2.0-or-later
/* Fourier transform of a cube of size points a side, a power of two, along each dimension by OpenMP
 * and back again. Lines across rows are transformed where they stand, one by one, so that threads
 * write parts of the same lines of the cache, or eight neighbours at a time in memory of the
 * thread's own. */
#include "threaded.h"

#include <math.h>

enum { TOGETHER = 8, SIDE_MAX = 512 };

struct point {
	double re, im;
};

struct cube {
	size_t n;
	struct point *at, *root; /* root[k]: exp(-2 pi i k / n) */
	unsigned threads;
};

/* In place, elements `stride` apart. */
static void transform(const struct cube *c, struct point *v, size_t stride, double sign)
{
	size_t n = c->n;

	for (size_t i = 1, j = 0; i < n; i++) {
		size_t bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j |= bit;
		if (i < j) {
			struct point swap = v[i * stride];

			v[i * stride] = v[j * stride];
			v[j * stride] = swap;
		}
	}
	for (size_t half = 1; half < n; half *= 2)
		for (size_t k = 0; k < half; k++) {
			struct point w = c->root[k * (n / 2 / half)];

			for (size_t i = k; i < n; i += 2 * half) {
				struct point *a = &v[i * stride], *b = &v[(i + half) * stride];
				double re = b->re * w.re - sign * b->im * w.im;
				double im = sign * b->re * w.im + b->im * w.re;

				b->re = a->re - re;
				b->im = a->im - im;
				a->re += re;
				a->im += im;
			}
		}
}

/* Lines that begin at `first` and its neighbours. */
static void transform_together(const struct cube *c, size_t first, size_t stride, double sign)
{
	struct point own[TOGETHER * SIDE_MAX];

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < TOGETHER; k++)
			own[k * c->n + i] = c->at[first + i * stride + k];
	for (size_t k = 0; k < TOGETHER; k++)
		transform(c, own + k * c->n, 1, sign);
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < TOGETHER; k++)
			c->at[first + i * stride + k] = own[k * c->n + i];
}

static void along_rows(const struct cube *c, double sign)
{
	size_t n = c->n;

#pragma omp parallel for num_threads(c->threads) schedule(static)
	for (size_t line = 0; line < n * n; line++)
		transform(c, c->at + line * n, 1, sign);
}

/* stride: n or n * n. Where the line of a number begins: */
static size_t line_start(size_t n, size_t stride, size_t line)
{
	return stride == n ? line / n * n * n + line % n : line;
}

static void across_strided(const struct cube *c, size_t stride, double sign)
{
	size_t n = c->n;

#pragma omp parallel for num_threads(c->threads) schedule(static, 1)
	for (size_t line = 0; line < n * n; line++)
		transform(c, c->at + line_start(n, stride, line), stride, sign);
}

static void across_gathered(const struct cube *c, size_t stride, double sign)
{
	size_t n = c->n;

#pragma omp parallel for num_threads(c->threads) schedule(static)
	for (size_t line = 0; line < n * n; line += TOGETHER)
		transform_together(c, line_start(n, stride, line), stride, sign);
}

typedef void across_fn(const struct cube *c, size_t stride, double sign);

static void forth_and_back(const struct cube *c, across_fn *across)
{
	size_t n = c->n, points = n * n * n;
	double scale = 1 / (double)points;

	along_rows(c, 1);
	across(c, n, 1);
	across(c, n * n, 1);
	across(c, n * n, -1);
	across(c, n, -1);
	along_rows(c, -1);
#pragma omp parallel for num_threads(c->threads) schedule(static)
	for (size_t i = 0; i < points; i++) {
		c->at[i].re *= scale;
		c->at[i].im *= scale;
	}
}

static uint64_t fourier(size_t n, unsigned rounds, unsigned threads, across_fn *across)
{
	size_t points = n * n * n;
	struct cube c = { n, threaded_lines(points * sizeof(struct point)),
		kernel_memory(n, sizeof(struct point)), threads };

	if (n < TOGETHER || n > SIDE_MAX || n & (n - 1))
		threaded_wrong("ft: the size is no power of two from 8 to 512");
	for (size_t k = 0; k < n; k++) {
		double angle = -2 * 3.14159265358979323846 * (double)k / (double)n;

		c.root[k] = (struct point){ cos(angle), sin(angle) };
	}
	for (size_t i = 0; i < points; i++)
		c.at[i].re = (double)(i % 13) - 6;
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		forth_and_back(&c, across);
	kernel_stop();
	for (size_t i = 0; i < points; i++)
		if (fabs(c.at[i].re - ((double)(i % 13) - 6)) > 1e-9 || fabs(c.at[i].im) > 1e-9)
			threaded_wrong("ft: not what it was");
	return kernel_checksum(&c.at[0].re, 2 * points);
}

static uint64_t run_strided(size_t size, unsigned rounds, unsigned threads)
{
	return fourier(size, rounds, threads, across_strided);
}

static uint64_t run_gathered(size_t size, unsigned rounds, unsigned threads)
{
	return fourier(size, rounds, threads, across_gathered);
}

const struct threaded_kernel threaded_ft[] = {
	{ "ft", "strided", 64, 2, run_strided },
	{ "ft", "gathered", 64, 2, run_gathered },
	THREADED_END,
};
