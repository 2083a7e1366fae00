/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that come and go and a timer whose handler interrupts them anywhere, also within
 * handlers, and leaves by siglongjmp. All of arena and beats is volatile, and the program writes to
 * standard error how often each was referred to. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define THREADS 4
#define ROUNDS  20
#define STEPS   1000
#define LANDING 60
#define DEPTH   9
#define CELLS   4096

static volatile uint64_t arena[CELLS], beats[DEPTH + 1];
static uint64_t beaten; /* times that deep() was begun */
static sigjmp_buf place;
static volatile sig_atomic_t armed;
static volatile uint64_t waiting[64];

__attribute__((noinline)) static void deep(int n)
{
	beats[n]++;
	if (n > 0)
		deep(n - 1);
}

static void beat(int signal)
{
	(void)signal;
	__atomic_fetch_add(&beaten, 1, __ATOMIC_RELAXED);
	deep(DEPTH);
}

static void beat_and_leave(int signal)
{
	beat(signal);
	raise(SIGUSR1);
	beat(signal);
	if (armed) {
		armed = 0;
		siglongjmp(place, 1);
	}
}

__attribute__((noinline)) static uint64_t step(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		arena[(x + i) % CELLS] = i;
		if (arena[x * i % CELLS] & 1)
			x++;
	}
	return x;
}

static void *run(void *number)
{
	uint64_t x = (uintptr_t)number;
	for (int i = 0; i < ROUNDS; i++) {
		x = step(x, STEPS);
		if (i % 4 == 0)
			raise(SIGUSR1);
	}
	return NULL;
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags | SA_RESTART | SA_ONSTACK;
	sigaction(signal, &action, NULL);
}

static void beat_every(long microseconds)
{
	struct itimerval interval = { { 0, microseconds }, { 0, microseconds } };
	setitimer(ITIMER_REAL, &interval, NULL);
}

/* Whoever runs is interrupted, many times. */
static void hammer_threads(void)
{
	pthread_t thread[THREADS];
	handle(SIGALRM, beat, 0);
	beat_every(300);
	for (int again = 0; again < 3; again++) {
		for (uintptr_t i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, run, (void *)i);
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
	}
	beat_every(0);
}

/* The handler leaves wherever it came; what was interrupted is not counted by the program. */
static void hammer_landing(void)
{
	static char stack[1 << 16];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	sigaltstack(&other, NULL);
	handle(SIGALRM, beat_and_leave, 0);
	for (volatile int i = 0; i < LANDING; i++) {
		if (sigsetjmp(place, 1) == 0) {
			armed = 1;
			beat_every(200);
			while (armed)
				waiting[waiting[0]++ & 63]++;
		}
		beat_every(0);
		step(i, 10);
	}
}

int main(int argc, char **argv)
{
	int is_landing = argc > 1 && strcmp(argv[1], "landing") == 0;
	handle(SIGUSR1, beat, SA_NODEFER);
	uint64_t steps = (uint64_t)3 * THREADS * ROUNDS * STEPS;
	if (is_landing) {
		hammer_landing();
		steps = LANDING * 10;
	} else
		hammer_threads();
	fprintf(stderr, "arena|%llu\nbeats|%llu\n", (unsigned long long)(2 * steps),
		(unsigned long long)(2 * (DEPTH + 1) * beaten));
	return 0;
}
