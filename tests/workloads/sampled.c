// SPDX-License-Identifier: GPL-2.0-or-later
/* What `loci record -m sample` has to get right, by name of the part to run. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 4096 /* of 8 bytes: 512 blocks */

static volatile long own[8][WORDS], together[WORDS];
static volatile struct {
	_Alignas(64) long count[8];
} counters;

/* One word in eight is the first of its block, and comes back after 511 others. */
static void sweep(volatile long *words, int rounds)
{
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < WORDS; i++)
			words[i] += i;
}

static void *sweep_own(void *data)
{
	sweep(own[(long)data], 300);
	return NULL;
}

static void *count_beside(void *data)
{
	for (int i = 0; i < 400000; i++)
		counters.count[(long)data]++;
	return NULL;
}

static void *sweep_shortly(void *data)
{
	sweep(own[(long)data], 1);
	return NULL;
}

static void start_all(void *(*run)(void *), int n, int at_once)
{
	pthread_t thread[8];

	for (int i = 0; i < n; i += at_once) {
		for (long k = 0; k < at_once; k++)
			if (pthread_create(&thread[k], NULL, run, (void *)k))
				abort();
		for (int k = 0; k < at_once; k++)
			pthread_join(thread[k], NULL);
	}
}

static void *sweep_for_ever(void *data)
{
	for (;;)
		sweep(own[(long)data], 100);
	return NULL;
}

/* A sweep by jumps to labels, a body that cannot stand twice. */
static void sweep_jumping(volatile long *words, int rounds)
{
	static const void *const step[] = { &&round, &&word, &&end };
	int i = WORDS;

	goto *step[rounds > 0 ? 0 : 2];
word:
	words[i] += i;
	__atomic_fetch_add(&together[i], 1, __ATOMIC_RELAXED);
	i++;
	goto *step[i < WORDS];
round:
	i = 0;
	goto *step[rounds-- > 0 ? 1 : 2];
end:
	return;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(part, "alone")) {
		sweep(own[0], 400);
	} else if (!strcmp(part, "jumping")) {
		sweep_jumping(own[0], 10);
	} else if (!strcmp(part, "threads")) {
		start_all(sweep_own, 4, 4);
	} else if (!strcmp(part, "beside")) {
		start_all(count_beside, 4, 4);
	} else if (!strcmp(part, "many")) {
		start_all(sweep_shortly, 100, 4);
	} else if (!strcmp(part, "detached")) {
		/* it is in the midst of its work when the program ends */
		if (pthread_create(&thread, NULL, sweep_for_ever, (void *)1) ||
			pthread_detach(thread))
			abort();
		sweep(own[0], 100);
	} else if (!strcmp(part, "fork")) {
		int status;

		sweep(own[0], 100);
		if (fork() == 0) {
			sweep(together, 200);
			_exit(0);
		}
		wait(&status);
	} else if (!strcmp(part, "killed")) {
		sweep(own[0], 200);
		raise(SIGKILL);
	} else if (!strcmp(part, "orphan")) {
		kill(getppid(), SIGKILL); /* the recorder */
		sweep(own[0], 200);
		puts("done");
	} else if (!strcmp(part, "interrupted")) {
		if (pthread_create(&thread, NULL, sweep_for_ever, (void *)1))
			abort();
		sweep(own[0], 20);
		kill(getppid(), SIGINT);
		pthread_join(thread, NULL); /* never */
	}
	return 0;
}
