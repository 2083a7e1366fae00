// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads of OpenMP that synchronise in every way there is, and tell what must stand in order. Made
 * by each compiler with its library. Exits with 0, or the line of what went wrong. */
#define _GNU_SOURCE
#include "runtime/telling.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  20

#define MUST(condition)                            \
	do                                         \
		if (!(condition))                  \
			_exit(__LINE__ % 199 + 1); \
	while (0)

/* As tests/unit/sync_test.c counts them. */
enum {
	REGION,
	LOOP_DYNAMIC,
	LOOP_GUIDED,
	LOOP_RUNTIME,
	IN_SECTIONS,
	BARRIER,
	CRITICAL,
	NAMED,
	LOCK,
	TESTED,
	NESTED,
	ORDERED,
	SINGLE,
	COPIED,
	LOOP,
	SECTIONS,
	TASKS,
	GROUP,
	TASKLOOP,
	DEPENDING,
	DOACROSS,
	INNER,
	BIG_TASK,
	ALL
};

uint64_t counter[KINDS];
static omp_lock_t lock, tested;
static omp_nest_lock_t nest;

static void regions(void)
{
	long sum = 0;

	tell_write(REGION);
#pragma omp parallel num_threads(THREADS)
	tell_read(REGION);
	tell_write(REGION);
	tell_write(LOOP_DYNAMIC);
#pragma omp parallel for schedule(dynamic) num_threads(THREADS)
	for (int i = 0; i < 8; i++)
		tell_read(LOOP_DYNAMIC);
	tell_write(LOOP_DYNAMIC);
	tell_write(LOOP_GUIDED);
#pragma omp parallel for schedule(guided) num_threads(THREADS)
	for (int i = 0; i < 8; i++)
		tell_read(LOOP_GUIDED);
	tell_write(LOOP_GUIDED);
	tell_write(LOOP_RUNTIME);
#pragma omp parallel for schedule(runtime) num_threads(THREADS) reduction(+ : sum)
	for (int i = 0; i < 8; i++) {
		tell_read(LOOP_RUNTIME);
		sum += i;
	}
	tell_write(LOOP_RUNTIME);
	MUST(sum == 28);
	tell_write(IN_SECTIONS);
#pragma omp parallel sections num_threads(THREADS)
	{
#pragma omp section
		tell_read(IN_SECTIONS);
#pragma omp section
		tell_read(IN_SECTIONS);
	}
	tell_write(IN_SECTIONS);
}

static void exclusions(void)
{
#pragma omp critical
	tell_write(CRITICAL);
#pragma omp critical(by_name)
	tell_write(NAMED);
	omp_set_lock(&lock);
	tell_write(LOCK);
	sched_yield();
	omp_unset_lock(&lock);
	while (!omp_test_lock(&tested))
		sched_yield();
	tell_write(TESTED);
	omp_unset_lock(&tested);
	omp_set_nest_lock(&nest);
	omp_set_nest_lock(&nest);
	tell_write(NESTED);
	omp_unset_nest_lock(&nest);
	omp_unset_nest_lock(&nest);
}

static void barriers(int round)
{
	long seen = 0;

	if (round % THREADS == omp_get_thread_num())
		tell_write(BARRIER);
#pragma omp barrier
	tell_read(BARRIER);
#pragma omp barrier
#pragma omp single
	tell_write(SINGLE);
	tell_read(SINGLE);
#pragma omp barrier
#pragma omp single copyprivate(seen)
	{
		tell_write(COPIED);
		seen = 7;
	}
	MUST(seen == 7);
	tell_read(COPIED);
#pragma omp barrier
#pragma omp for schedule(dynamic)
	for (int i = 0; i < 8; i++)
		if (i == 3)
			tell_write(LOOP);
	tell_read(LOOP);
#pragma omp barrier
#pragma omp sections
	{
#pragma omp section
		tell_write(SECTIONS);
#pragma omp section
		sched_yield();
	}
	tell_read(SECTIONS);
#pragma omp barrier
#pragma omp for ordered schedule(dynamic)
	for (int i = 0; i < 8; i++) {
#pragma omp ordered
		tell_write(ORDERED);
	}
#pragma omp for ordered(1) schedule(static, 1)
	for (int i = 0; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
		tell_write(DOACROSS);
#pragma omp ordered depend(source)
	}
}

struct big {
	char bytes[1000];
};

static void tasks(void)
{
	static int chain;
	struct big big;

	for (int i = 0; i < 8; i++)
#pragma omp task
		tell_read(TASKS);
#pragma omp taskwait
	tell_write(TASKS);
#pragma omp taskgroup
	for (int i = 0; i < 8; i++)
#pragma omp task
		tell_read(GROUP);
	tell_write(GROUP);
#pragma omp taskloop grainsize(1)
	for (int i = 0; i < 8; i++) {
		MUST(i >= 0 && i < 8);
		tell_read(TASKLOOP);
	}
	tell_write(TASKLOOP);
	for (int i = 0; i < 8; i++)
#pragma omp task depend(inout : chain)
		tell_write(DEPENDING);
	for (int i = 0; i < 1000; i++)
		big.bytes[i] = (char)i;
#pragma omp task firstprivate(big) if (omp_get_thread_num() % 2)
	{
		for (int i = 0; i < 1000; i++)
			MUST(big.bytes[i] == (char)i);
		tell_read(BIG_TASK);
	}
#pragma omp taskwait
	tell_write(BIG_TASK);
}

static void nested(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(2)
		{
#pragma omp critical(inner)
			tell_write(INNER);
		}
	}
}

int main(void)
{
	omp_init_lock(&lock);
	omp_init_lock(&tested);
	omp_init_nest_lock(&nest);
	omp_set_max_active_levels(2);
	omp_set_schedule(omp_sched_dynamic, 1);
	for (int i = 0; i < ROUNDS; i++) {
		regions();
#pragma omp parallel num_threads(THREADS)
		{
			exclusions();
			barriers(i);
#pragma omp single
			tasks();
		}
	}
	for (int i = 0; i < 3; i++)
		nested();
	MUST(counter[DEPENDING] == 8 * ROUNDS && counter[CRITICAL] == THREADS * ROUNDS);
	return 0;
}
