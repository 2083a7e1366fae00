// SPDX-License-Identifier: GPL-2.0-or-later
/* ADI as Ding and Zhong (2001) may have had it: alternating direction implicit integration, three
 * arrays of n x n, four nests of two loops. Their program is not public; doc/papers.md says what is
 * known of it and what was guessed. Arrays are volatile so that each reference of the source is
 * one of the program, and a statement stands on one line; indices stay in registers. */
#include <stdio.h>
#include <stdlib.h>

#define MOST 128

static volatile double x[MOST][MOST], a[MOST][MOST], b[MOST][MOST];

static void fill(int n)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++) {
			x[j][i] = 1 + 0.5 * i - 0.25 * j;
			a[j][i] = 0.125 + 1. / (1 + i + j);
			b[j][i] = 4 + a[j][i];
		}
}

/* Along j: what it carries is a column away. */
static void sweep_columns(int n)
{
	for (int j = 1; j < n; j++)
		for (int i = 0; i < n; i++) {
			x[j][i] = x[j][i] - x[j - 1][i] * a[j][i] / b[j - 1][i];
			b[j][i] = b[j][i] - a[j][i] * a[j][i] / b[j - 1][i];
			a[j][i] = a[j][i] * b[j][i] / b[j - 1][i];
		}
}

/* Along i: what it carries is the element before. */
static void sweep_rows(int n)
{
	for (int j = 0; j < n; j++)
		for (int i = 1; i < n; i++) {
			x[j][i] = x[j][i] - x[j][i - 1] * a[j][i] / b[j][i - 1];
			b[j][i] = b[j][i] - a[j][i] * a[j][i] / b[j][i - 1];
			a[j][i] = a[j][i] * b[j][i] / b[j][i - 1];
		}
}

/* Across. */
static void scale(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			x[j][i] = x[j][i] / b[j][i];
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 50;

	if (n < 2 || n > MOST) {
		fprintf(stderr, "usage: ding_adi N, from 2 to %d\n", MOST);
		return 2;
	}
	fill(n);
	sweep_columns(n);
	sweep_rows(n);
	scale(n);
	return 0;
}
