// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions whose references follow from their source, by formula:	closed_forms NAME N
 *
 * tests/counted/closed_forms.py has the formulas. Without optimisation every mention of a variable
 * is a load or a store of it. With it, at every level, what is volatile is neither moved nor
 * joined, and the rest is in registers. Unrolling changes none of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))

static KEEP void triad(
	volatile double *a, const volatile double *b, const volatile double *c, double s, int n)
{
	for (int i = 0; i < n; i++)
		a[i] = b[i] + s * c[i];
}

static KEEP void vectors(
	double *restrict a, const double *restrict b, const double *restrict c, int n)
{
	for (int i = 0; i < n; i++)
		a[i] = b[i] + 3 * c[i];
}

static KEEP void product(
	const volatile double *a, const volatile double *b, volatile double *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double sum = 0;

			for (int k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

static KEEP void stencil(const volatile double *from, volatile double *to, int n)
{
	for (int i = 1; i < n - 1; i++)
		for (int j = 1; j < n - 1; j++)
			to[i * n + j] = 0.25 *
				(from[(i - 1) * n + j] + from[(i + 1) * n + j] +
					from[i * n + j - 1] + from[i * n + j + 1]);
}

struct node {
	struct node *volatile next;
	volatile long value;
};

static KEEP long list(const struct node *first)
{
	long sum = 0;

	for (const struct node *p = first; p; p = p->next)
		sum += p->value;
	return sum;
}

/* A range is one reference, of no size that would be the site's. */
static KEEP void ranges(char *a, const char *b, char *c, size_t n)
{
	memcpy(a, b, n);
	memset(c, 1, n);
}

/* Calls: fib(n + 1) reach the bottom and one fewer do not. Nothing is left of it in registers. */
static KEEP long fibonacci(long k)
{
	if (k < 2)
		return k;
	return fibonacci(k - 1) + fibonacci(k - 2);
}

/* A read-modify-write is a load and a store. */
static KEEP void atomics(long *p, int n)
{
	for (int i = 0; i < n; i++)
		__atomic_fetch_add(p, i, __ATOMIC_SEQ_CST);
}

/* An exchange that fails loads, and is counted as the store that it may be. */
static KEEP long exchanges(long *p, int n)
{
	long won = 0;

	for (int i = 0; i < n; i++) {
		long expected = i & 1 ? i : -1;

		won += __atomic_compare_exchange_n(
			p, &expected, i, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
	return won;
}

/* Which way is taken decides: every third time two loads, else a store. */
static KEEP long branches(volatile long *v, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		if (i % 3 == 0)
			sum += v[i] * v[i + 1];
		else
			v[i] = i;
	return sum;
}

static KEEP long chosen(volatile long *v, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		switch (v[i] & 3) {
		case 0:
			v[0] = 4;
			break;
		case 2:
			v[i] = 2;
			break;
		case 3:
			sum += 2;
			break;
		default:
			sum++;
		}
	return sum;
}

static void *memory(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!p)
		exit(1);
	memset(p, 0, (bytes + 63) / 64 * 64);
	return p;
}

static double run(const char *name, int n)
{
	size_t bytes = ((size_t)n * (size_t)n + 8) * sizeof(double);
	double *a = memory(bytes), *b = memory(bytes), *c = memory(bytes);
	struct node *nodes = memory((size_t)n * sizeof(*nodes));
	long *v = memory(bytes);

	for (int i = 0; i < n; i++) {
		nodes[i].next = i + 1 < n ? &nodes[i + 1] : NULL;
		nodes[i].value = i;
		v[i] = i;
		b[i] = i;
	}
	if (!strcmp(name, "triad"))
		triad(a, b, c, 3, n);
	else if (!strcmp(name, "vectors"))
		vectors(a, b, c, n);
	else if (!strcmp(name, "product"))
		product(a, b, c, n);
	else if (!strcmp(name, "stencil"))
		stencil(a, b, n);
	else if (!strcmp(name, "list"))
		return (double)list(nodes);
	else if (!strcmp(name, "ranges"))
		ranges((char *)a, (char *)b, (char *)c, (size_t)n);
	else if (!strcmp(name, "fibonacci"))
		return (double)fibonacci(n);
	else if (!strcmp(name, "atomics"))
		atomics(v, n);
	else if (!strcmp(name, "exchanges"))
		return (double)exchanges(v, n);
	else if (!strcmp(name, "branches"))
		return (double)branches(v, n);
	else if (!strcmp(name, "chosen"))
		return (double)chosen(v, n);
	else
		exit(2);
	return a[1] + b[1] + c[1] + (double)v[0];
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	printf("%g\n", run(argv[1], atoi(argv[2])));
	return 0;
}
