// SPDX-License-Identifier: GPL-2.0-or-later
/* Teams of OpenMP, of several sizes and within each other, that get their work piece by piece: who
 * comes first gets the next. Work is of unlike length, and leaves its mark in rows of the worker's
 * own. */
#include <omp.h>
#include <stdio.h>

#define N       120
#define WORKERS 16

static double row[N][64], own[WORKERS][8];

static void work(int piece, int worker)
{
	for (int round = 0; round < 5 + piece * 7 % 29; round++)
		for (int i = 0; i < 64; i++) {
			row[piece][i] += round;
			own[worker][0] += row[piece][i];
		}
}

static void run(int threads)
{
#pragma omp parallel num_threads(threads)
	{
		int me = omp_get_thread_num();

#pragma omp for schedule(dynamic)
		for (int i = 0; i < N; i++)
			work(i, me);
#pragma omp single
		for (int i = 0; i < N; i++)
			work(i, me);
#pragma omp for schedule(guided) nowait
		for (int i = 0; i < N; i++)
			work(N - 1 - i, me);
#pragma omp barrier
#pragma omp parallel num_threads(2)
#pragma omp for schedule(dynamic, 2)
		for (int i = 0; i < N / WORKERS; i++)
			work(me * (N / WORKERS) + i, 2 * me + omp_get_thread_num());
	}
}

int main(void)
{
	double sum = 0;

	omp_set_max_active_levels(2);
	run(4);
	run(7);
	run(2);
	for (int i = 0; i < WORKERS; i++)
		sum += own[i][0];
	printf("%g\n", sum);
	return 0;
}
