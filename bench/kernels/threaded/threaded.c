// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a kernel:	threaded NAME VARIANT THREADS [SIZE [ROUNDS]]
 *		threaded list
 *
 * SIZE and ROUNDS of 0 are the ones that the list gives, which take about a tenth of a second of
 * one thread. What is printed is the same in every run but for the last two fields, the seconds of
 * the part that counts and of the processors' time in it; its checksum is the same for any number
 * of threads. */
#include "threaded.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct threaded_kernel *const families[] = {
#ifndef WITHOUT_OPENMP
	threaded_cg,
	threaded_ft,
	threaded_mg,
	threaded_stencil,
	threaded_lu,
#endif
	threaded_pipeline,
	threaded_annealing,
	threaded_ring,
	threaded_table,
	threaded_histogram,
};

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
	started_cpu = now(CLOCK_PROCESS_CPUTIME_ID);
}

void kernel_stop(void)
{
	cpu_seconds += now(CLOCK_PROCESS_CPUTIME_ID) - started_cpu;
	seconds += now(CLOCK_MONOTONIC) - started;
}

void threaded_wrong(const char *what)
{
	fprintf(stderr, "threaded: %s\n", what);
	exit(1);
}

void *threaded_lines(size_t bytes)
{
	void *memory =
		aligned_alloc(LINE_BYTES, (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);

	if (!memory)
		threaded_wrong("no memory");
	memset(memory, 0, bytes);
	return memory;
}

struct member {
	pthread_t id;
	unsigned number;
	void (*work)(void *with, unsigned thread);
	void *with;
	pthread_barrier_t *all;
};

static void *begin(void *argument)
{
	struct member *member = argument;

	pthread_barrier_wait(member->all);
	member->work(member->with, member->number);
	return NULL;
}

void threaded_team(unsigned threads, void (*work)(void *with, unsigned thread), void *with)
{
	struct member member[THREADS_MAX];
	pthread_barrier_t all;

	pthread_barrier_init(&all, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		member[i].number = i;
		member[i].work = work;
		member[i].with = with;
		member[i].all = &all;
		if (pthread_create(&member[i].id, NULL, begin, &member[i]))
			threaded_wrong("no more threads");
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(member[i].id, NULL);
	pthread_barrier_destroy(&all);
}

static const struct threaded_kernel *find(const char *name, const char *variant)
{
	for (int f = 0; f < N_FAMILIES; f++)
		for (const struct threaded_kernel *k = families[f]; k->name; k++)
			if (!strcmp(k->name, name) && !strcmp(k->variant, variant))
				return k;
	return NULL;
}

static int list(void)
{
	for (int f = 0; f < N_FAMILIES; f++)
		for (const struct threaded_kernel *k = families[f]; k->name; k++)
			printf("%s %s %zu %u\n", k->name, k->variant, k->size, k->rounds);
	return 0;
}

int main(int argc, char **argv)
{
	const struct threaded_kernel *kernel = argc > 3 ? find(argv[1], argv[2]) : NULL;
	unsigned threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	size_t size = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	unsigned rounds = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0;
	uint64_t sum;

	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (!kernel || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr,
			"usage: threaded NAME VARIANT THREADS [SIZE [ROUNDS]] | threaded list\n");
		return 2;
	}
	if (!size)
		size = kernel->size;
	if (!rounds)
		rounds = kernel->rounds;
	sum = kernel->run(size, rounds, threads);
	printf("%s %s %u %zu %u %016llx %.6f %.6f\n", kernel->name, kernel->variant, threads, size,
		rounds, (unsigned long long)sum, seconds, cpu_seconds);
	return 0;
}
