// SPDX-License-Identifier: GPL-2.0-or-later
/* What a mark costs: CPU time of a pair of region marks, and of a reference that is told, in a
 * program that runs alone, or however else it is run.	marks_bench [PAIRS] */
#include <loci/mark.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000000;
	double start = now_ns(), between;
	static long cell;

	for (long i = 0; i < n; i++) {
		loci_region_begin("bench");
		loci_region_end("bench");
	}
	between = now_ns();
	for (long i = 0; i < n; i++)
		loci_access(&cell, sizeof(cell), LOCI_LOAD);
	printf("region %.2f ns a mark, access %.2f ns\n", (between - start) / (2 * (double)n),
		(now_ns() - between) / (double)n);
	return 0;
}
