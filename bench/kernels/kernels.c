// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a kernel:	kernels NAME VARIANT [SIZE [ROUNDS]]
 *		kernels list
 *
 * SIZE and ROUNDS of 0 are the ones that the list gives, which take about a tenth of a second. What
 * is printed is the same in every run but for the last two fields, the seconds of the part that
 *counts and of the processor's time in it: making the input and the checksum are not in them. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct kernel *const families[] = { kernels_product, kernels_triad, kernels_stencil,
	kernels_adi, kernels_fft, kernels_lu, kernels_cg, kernels_bfs, kernels_join, kernels_list,
	kernels_quicksort, kernels_btree, kernels_backprop, kernels_diffusion, kernels_hydro,
	kernels_penta, kernels_sweep3d, kernels_unwritten };

enum { N_FAMILIES = sizeof(families) / sizeof(families[0]) };

static double started, started_cpu, seconds, cpu_seconds;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void kernel_start(void)
{
	started = now(CLOCK_MONOTONIC);
	started_cpu = now(CLOCK_THREAD_CPUTIME_ID);
}

void kernel_stop(void)
{
	cpu_seconds += now(CLOCK_THREAD_CPUTIME_ID) - started_cpu;
	seconds += now(CLOCK_MONOTONIC) - started;
}

static const struct kernel *find(const char *name, const char *variant)
{
	for (int f = 0; f < N_FAMILIES; f++)
		for (const struct kernel *k = families[f]; k->name; k++)
			if (!strcmp(k->name, name) && !strcmp(k->variant, variant))
				return k;
	return NULL;
}

static int list(void)
{
	for (int f = 0; f < N_FAMILIES; f++)
		for (const struct kernel *k = families[f]; k->name; k++)
			printf("%s %s %zu %u\n", k->name, k->variant, k->size, k->rounds);
	return 0;
}

int main(int argc, char **argv)
{
	const struct kernel *kernel = argc > 2 ? find(argv[1], argv[2]) : NULL;
	size_t size = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	unsigned rounds = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
	uint64_t sum;

	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (!kernel) {
		fprintf(stderr, "usage: kernels NAME VARIANT [SIZE [ROUNDS]] | kernels list\n");
		return 2;
	}
	if (!size)
		size = kernel->size;
	if (!rounds)
		rounds = kernel->rounds;
	sum = kernel->run(size, rounds);
	printf("%s %s %zu %u %016llx %.6f %.6f\n", kernel->name, kernel->variant, size, rounds,
		(unsigned long long)sum, seconds, cpu_seconds);
	return 0;
}
