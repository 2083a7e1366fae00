// SPDX-License-Identifier: GPL-2.0-or-later
/* A matrix product in two loop orders, for the demonstration:
 *
 *	loci record -o ijk.loci matmul ijk
 *	loci record -o ikj.loci matmul ikj
 *
 * Both execute the same statement on the same elements. ijk walks b by column, a new line of the
 * cache at every step; ikj walks it by row. b is tall enough that the lines of one column do not
 *fit in a first-level cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, INNER = 1000, COLUMNS = 400 };

static void multiply_ijk(const double *a, const double *b, double *c)
{
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			for (int k = 0; k < INNER; k++)
				c[i * COLUMNS + j] += a[i * INNER + k] * b[k * COLUMNS + j];
}

static void multiply_ikj(const double *a, const double *b, double *c)
{
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < INNER; k++)
			for (int j = 0; j < COLUMNS; j++)
				c[i * COLUMNS + j] += a[i * INNER + k] * b[k * COLUMNS + j];
}

int main(int argc, char **argv)
{
	double *a = malloc(ROWS * INNER * sizeof(*a));
	double *b = malloc(INNER * COLUMNS * sizeof(*b));
	double *c = calloc(ROWS * COLUMNS, sizeof(*c));
	double sum = 0;

	if (argc != 2 || (strcmp(argv[1], "ijk") && strcmp(argv[1], "ikj"))) {
		fprintf(stderr, "usage: matmul ijk|ikj\n");
		return 2;
	}
	if (!a || !b || !c)
		return 1;
	for (int i = 0; i < ROWS * INNER; i++)
		a[i] = i % 7;
	for (int i = 0; i < INNER * COLUMNS; i++)
		b[i] = i % 5;
	if (!strcmp(argv[1], "ijk"))
		multiply_ijk(a, b, c);
	else
		multiply_ikj(a, b, c);
	for (int i = 0; i < ROWS * COLUMNS; i++)
		sum += c[i];
	printf("%g\n", sum);
	free(a);
	free(b);
	free(c);
	return 0;
}
