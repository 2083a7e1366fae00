// SPDX-License-Identifier: GPL-2.0-or-later
/* For samples that are watched: two arrays, one of which is near and the other far, written and
 * read by functions that are called from several places. */
#include <stdio.h>
#include <stdlib.h>

#define FAR  20000
#define NEAR 100

static double total;

__attribute__((noinline)) static void fill(volatile double *a, int n)
{
	for (int i = 0; i < n; i++)
		a[i] = i;
}

__attribute__((noinline)) static void add(volatile double *a, int n)
{
	for (int i = 0; i < n; i++)
		total += a[i];
}

__attribute__((noinline)) static void add_often(volatile double *a, int n, int times)
{
	for (int i = 0; i < times; i++)
		add(a, n);
}

__attribute__((noinline)) static void scale(volatile double *a, int n)
{
	for (int i = 0; i < n; i++)
		a[i] *= 2;
}

int main(void)
{
	double *far = malloc(FAR * sizeof(*far)), *near = malloc(NEAR * sizeof(*near));

	if (!far || !near)
		return 1;
	fill(far, FAR);
	fill(near, NEAR);
	for (int i = 0; i < 4; i++) {
		add_often(far, FAR, 2);
		add_often(near, NEAR, 400);
	}
	scale(far, FAR);
	add(far, FAR);
	printf("%g\n", total);
	free(far);
	free(near);
	return 0;
}
