// SPDX-License-Identifier: GPL-2.0-or-later
/* Two threads by turns: what each touches is known, and so is what it takes from the other. Each
 * turn writes what both write, something of its own beside something of the other's, something of
 * its own that stands apart, and reads what nobody writes. With an argument, as many threads come
 * and go, one after the other, and each writes the same line and 4 MiB of its own. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define TURNS 100
#define TABLE 64 /* longs: eight lines */
#define OWN   (4 << 20)

static sem_t turn[2];
__attribute__((aligned(64))) long ball[8];
__attribute__((section("pair"), aligned(64))) long left = 1;
__attribute__((section("pair"))) long right = 1;
__attribute__((section("pair"), aligned(64))) long far_left[8] = { 1 };
__attribute__((section("pair"), aligned(64))) long far_right[8] = { 1 };
__attribute__((aligned(64))) long table[TABLE];

static void write_left(void)
{
	left++;
	far_left[0]++;
}

static void write_right(void)
{
	right++;
	far_right[0]++;
}

static void *play(void *arg)
{
	long me = (long)arg, sum = 0;

	for (int i = 0; i < TURNS; i++) {
		sem_wait(&turn[me]);
		ball[0]++;
		if (me)
			write_right();
		else
			write_left();
		for (int k = 0; k < TABLE; k += 8)
			sum += table[k];
		sem_post(&turn[!me]);
	}
	return (void *)sum;
}

static void *pass(void *arg)
{
	volatile char *own = malloc(OWN);

	ball[0] += (long)arg;
	for (int i = 0; own && i < OWN; i += 64)
		own[i] = 1;
	free((void *)own);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	for (long i = 0; argc > 1 && i < atoi(argv[1]); i++)
		if (pthread_create(&thread[0], NULL, pass, (void *)i) ||
			pthread_join(thread[0], NULL))
			return 1;
	if (argc > 1)
		return 0;
	sem_init(&turn[0], 0, 1);
	sem_init(&turn[1], 0, 0);
	for (long i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, play, (void *)i))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%ld %ld %ld\n", ball[0], left, right);
	return 0;
}
