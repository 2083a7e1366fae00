// SPDX-License-Identifier: GPL-2.0-or-later
/* A matrix product that writes the trace of its own references, as Valgrind's Lackey would, so that
 * the demonstration needs no tracer:
 *
 *	matmul ijk | loci analyse -o ijk.loci -
 *	matmul ikj | loci analyse -o ikj.loci -
 *
 * Both orders execute the same statement on the same elements. ijk walks b by column, a new line of
 * the cache at every step; ikj walks it by row. The matrix b is tall enough that the lines of one
 * column do not fit in a first-level cache. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, INNER = 1000, COLUMNS = 400 };

static double a[ROWS][INNER], b[INNER][COLUMNS], c[ROWS][COLUMNS];

/* " L 0123456789ab,8": printf would take most of the time. */
static void trace(char kind, const double *element)
{
	static const char digit[] = "0123456789abcdef";
	uintptr_t address = (uintptr_t)element;
	char line[] = " L 000000000000,8\n";

	line[1] = kind;
	for (int i = 14; address && i > 2; i--, address >>= 4)
		line[i] = digit[address & 15];
	fwrite(line, 1, sizeof(line) - 1, stdout);
}

static double load(const double *element)
{
	trace('L', element);
	return *element;
}

static void store(double *element, double value)
{
	trace('S', element);
	*element = value;
}

/* The statement all is about: c[i][j] += a[i][k] * b[k][j]. */
static void step(int i, int j, int k)
{
	double sum = load(&c[i][j]);
	double left = load(&a[i][k]);
	double right = load(&b[k][j]);

	store(&c[i][j], sum + left * right);
}

static void ijk(void)
{
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			for (int k = 0; k < INNER; k++)
				step(i, j, k);
}

static void ikj(void)
{
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < INNER; k++)
			for (int j = 0; j < COLUMNS; j++)
				step(i, j, k);
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];
	const char *order = argc == 2 ? argv[1] : "";

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	if (!strcmp(order, "ijk")) {
		ijk();
	} else if (!strcmp(order, "ikj")) {
		ikj();
	} else {
		fprintf(stderr, "usage: matmul ijk|ikj\n");
		return 2;
	}
	if (fflush(stdout) || ferror(stdout)) {
		perror("matmul");
		return 1;
	}
	return 0;
}
