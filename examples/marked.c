// SPDX-License-Identifier: GPL-2.0-or-later
/* A program that tells loci what it does: red-black relaxation of a grid, with a region for each
 * part of the work, phases, and a name for the grid's edge.
 *
 *	cc -O2 -g marked.c $(pkg-config --cflags loci-mark) -o marked	or: loci cc ...
 *	loci record ./marked && loci report marked.loci --by region */
#include <loci/mark.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SIDE = 258, /* with the edge */
	STEPS = 4,
};

static void relax(double *grid, int colour)
{
	for (int y = 1; y < SIDE - 1; y++)
		for (int x = 1 + (y + colour) % 2; x < SIDE - 1; x += 2) {
			double *at = grid + (size_t)y * SIDE + x;

			*at = (at[-1] + at[1] + at[-SIDE] + at[SIDE]) / 4;
		}
}

static double residual(const double *grid)
{
	double sum = 0;

	for (int y = 1; y < SIDE - 1; y++)
		for (int x = 1; x < SIDE - 1; x++) {
			const double *at = grid + (size_t)y * SIDE + x;
			double r = at[-1] + at[1] + at[-SIDE] + at[SIDE] - 4 * *at;

			sum += r * r;
		}
	return sum;
}

int main(void)
{
	double *grid = calloc((size_t)SIDE * SIDE, sizeof(*grid)), rest = 0;

	if (!grid)
		return 1;
	loci_object(grid, SIDE * SIDE * sizeof(*grid), sizeof(*grid), "grid");
	loci_object_part(grid, grid, SIDE * sizeof(*grid), "north edge");
	loci_phase("set up");
	for (int i = 0; i < SIDE; i++)
		grid[i] = 1;
	loci_phase("solve");
	for (int step = 0; step < STEPS; step++) {
		loci_region_begin("step");
		loci_region_begin("relax");
		relax(grid, 0);
		relax(grid, 1);
		loci_region_end("relax");
		loci_region_begin("residual");
		rest = residual(grid);
		loci_region_end("residual");
		loci_region_end("step");
	}
	printf("%.3f\n", rest);
	loci_object_end(grid);
	free(grid);
	return 0;
}
