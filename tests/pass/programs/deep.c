/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops within loops within loops within loops: left early, by return and by goto to further out
 * than the next, by a switch; two in one, with values that are used after, and that go on from turn
 * to turn in each; with bounds that change; and such that are never entered. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 12
static double left[N * N * N], right[N * N * N], sum[N * N];
static uint32_t first[N * N + 1], column[N * N * 8];
static long found;

/* As sparse matrices are multiplied, in steps, in rounds. */
__attribute__((noinline)) static double sparse(unsigned rounds, unsigned steps, size_t n)
{
	double all = 0;
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned step = 0; step < steps; step++) {
			for (size_t i = 0; i < n; i++) {
				double row = 0;
				for (uint32_t k = first[i]; k < first[i + 1]; k++)
					row += left[k % (N * N)] * right[column[k]];
				sum[i] = row;
			}
			all += sum[step % n] + round;
		}
	return all;
}

/* Six deep, the innermost in equal steps. */
__attribute__((noinline)) static void tiles(size_t n, size_t side)
{
	for (size_t i0 = 0; i0 < n; i0 += side)
		for (size_t k0 = 0; k0 < n; k0 += side)
			for (size_t j0 = 0; j0 < n; j0 += side)
				for (size_t i = i0; i < i0 + side && i < n; i++)
					for (size_t k = k0; k < k0 + side && k < n; k++)
						for (size_t j = j0; j < j0 + side && j < n; j++)
							sum[i * n + j] +=
								left[i * n + k] * right[k * n + j];
}

/* Left to several places, with values of the turn that it was left in. */
__attribute__((noinline)) static long leaves(const double *at, size_t n, double asked)
{
	long before = 0, last = 0;
	for (size_t a = 0; a < n; a++) {
		for (size_t b = 0; b < n; b++) {
			long here = 0;
			for (size_t c = 0; c < n; c++) {
				double row = at[a * n + c];
				before = last;
				for (size_t d = 0; d < n; d++) {
					row += at[(b * n + d) % (N * N)] * 3;
					if (row > asked * 100)
						goto next;
				}
				last = (long)row;
				if (row == asked)
					goto out;
				if (last == 7777)
					return before + (long)(a + b + c);
				switch (last % 11) {
				case 3:
					here += last;
					break;
				case 5:
					goto next;
				case 7:
					goto after;
				default:
					here += (long)c;
				}
			}
			found += here;
		next:
			found += before - last;
		}
	after:
		sum[a] += (double)last;
	}
out:
	return before * 3 + last;
}

/* Two in one, the second of which goes on where the first one ended. */
__attribute__((noinline)) static uint64_t goes_on(size_t n, size_t m)
{
	uint64_t x = 1, y = 3;
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b < m; b++) {
			size_t c = 0, stop = (size_t)(x % n);
			for (; c < stop; c++)
				for (size_t d = 0; d < m; d++) {
					x = x * 6364136223846793005ull + column[(c * m + d) % N];
					y ^= x >> 7;
				}
			for (; c < n; c++)
				for (size_t d = 0; d < c; d++)
					y += column[d] * x + (uint64_t)right[c * n + d];
			column[b] = (uint32_t)(y % (N * N));
		}
	return x ^ y;
}

int main(void)
{
	for (size_t i = 0; i < N * N * N; i++) {
		left[i] = (double)(i % 7);
		right[i] = (double)(i % 5);
	}
	for (size_t i = 0; i < N * N * 8; i++)
		column[i] = (uint32_t)(i * 31 % (N * N));
	for (size_t i = 0; i < N * N; i++)
		first[i + 1] = first[i] + (uint32_t)(i % 9);
	found = (long)sparse(4, 5, N * N);
	for (size_t n = 1; n <= N; n++)
		for (size_t side = 1; side <= n; side += 2)
			tiles(n, side);
	for (size_t i = 0; i < 40; i++)
		found += leaves(left, i % (N + 1), (double)i);
	for (size_t n = 1; n <= N; n++)
		found += (long)(goes_on(n, N - n) % 100000);
	for (size_t i = 0; i < N * N; i++)
		found += (long)sum[i] % 1000 + column[i];
	printf("%ld\n", found);
	return 0;
}
