/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops of all shapes, calls within them, recursion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 40
static double a[N][N], b[N][N], c[N][N];
struct node {
	struct node *next;
	long value;
};

static void multiply(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;
			for (int k = 0; k < N; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
}

static struct node *make(int n)
{
	struct node *head = NULL;
	for (int i = 0; i < n; i++) {
		struct node *node = malloc(sizeof(*node));
		node->value = i * 7 % 13;
		node->next = head;
		head = node;
	}
	return head;
}

__attribute__((noinline)) static long sum_list(const struct node *node)
{
	long sum = 0;
	while (node) {
		if (node->value & 1)
			sum += node->value * 3;
		else if (node->value % 3 == 0)
			sum -= node->value;
		node = node->next;
	}
	return sum;
}

static int by_value(const void *x, const void *y)
{
	long p = *(const long *)x, q = *(const long *)y;
	return p < q ? -1 : p > q;
}

__attribute__((noinline)) static long fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int collatz(unsigned long n, int *trail, int max)
{
	int steps = 0;
	while (n != 1) {
		if (steps < max)
			trail[steps] = (int)n;
		steps++;
		n = n & 1 ? 3 * n + 1 : n / 2;
		if (steps > 10000)
			break;
	}
	return steps;
}

__attribute__((noinline)) static int find(const int *v, int n, int wanted)
{
	for (int i = 0; i < n; i++) {
		if (v[i] == wanted)
			return i;
		if (v[i] < 0)
			continue;
		switch (v[i] % 5) {
		case 0:
			i++;
			break;
		case 3:
			if (i > 30)
				goto out;
		}
	}
out:
	return -1;
}

int main(void)
{
	static int trail[64];
	long values[200];
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = i + j;
			b[i][j] = i - j;
		}
	multiply();
	double total = 0;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			total += c[i][j] * (i ^ j);
	printf("%g\n", total);
	printf("%ld\n", sum_list(make(100)));
	for (int i = 0; i < 200; i++)
		values[i] = i * 7919L % 1009;
	qsort(values, 200, sizeof(*values), by_value);
	printf("%ld %ld %ld\n", values[0], values[100], values[199]);
	printf("%ld\n", fibonacci(18));
	printf("%d %d\n", collatz(27, trail, 64), trail[20]);
	printf("%d %d\n", find(trail, 64, 214), find(trail, 64, -5));
	char text[100] = "";
	for (int i = 0; i < 9; i++) {
		strcat(text, "abc");
		memmove(text + 1, text, strlen(text));
	}
	puts(text);
	return 0;
}
