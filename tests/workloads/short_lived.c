// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that is allocated, used and freed, again and again at the same addresses, by the functions
 * `early` and `late` in turn, or by the name of the part to run also otherwise: of each all
 * references but a few are to what it allocated. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 150
#define WORDS  16
#define TOUCH  20000

/* Long enough for a sample to be followed while the memory lives. */
static __attribute__((noinline)) long use(volatile long *words)
{
	long sum = 0;

	for (long i = 0; i < TOUCH; i++)
		for (long k = 0; k < WORDS; k++)
			sum += words[k];
	return sum;
}

/* Signals come only while memory is used: nothing that their handler calls is interrupted.
 * NOLINTBEGIN(bugprone-signal-handler) */
static __attribute__((noinline)) void *early(size_t bytes)
{
	void *memory = calloc(1, bytes);

	__asm__ volatile("" : "+r"(memory));
	return memory;
}

static __attribute__((noinline)) void *late(size_t bytes)
{
	void *memory = calloc(1, bytes);

	__asm__ volatile("" : "+r"(memory));
	return memory;
}

static __attribute__((noinline)) void *grow(void *old, size_t bytes)
{
	void *memory = realloc(old, bytes);

	__asm__ volatile("" : "+r"(memory));
	return memory;
}

static volatile long handled;

static void handler(int signal)
{
	(void)signal;
	free(late(WORDS * sizeof(long)));
	handled++;
}

/* NOLINTEND(bugprone-signal-handler) */

static void let_come(int how)
{
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(how, &alarms, NULL);
}

static long use_interrupted(volatile long *words)
{
	long sum;

	let_come(SIG_UNBLOCK);
	sum = use(words);
	let_come(SIG_BLOCK);
	return sum;
}

static long in_turn(void)
{
	long sum = 0;

	let_come(SIG_BLOCK);
	for (long r = 0; r < ROUNDS; r++) {
		volatile long *words = early(WORDS * sizeof(long));

		sum += use_interrupted(words);
		free((void *)words);
		words = late(WORDS * sizeof(long));
		sum += use_interrupted(words);
		free((void *)words);
	}
	return sum;
}

/* What one is given grows, at its place, and comes to belong to another. */
static long resized(void)
{
	long sum = 0;

	for (long r = 0; r < ROUNDS; r++) {
		volatile long *words = early(WORDS * sizeof(long));

		sum += use(words);
		words = grow((void *)words, 100 * WORDS * sizeof(long));
		sum += use(words);
		free((void *)words);
	}
	return sum;
}

static void *in_thread(void *data)
{
	volatile long *words = data;

	use(words);
	free(data);
	words = late(WORDS * sizeof(long));
	use(words);
	return (void *)words;
}

/* Who frees it is not who allocated it. */
static long threads(void)
{
	for (long r = 0; r < ROUNDS; r++) {
		pthread_t thread;
		void *memory;

		pthread_create(&thread, NULL, in_thread, early(WORDS * sizeof(long)));
		pthread_join(thread, &memory);
		free(memory);
	}
	return 0;
}

static void interrupt(void)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } };

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
}

static long fork_then(void)
{
	void *before = early(WORDS * sizeof(long));
	int status = 0;
	long sum = 0;

	if (fork() == 0) {
		free(before);
		sum = in_turn();
		exit(sum == 1);
	}
	wait(&status);
	free(before);
	return status;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "turn";
	long sum;

	if (!strcmp(part, "threads"))
		sum = threads();
	else if (!strcmp(part, "resized"))
		sum = resized();
	else if (!strcmp(part, "fork"))
		sum = fork_then();
	else {
		if (!strcmp(part, "interrupted"))
			interrupt();
		sum = in_turn();
	}
	signal(SIGALRM, SIG_IGN);
	fprintf(stderr, "handled %ld\n", handled);
	return sum != 0;
}
