// SPDX-License-Identifier: GPL-2.0-or-later
/* Four threads, two at a time, each adding to a counter of its own under one lock. */
#include <pthread.h>
#include <stdio.h>

#define ROUNDS 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long counters[4];

static void *count(void *arg)
{
	volatile long *counter = arg;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		(*counter)++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i += 2) {
		pthread_create(&thread[i], NULL, count, (void *)&counters[i]);
		pthread_create(&thread[i + 1], NULL, count, (void *)&counters[i + 1]);
		pthread_join(thread[i], NULL);
		pthread_join(thread[i + 1], NULL);
	}
	return printf("%p %p\n", (void *)counters, (void *)&lock) < 0;
}
