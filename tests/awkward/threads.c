// SPDX-License-Identifier: GPL-2.0-or-later
/* Two hundred threads with a lock, a barrier, thread-local storage and memory of their own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N 200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static __thread long mine;
static long total, last;

static void *run(void *data)
{
	long id = (long)data, *v = malloc(100 * sizeof(*v));

	for (int i = 0; i < 100; i++)
		v[i] = id + i;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 100; i++)
		mine += v[i];
	free(v);
	pthread_mutex_lock(&lock);
	total += mine;
	last = last > id ? last : id;
	pthread_mutex_unlock(&lock);
	return (void *)(mine % 7);
}

int main(void)
{
	pthread_t thread[N];
	pthread_attr_t attr;
	long results = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	pthread_barrier_init(&barrier, NULL, N);
	for (long i = 0; i < N; i++)
		if (pthread_create(&thread[i], &attr, run, (void *)i)) {
			perror("pthread_create");
			return 1;
		}
	for (int i = 0; i < N; i++) {
		void *result;

		pthread_join(thread[i], &result);
		results += (long)result;
	}
	printf("total %ld, last %ld, results %ld\n", total, last, results);
	return 0;
}
