/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops around short loops, of which all is known when the outer one begins: left early, by return
 * and by goto, with loops within that do not go round at all, that are left over of others, whose
 * bounds change from turn to turn; with calls, which make them none; with values that are used long
 * after. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 40
static double left[N * N], right[N * N], sum[N * N];
static long found;

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Tiles: what is left over of the inner loop, if anything, is another loop. */
__attribute__((noinline)) static void tile(size_t n, size_t k0, size_t j0, size_t side)
{
	size_t k1 = least(k0 + side, n), j1 = least(j0 + side, n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = k0; k < k1; k++)
			for (size_t j = j0; j < j1; j++)
				sum[i * n + j] += left[i * n + k] * right[k * n + j];
}

/* Strides that are multiples of one another, all of which either copy may have made. */
__attribute__((noinline)) static void strides(double *at, size_t n, size_t part)
{
	for (size_t k = 1; k < n; k++)
		for (size_t j = 0; j < n; j++)
			for (size_t i = 0; i < n / 4; i++) {
				double *here = at + (k * n + j) % (N * N / 2) + i;
				here[0] += here[part];
				here[2 * part] += here[3 * part] * here[4 * part];
			}
}

/* Ends in the middle of a row, before it or after it. */
__attribute__((noinline)) static size_t leaves(
	const double *at, size_t n, size_t width, double asked)
{
	for (size_t i = 0; i < n; i++) {
		double all = 0;
		if (at[i * width] == asked)
			return i;
		for (size_t k = 0; k < width; k++)
			all += at[i * width + k] * 3;
		if (all > asked * 1000)
			goto out;
		if (at[i * width + width / 2] > asked + 7)
			return i * 3;
		sum[i] = all;
	}
	return n;
out:
	found++;
	return n + 1;
}

/* Inner loops one after the other, and one or the other. */
__attribute__((noinline)) static void several(double *to, const double *from, size_t n, size_t m)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < m; k++)
			to[i + k] += from[k];
		if (from[i] > 5) {
			for (size_t k = 0; k < m / 2; k++)
				to[k * 2] -= from[i + k];
		} else {
			to[i] = from[i + 1];
		}
		for (size_t k = 0; k < i; k++) /* not known in advance */
			to[k] += from[i];
	}
}

__attribute__((noinline)) static double outside(double of)
{
	found += of > 3;
	return of + left[3];
}

/* A call may change the budget. */
__attribute__((noinline)) static void calling(double *to, size_t n, size_t m)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < m; k++)
			to[i * m + k] *= 0.5;
		to[i] += outside(to[i * m]);
	}
}

/* Values of the nest that are used behind it. */
__attribute__((noinline)) static long later(const long *at, size_t n, size_t m)
{
	long last = 0, before = 0, all = 0;
	size_t i;
	for (i = 0; i < n; i++) {
		before = last;
		last = at[i];
		for (size_t k = 0; k < m; k++)
			all += at[k] ^ last;
		if (last == 77)
			break;
	}
	for (size_t k = 0; k < n % 7; k++)
		found += last * (long)k + before;
	return all + last + before + (long)i;
}

/* Bounds that are far more than is ever done, and that cannot be multiplied. */
__attribute__((noinline)) static size_t endless(const double *at, uint64_t n, uint64_t m)
{
	size_t done = 0;
	for (uint64_t i = 0; i < n; i++) {
		for (uint64_t k = 0; k < m; k++)
			sum[k] += at[k];
		if (at[i] > 4)
			return done;
		done++;
	}
	return done;
}

int main(void)
{
	static double many[8 * N * N];
	long number[N];
	for (size_t i = 0; i < N * N; i++) {
		left[i] = (double)(i % 7);
		right[i] = (double)(i % 5);
	}
	for (size_t i = 0; i < N; i++)
		number[i] = (long)(i * 37 % 101);
	for (size_t n = 1; n <= N; n += 3)
		for (size_t k = 0; k < n; k += 8)
			for (size_t j = 0; j < n; j += 8)
				tile(n, k, j, 8);
	for (size_t part = 0; part < N; part += 9)
		strides(many, N, part);
	for (size_t i = 0; i < N; i++) {
		found += (long)leaves(left, N, i % 11, (double)(i % 9));
		several(many, left, i, i % 13);
		calling(many, i, i % 6);
		found += later(number, i, i % 10);
		found += (long)endless(left, i % 2 ? UINT64_MAX : i, i % 12);
	}
	for (size_t i = 0; i < N * N; i++)
		found += (long)sum[i] % 1000 + (long)many[i] % 100;
	printf("%ld\n", found);
	return 0;
}
