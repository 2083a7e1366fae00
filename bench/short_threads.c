// SPDX-License-Identifier: GPL-2.0-or-later
/* Two hundred threads that come, look at a little memory and go, AT_ONCE of them at a time:
 *
 *	short_threads [AT_ONCE]		16 unless given */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 200, BYTES = 64 << 10, TIMES = 20 };

static void *work(void *argument)
{
	unsigned char *memory = malloc(BYTES);
	long sum = (long)(size_t)argument;

	if (!memory)
		exit(1);
	memset(memory, 1, BYTES);
	for (int i = 0; i < TIMES; i++)
		for (int k = 0; k < BYTES; k += 8)
			sum += memory[k]++;
	free(memory);
	return (void *)(size_t)sum;
}

int main(int argc, char **argv)
{
	int at_once = argc > 1 ? atoi(argv[1]) : 16;
	pthread_t thread[THREADS];
	long sum = 0;

	if (at_once < 1 || at_once > THREADS)
		return 2;
	for (int first = 0; first < THREADS; first += at_once) {
		int end = first + at_once < THREADS ? first + at_once : THREADS;

		for (int i = first; i < end; i++)
			if (pthread_create(&thread[i], NULL, work, (void *)(size_t)i))
				return 1;
		for (int i = first; i < end; i++) {
			void *got;

			pthread_join(thread[i], &got);
			sum += (long)(size_t)got;
		}
	}
	printf("%ld\n", sum);
	return 0;
}
