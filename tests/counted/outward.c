// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls a known number of times what is compiled elsewhere: sin of libm 1000 times, qsort of libc
 * 3, the function of outward_part.c that is in a library without instrumentation (plain) 17, in one
 * with (seen) 29, in another object of the program (near) 5. What follows on the command line is
 * done besides, and calls sin (or plain) as often as it says. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

double plain(double x);
double seen(double x);
double near(double x);

static volatile double sum;
static char *volatile text = "some";

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void call_all(void)
{
	int some[8] = { 3, 1, 2, 7, 5, 4, 6, 0 };

	for (int i = 0; i < 1000; i++)
		sum += sin(i);
	for (int i = 0; i < 3; i++)
		qsort(some, 8, sizeof(*some), compare);
	for (int i = 0; i < 17; i++)
		sum += plain(sum);
	for (int i = 0; i < 29; i++)
		sum += seen(sum);
	for (int i = 0; i < 5; i++)
		sum += near(sum);
	sum += (double)strlen(text); /* told by who calls it */
}

/* All at once, so that they meet where they count. */
static void *halves(void *barrier)
{
	pthread_barrier_wait(barrier);
	for (int i = 0; i < 500000; i++)
		plain(i);
	return NULL;
}

static void threads(void) /* 4 * 500000 of plain */
{
	pthread_t thread[4];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, halves, &barrier);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void forked(void) /* 10 + 7 of sin */
{
	for (int i = 0; i < 10; i++)
		sum += sin(sum);
	if (fork() == 0) {
		for (int i = 0; i < 7; i++)
			sum += sin(sum);
		_exit(0);
	}
	wait(NULL);
}

static void by_label(void) /* 11 of sin, in a body that cannot be copied */
{
	static void *const to[] = { &&again, &&out };
	volatile int n = 0;

again:
	sum += sin(n);
	n++;
	goto *to[n == 11];
out:
	return;
}

/* 13 of plain, each the last thing that its caller does. */
static __attribute__((noinline)) double last(double x)
{
	sum = x;
	__attribute__((musttail)) return plain(x);
}

static void tails(void)
{
	for (int i = 0; i < 13; i++)
		sum = last(i);
}

static void plugged(const char *path) /* 5 times 2 of plain */
{
	for (int i = 0; i < 5; i++) {
		void *handle = dlopen(path, RTLD_NOW);
		double (*call)(double) = handle ? (double (*)(double))dlsym(handle, "twice") : NULL;

		if (!call)
			_exit(9);
		sum += call(i);
		dlclose(handle);
	}
}

int main(int argc, char **argv)
{
	call_all();
	if (argc < 2)
		return 0;
	if (!strcmp(argv[1], "threads"))
		threads();
	else if (!strcmp(argv[1], "fork"))
		forked();
	else if (!strcmp(argv[1], "label"))
		by_label();
	else if (!strcmp(argv[1], "tail"))
		tails();
	else if (!strcmp(argv[1], "_exit"))
		_exit(0);
	else if (!strcmp(argv[1], "abort"))
		abort();
	else if (!strcmp(argv[1], "exec"))
		execl(argv[0], argv[0], (char *)NULL);
	else
		plugged(argv[1]);
	return 0;
}
