/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of several threads whose sharing is known: each kernel in a slow variant and a tuned one
 * that computes the same, whatever the number of threads. `threaded NAME VARIANT THREADS [SIZE
 * [ROUNDS]]` runs one. Without data races, all of them. */
#ifndef BENCH_THREADED_H
#define BENCH_THREADED_H

#include "../kernels.h"

enum { THREADS_MAX = 64, LINE_BYTES = 64 };

struct threaded_kernel {
	const char *name, *variant;
	size_t size;     /* of the problem, what it means is the kernel's business */
	unsigned rounds; /* that it is repeated by default */
	uint64_t (*run)(size_t size, unsigned rounds, unsigned threads); /* returns a checksum */
};

#define THREADED_END                   \
	{                              \
		NULL, NULL, 0, 0, NULL \
	}

/* OpenMP; left out where there is none (WITHOUT_OPENMP). */
extern const struct threaded_kernel threaded_cg[], threaded_ft[], threaded_lu[], threaded_mg[],
	threaded_stencil[];
/* pthreads. */
extern const struct threaded_kernel threaded_annealing[], threaded_histogram[], threaded_pipeline[],
	threaded_ring[], threaded_table[];

/* Runs `work` in so many threads, numbered from 0, which begin together, and waits for all of them.
 */
void threaded_team(unsigned threads, void (*work)(void *with, unsigned thread), void *with);
/* Of n, thread's equal share begins here; that of the next is its end. */
static inline size_t threaded_share(size_t n, unsigned threads, unsigned thread)
{
	return n * thread / threads;
}
/* Ends the program: the result is wrong. */
void threaded_wrong(const char *what);
/* From its start and on the line: no two of them share one. */
void *threaded_lines(size_t bytes);

#endif
