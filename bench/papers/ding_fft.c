// SPDX-License-Identifier: GPL-2.0-or-later
/* A two-dimensional FFT with the references and elements of Ding and Zhong's (2001): four arrays of
 * n x n complex elements. Their program is not public; doc/papers.md says what is known of it and
 * what was guessed. Arrays are volatile so that each reference of the source is one of the program,
 * and a statement stands on one line; indices and roots of unity stay in registers. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST  128
#define TERMS 33 /* of a series */

typedef double complex number;

static volatile number x[MOST][MOST], y[MOST][MOST], z[MOST][MOST], w[MOST][MOST];
static volatile number coefficient[TERMS];

static void begin(void)
{
	for (int k = 0; k < TERMS; k++)
		coefficient[k] = 1. / (1 + k * k);
}

static number series(double at)
{
	number sum = 0;
	double power = 1;

	for (int k = 0; k < TERMS; k++) {
		sum += coefficient[k] * power;
		power *= at;
	}
	return sum;
}

static void fill(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double at = (double)(i + j) / (2 * n);

			x[i][j] = series(at) + I * series(-at);
			w[i][j] = series(1 - at) + I * series(at * at);
		}
}

/* In place: bits reversed, then butterflies of 2, 4, .. n. */
static void transform(volatile number *row, int n)
{
	for (int j = 1, r = n / 2; j < n - 1; j++) {
		int bit = n / 2;

		if (j < r) {
			number t = row[j];
			row[j] = row[r];
			row[r] = t;
		}
		for (; bit <= r; bit /= 2)
			r -= bit;
		r += bit;
	}
	for (int half = 1; half < n; half *= 2) {
		number root = cexp(-I * M_PI / half), power = 1;

		for (int j = 0; j < half; j++) {
			for (int k = j; k < n; k += 2 * half) {
				number t = power * row[k + half];
				row[k + half] = row[k] - t;
				row[k] = row[k] + t;
			}
			power *= root;
		}
	}
}

static void transpose(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			y[j][i] = x[i][j];
}

static void multiply(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			z[i][j] = y[i][j] * w[i][j];
}

static void give_back(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			x[j][i] = z[i][j];
}

static void scale(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			x[i][j] = x[i][j] / n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 64;

	if (n < 4 || n > MOST || n & (n - 1)) {
		fprintf(stderr, "usage: ding_fft N, a power of two from 4 to %d\n", MOST);
		return 2;
	}
	begin();
	fill(n);
	for (int i = 0; i < n; i++)
		transform(x[i], n);
	transpose(n);
	for (int i = 0; i < n; i++)
		transform(y[i], n);
	multiply(n);
	give_back(n);
	scale(n);
	return 0;
}
