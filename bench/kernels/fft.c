// SPDX-License-Identifier: GPL-2.0-or-later
/* Fast Fourier transform of 2^size complex numbers (Cooley and Tukey 1965). Breadth first, every
 * level passes over all the data; depth first, the levels of a part are done while it is in the
 * cache. The butterflies are the same ones. */
#include "kernels.h"

#include <math.h>

enum { LEAF = 1024 };

struct complex_number {
	double re, im;
};

static void reverse(struct complex_number *v, size_t n)
{
	for (size_t i = 1, j = 0; i < n; i++) {
		size_t bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			struct complex_number swap = v[i];

			v[i] = v[j];
			v[j] = swap;
		}
	}
}

/* Makes one transform of two of half the length; root has those of all. */
static void combine(
	struct complex_number *v, size_t n, const struct complex_number *root, size_t stride)
{
	struct complex_number *low = v, *high = v + n / 2;

	for (size_t k = 0; k < n / 2; k++) {
		struct complex_number w = root[k * stride], h = high[k], l = low[k];
		double re = h.re * w.re - h.im * w.im, im = h.re * w.im + h.im * w.re;

		low[k].re = l.re + re;
		low[k].im = l.im + im;
		high[k].re = l.re - re;
		high[k].im = l.im - im;
	}
}

static void breadth_first(
	struct complex_number *v, size_t n, const struct complex_number *root, size_t stride)
{
	for (size_t length = 2; length <= n; length *= 2)
		for (size_t at = 0; at < n; at += length)
			combine(v + at, length, root, stride * (n / length));
}

static void depth_first(
	struct complex_number *v, size_t n, const struct complex_number *root, size_t stride)
{
	if (n <= LEAF) {
		breadth_first(v, n, root, stride);
		return;
	}
	depth_first(v, n / 2, root, stride * 2);
	depth_first(v + n / 2, n / 2, root, stride * 2);
	combine(v, n, root, stride);
}

typedef void fft_fn(struct complex_number *, size_t, const struct complex_number *, size_t);

static uint64_t transform(size_t size, unsigned rounds, fft_fn *fft)
{
	const double pi = 3.14159265358979323846;
	size_t n = (size_t)1 << size;
	struct complex_number *v = kernel_memory(n, sizeof(*v));
	struct complex_number *root = kernel_memory(n / 2 + 1, sizeof(*root));

	for (size_t i = 0; i < n / 2; i++) {
		root[i].re = cos(2 * pi * (double)i / (double)n);
		root[i].im = sin(2 * pi * (double)i / (double)n);
	}
	for (size_t i = 0; i < n; i++)
		v[i].re = (double)(i % 23);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++) {
		reverse(v, n);
		fft(v, n, root, 1);
		for (size_t i = 0; i < n; i++) {
			v[i].re /= (double)n;
			v[i].im /= (double)n;
		}
	}
	kernel_stop();
	return kernel_checksum((double *)v, 2 * n);
}

static uint64_t run_breadth(size_t size, unsigned rounds)
{
	return transform(size, rounds, breadth_first);
}

static uint64_t run_depth(size_t size, unsigned rounds)
{
	return transform(size, rounds, depth_first);
}

const struct kernel kernels_fft[] = {
	{ "fft", "breadth", 18, 6, run_breadth },
	{ "fft", "depth", 18, 6, run_depth },
	KERNEL_END,
};
