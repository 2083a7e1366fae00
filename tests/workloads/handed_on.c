// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that read what the next one wrote before a barrier, and then write their own: what is
 * used at one place is reused at another, far away or taken by another thread's write. */
#include <pthread.h>
#include <stdio.h>

#define THREADS 3
#define N       6000
#define ROUNDS  20

static double own[THREADS][N];
static pthread_barrier_t barrier;

static void *run(void *data)
{
	double *mine = data, *other = own[(mine - own[0] + N) / N % THREADS];
	double sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++)
			sum += other[i];
		pthread_barrier_wait(&barrier);
		for (int i = 0; i < N; i++)
			mine[i] += 1;
		pthread_barrier_wait(&barrier);
	}
	mine[0] += sum > 0;
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, own[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%g\n", own[0][1]);
	return 0;
}
