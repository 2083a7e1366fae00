/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops that go in equal steps, or nearly, of every shape: what they refer to is the same whether
 * they are told by one marker or not. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N     600
#define APART __attribute__((noinline)) static

static double a[N], b[N], c[N * 4];
static float f[N], g[N];
static int32_t k[N];
static unsigned char bytes[N];
static uint64_t words[N];
static struct point {
	double x, y, z;
} points[N];

APART double dot(const double *x, const double *y, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

APART void add(float *to, const float *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += 2 * from[i];
}

APART void stride(double *to, const double *from, long n, long step)
{
	for (long i = 0; i < n; i++)
		to[i * step] = from[i] + 1;
}

APART void down(double *to, long n)
{
	for (long i = n; i-- > 1;)
		to[i] = to[i - 1];
}

APART uint64_t pointers(const uint64_t *from, const uint64_t *end)
{
	uint64_t sum = 0;
	for (; from != end; from += 3)
		sum = sum * 31 + *from;
	return sum;
}

APART void triangle(double *x, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			x[i] += x[j] / 3;
}

APART void tiles(double *to, const double *from, size_t n)
{
	for (size_t i0 = 0; i0 < n; i0 += 16)
		for (size_t j0 = 0; j0 < n; j0 += 16)
			for (size_t i = i0; i < i0 + 16 && i < n; i++)
				for (size_t j = j0; j < (j0 + 16 < n ? j0 + 16 : n); j++)
					to[i * n + j] += from[j];
}

/* Wraps round: the addresses go in no equal steps if n is large. */
APART unsigned wrapping(const unsigned char *from, uint8_t first, uint8_t n)
{
	unsigned sum = 0;
	for (uint8_t i = first; i != n; i++)
		sum += from[i];
	return sum;
}

APART uint32_t wide(const int32_t *from, uint32_t first, uint32_t n)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += (uint32_t)from[(first + i) % N];
	return sum;
}

APART int early(const int32_t *from, int n, int wanted)
{
	int i;
	for (i = 0; i < n; i++)
		if (from[i] == wanted)
			break;
	return i;
}

APART int either(int32_t *to, int n)
{
	int last = 0;
	for (int i = 0; i < n; i++) {
		int value = to[i];
		if (value % 3 == 0)
			value = value / 2 + last;
		else
			value = value * 3 - i;
		to[i] = value & 0xffff;
		last = value % 7;
	}
	return last;
}

APART void sometimes(int32_t *to, const int32_t *from, int n)
{
	for (int i = 0; i < n; i++)
		if (from[i] & 1)
			to[i] = from[i] + 1;
}

APART void gather(double *to, const double *from, const int32_t *at, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = from[at[i] % N] + 1;
}

APART void move(struct point *p, int n, double by)
{
	for (int i = 0; i < n; i++) {
		p[i].x += by;
		p[i].z -= by * p[i].y;
	}
}

APART int first_of(volatile int32_t *from, int n, int32_t *found)
{
	int i = 0;
	do
		*found = from[i];
	while (++i < n);
	return i;
}

APART double sums(const double *x, int n, int *ret)
{
	double low = 1e9, sum = 0;
	int i;
	for (i = 2; i < n; i += 2) {
		low = x[i] < low ? x[i] : low;
		sum += x[i];
	}
	*ret = i;
	return sum - low;
}

/* By a counter that begins anywhere and goes in steps, with references right before it. */
APART uint64_t until(const volatile uint64_t *x, uint64_t first, uint64_t turns)
{
	uint64_t i = first, bound = first + turns * 4, sum = x[first] + x[first + 1];
	do
		sum = sum * 3 + x[i] + x[i + 1] + x[i + 2];
	while ((i += 4) != bound);
	return sum;
}

/* It goes on where others end. */
APART uint64_t as_long_as(const volatile uint64_t *x, uint64_t n)
{
	uint64_t i = 0, sum = 0;
	do
		sum += x[i++];
	while (i == n);
	return sum;
}

APART void scale(volatile double *to, const volatile double *by, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		double factor = by[i] - by[n];
		for (uint64_t j = 0; j < n; j++)
			to[i * n + j] *= factor;
	}
}

/* More references than a marker can tell, and many that it can. */
#define FOUR(m) m m m m
#define MANY(m) FOUR(FOUR(m))
#define STEP                                  \
	{                                     \
		volatile uint64_t *p = x + i; \
		*p = *p + 1;                  \
	}
APART void many(uint64_t *x, int n)
{
	for (int i = 0; i < n; i++) {
		MANY(STEP) FOUR(STEP)
	}
}
APART void too_many(uint64_t *x, int n)
{
	for (int i = 0; i < n; i++) {
		FOUR(MANY(STEP)) FOUR(STEP)
	}
}

APART uint64_t none(void)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < 300; i++)
		sum = sum * 7 + words[i] + words[299 - i];
	return sum;
}

int main(void)
{
	int32_t found = 0;
	int last = 0;
	uint64_t hash = 0;
	double sum = 0;
	for (int i = 0; i < N; i++) {
		a[i] = i % 17, b[i] = i % 23, f[i] = (float)(i % 5), g[i] = 1;
		k[i] = i * 37 % 101, bytes[i] = (unsigned char)i, words[i] = (uint64_t)i * i;
	}
	for (int n = 0; n < 20; n++) {
		sum += dot(a, b, n * 5);
		add(f, g, (size_t)n * 3);
		stride(c, a, n, 7);
		stride(c + N, a, n, -3);
		stride(c, b, n, 0);
		down(a, n * 4);
		hash += pointers(words, words + 3 * n);
		sum += sums(a, n * 2, &last) + last;
		hash += wrapping(bytes, (uint8_t)(250 + n), (uint8_t)(n * 13));
		hash += wide(k, UINT32_MAX - 5, (uint32_t)n);
		hash += (uint64_t)early(k, n * 9, 74) + (uint64_t)either(k, n * 3);
		sometimes(k, k + 50, n);
		gather(b, a, k, n * 2);
		move(points, n * 6, 0.5);
		hash += (uint64_t)first_of(k, n, &found) + (uint64_t)found;
		hash += until(words, (uint64_t)n * 3, (uint64_t)n + 1);
		hash += as_long_as(words + n, (uint64_t)n);
		scale(c, b, (uint64_t)n);
		many(words, n);
		too_many(words, n);
	}
	triangle(a, 40);
	tiles(c, a, 40);
	hash += none();
	for (int i = 0; i < N; i++)
		sum += a[i] + b[i] + c[i] + (double)f[i] + points[i].x + points[i].z;
	printf("%.17g %llx\n", sum, (unsigned long long)hash);
	return 0;
}
