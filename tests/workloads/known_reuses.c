// SPDX-License-Identifier: GPL-2.0-or-later
/* What `loci record -m watch` has to get right, by name of the part to run: reuses whose time
 * distances are known. Every access is one reference, of a word of its own. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 400000
#define FEW  8
#define NEST 192
#define TILE 32

static volatile long words[2][MANY], few[FEW];

/* Each word again after n references. */
static long sweep(volatile long *from, long n, long rounds)
{
	long sum = 0;

	for (long r = 0; r < rounds; r++)
		for (long i = 0; i < n; i++)
			sum += from[i];
	return sum;
}

/* Wang et al.'s first listing: a reuse that takes long, among many that do not. Of nine references
 * one comes again after 9 n, the others after 9. */
static long among_short(long n, long rounds)
{
	long sum = 0;

	for (long r = 0; r < rounds; r++)
		for (long i = 0; i < n; i++) {
			sum += words[0][i];
			for (int k = 0; k < FEW; k++)
				sum += few[k];
		}
	return sum;
}

/* Their second: as many of the one as of the other, after 2 and 2 n. */
static long half_short(long n, long rounds)
{
	long sum = 0;

	for (long r = 0; r < rounds; r++)
		for (long i = 0; i < n; i++) {
			sum += words[0][i];
			sum += few[0];
		}
	return sum;
}

static __attribute__((noinline)) long one(volatile long *word)
{
	return *word;
}

/* By calls from two places. */
static long by_calls(long n, long rounds)
{
	long sum = 0;

	for (long r = 0; r < rounds; r++)
		for (long i = 0; i < n; i++) {
			sum += one(&words[0][i]);
			sum += one(&words[1][i]);
		}
	return sum;
}

static long a[NEST * NEST], b[NEST * NEST], c[NEST * NEST];

static void tile(long n, long k0, long j0)
{
	long k1 = k0 + TILE < n ? k0 + TILE : n, j1 = j0 + TILE < n ? j0 + TILE : n;

	for (long i = 0; i < n; i++)
		for (long k = k0; k < k1; k++)
			for (long j = j0; j < j1; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* Loops that are told by RUNs, deep in others. */
static __attribute__((noinline)) long nest(long n, long rounds)
{
	for (long i = 0; i < n * n; i++)
		a[i] = b[i] = words[0][i];
	for (long r = 0; r < rounds; r++)
		for (long k = 0; k < n; k += TILE)
			for (long j = 0; j < n; j += TILE)
				tile(n, k, j);
	return c[n];
}

/* Each word again after 2 n references, in a loop that is told by a RUN. */
static long steadily(long n, long rounds)
{
	static long from[MANY], to[MANY];

	for (long i = 0; i < n; i++)
		from[i] = words[0][i];
	for (long r = 0; r < rounds; r++)
		for (long i = 0; i < n; i++)
			to[i] = from[i] + r;
	return to[n - 1];
}

static void *sweep_own(void *data)
{
	sweep(words[(long)data], 30000, 100);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[2];

	for (long i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, sweep_own, (void *)i))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

/* Two threads take turns over the same words: each is reused by the other alone. */
static volatile long handed[100000];
static pthread_barrier_t over;

static void *sweep_in_turn(void *data)
{
	for (long r = 0; r < 40; r++) {
		if (r % 2 == (long)data)
			sweep(handed, 100000, 1);
		pthread_barrier_wait(&over);
	}
	return NULL;
}

static void in_turn(void)
{
	pthread_t other;

	if (pthread_barrier_init(&over, NULL, 2) ||
		pthread_create(&other, NULL, sweep_in_turn, (void *)1))
		abort();
	sweep_in_turn((void *)0);
	pthread_join(other, NULL);
}

static volatile long alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
	sweep(words[1], 1000, 1);
}

static void interrupted(void)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	sweep(words[0], 3000, 3000);
	setitimer(ITIMER_REAL, &never, NULL);
}

static sigjmp_buf place;

static void on_leave(int signal)
{
	(void)signal;
	sweep(words[1], 10, 1);
	siglongjmp(place, 1);
}

/* Between handlers that are left by a jump. */
static long left(void)
{
	volatile long sum = 0;

	signal(SIGUSR1, on_leave);
	for (volatile int i = 0; i < 20; i++) {
		if (!sigsetjmp(place, 1))
			raise(SIGUSR1);
		sum += sweep(words[0], 500, 1000);
	}
	return sum;
}

static void forked(void)
{
	pid_t child = fork();

	sweep(words[0], 30000, 100);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	long sum = 0;

	for (long i = 0; i < MANY; i++)
		words[0][i] = words[1][i] = i;
	if (!strcmp(part, "short"))
		sum = sweep(words[0], 500, 20000);
	else if (!strcmp(part, "long"))
		sum = sweep(words[0], 50000, 200);
	else if (!strcmp(part, "among"))
		sum = among_short(40000, 30);
	else if (!strcmp(part, "half"))
		sum = half_short(100000, 50);
	else if (!strcmp(part, "calls"))
		sum = by_calls(20000, 100);
	else if (!strcmp(part, "nest"))
		sum = nest(NEST, 2);
	else if (!strcmp(part, "steadily"))
		sum = steadily(50000, 100);
	else if (!strcmp(part, "threads"))
		threads();
	else if (!strcmp(part, "turns"))
		in_turn();
	else if (!strcmp(part, "interrupted"))
		interrupted();
	else if (!strcmp(part, "left"))
		sum = left();
	else if (!strcmp(part, "fork"))
		forked();
	else
		return 2;
	printf("%ld\n", sum);
	return 3;
}
