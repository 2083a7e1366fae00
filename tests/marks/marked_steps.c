// SPDX-License-Identifier: GPL-2.0-or-later
/* A program that marks what it does, step by step as its arguments say; what is in a region has a
 * known number of references. */
#include <loci/mark.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CELLS 1024
struct pair {
	int key;
	double value;
};
static volatile long cells[CELLS];
static volatile struct pair pairs[CELLS];

/* No call, and nothing but the stores. */
#define STORES(n)                                \
	do {                                     \
		for (int i_ = 0; i_ < (n); i_++) \
			cells[i_ % CELLS] = 1;   \
	} while (0)

static void nest(void)
{
	char name[8] = "inner";

	loci_region_begin("outer");
	STORES(100);
	for (int i = 0; i < 3; i++) {
		loci_region_begin(name); /* any string, which may change afterwards */
		STORES(200);
		loci_region_end(name);
	}
	STORES(11);
	loci_region_end("outer");
	memset(name, 0, sizeof(name));
	loci_region_begin("inner");
	STORES(5);
	loci_region_end("inner");
}

static void phases(void)
{
	loci_phase("one");
	STORES(10);
	loci_phase("two");
	STORES(20);
	loci_phase("one");
	STORES(30);
	loci_phase("end");
}

static void pause_it(void)
{
	loci_region_begin("paused");
	STORES(10);
	loci_disable();
	STORES(1000);
	loci_disable();
	STORES(1000);
	loci_enable();
	STORES(1000);
	loci_enable();
	STORES(20);
	loci_region_end("paused");
}

static void objects(void)
{
	double *block = malloc(CELLS * sizeof(*block));

	if (!block)
		exit(1);
	loci_object((void *)cells, sizeof(cells), sizeof(cells[0]), "cells by name");
	loci_object_part((void *)cells, (void *)(cells + 1000), 8 * 24, "the end");
	STORES(CELLS);
	loci_object_end((void *)cells);
	STORES(3);
	loci_object((void *)pairs, sizeof(pairs), sizeof(pairs[0]), "pairs by name");
	for (int i = 0; i < CELLS; i++)
		pairs[i].value = i;
	for (int i = 0; i < 10; i++)
		pairs[i].key = i;
	loci_object_end((void *)pairs);
	loci_object(block, 8 * 100, 0, "arena");  /* a part of an allocation */
	loci_object(block, 8 * 10, 8, "smaller"); /* in its place */
	for (int i = 0; i < 100; i++)
		((volatile long *)block)[i] = 1;
	loci_object_end(block);
	free(block);
}

static void accesses(void)
{
	loci_region_begin("told");
	for (int i = 0; i < 50; i++)
		loci_access((void *)(cells + i), 8, i % 2 ? LOCI_STORE : LOCI_LOAD);
	loci_access((void *)cells, 4096, LOCI_LOAD);
	loci_region_end("told");
}

static void wrong(void)
{
	loci_region_end("never");
	loci_region_end("never");
	loci_region_begin("a");
	loci_region_begin("b");
	STORES(10);
	loci_region_end("a");
	loci_region_end("b");
	loci_object_end((void *)cells);
	loci_object((void *)cells, 80, 8, "few");
	loci_object_part((void *)cells, (void *)(cells + 9), 16, "beyond");
	loci_object_part((void *)pairs, (void *)pairs, 16, "of none");
	loci_object((void *)cells, 0, 8, "nothing");
	loci_access((void *)cells, (size_t)-8, LOCI_LOAD);
	loci_access((void *)cells, 0, LOCI_LOAD);
	loci_object_end((void *)cells);
	loci_enable();
}

static void deep(void)
{
	for (int i = 0; i < 70; i++)
		loci_region_begin("level");
	STORES(10);
	for (int i = 0; i < 70; i++)
		loci_region_end("level");
	STORES(1);
}

static void *in_thread(void *data)
{
	char name[16];
	int number = *(int *)data;

	snprintf(name, sizeof(name), "thread %d", number);
	loci_region_begin("all");
	STORES(1000);
	loci_region_begin(name);
	STORES(100 * (number + 1));
	loci_region_end(name);
	loci_region_end("all");
	if (number == 3)
		loci_region_begin("left open");
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];
	int number[4] = { 0, 1, 2, 3 };

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, in_thread, &number[i]))
			exit(1);
	loci_region_begin("main");
	STORES(500);
	loci_region_end("main");
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void on_signal(int signal)
{
	(void)signal;
	loci_region_begin("handler");
	STORES(20);
	loci_access((void *)cells, 8, LOCI_LOAD);
	loci_region_end("handler");
}

static void signals(void)
{
	signal(SIGUSR1, on_signal);
	loci_region_begin("interrupted");
	STORES(10);
	raise(SIGUSR1);
	STORES(30);
	loci_region_end("interrupted");
}

static void *in_hammer(void *data)
{
	static const char *const name[] = { "h 0", "h 1", "h 2", "h 3", "h 4" };

	(void)data;
	for (int i = 0; i < 3000; i++) {
		const char *at = name[i % 5];

		loci_region_begin(at);
		STORES(3);
		loci_region_end(at);
	}
	return NULL;
}

/* Threads that mark, and a handler that does so in any of them. */
static void hammer(void)
{
	struct itimerval every = { { 0, 500 }, { 0, 500 } };
	pthread_t thread[4];

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, in_hammer, NULL))
			exit(1);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
}

static void forks(void)
{
	loci_object((void *)cells, sizeof(cells), 8, "shared cells");
	loci_phase("family");
	loci_region_begin("parent and child");
	loci_access((void *)pairs, 8, LOCI_LOAD);
	if (fork() == 0) {
		loci_region_begin("child");
		STORES(7);
		loci_region_end("child");
		loci_region_end("parent and child");
		loci_object_end((void *)cells);
		loci_access((void *)pairs, 8, LOCI_LOAD);
		_exit(0);
	}
	wait(NULL);
	if (fork() == 0)
		_exit(0); /* in a region that it has not begun */
	wait(NULL);
	loci_region_begin("parent");
	STORES(5);
	loci_region_end("parent");
	loci_region_end("parent and child");
	loci_object_end((void *)cells);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} steps[] = { { "nest", nest }, { "phases", phases }, { "pause", pause_it },
		{ "objects", objects }, { "accesses", accesses }, { "wrong", wrong },
		{ "deep", deep }, { "threads", threads }, { "signals", signals },
		{ "forks", forks }, { "hammer", hammer } };

	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++)
			if (!strcmp(argv[i], steps[k].name))
				steps[k].run();
	puts("done");
	if (argc > 1 && !strcmp(argv[argc - 1], "leave")) {
		loci_region_begin("when it ends");
		exit(3);
	}
	return 0;
}
