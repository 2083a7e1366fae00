/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the program synced (synced.c). */
#ifndef LOCI_TESTS_RUNTIME_SYNCED_H
#define LOCI_TESTS_RUNTIME_SYNCED_H

#include "runtime/telling.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  60

#define MUST(condition)                            \
	do                                         \
		if (!(condition))                  \
			_exit(__LINE__ % 199 + 1); \
	while (0)

/* Kinds of what is told. */
enum { MUTEX, TRIED, TIMED, CLOCKED, RECURSIVE, CHECKED, ROBUST, PI, N_MUTEXES };
enum {
	C11 = N_MUTEXES,
	C11_TRIED,
	C11_TIMED,
	SPIN,
	SPIN_TRIED,
	RW,
	RW_TRIED,
	RW_TIMED,
	RW_CLOCKED
};
enum {
	COND = 32,
	COND_TIMED,
	COND_CLOCKED,
	CND,
	CND_TIMED,
	BARRIER,
	SEM,
	SEM_TRIED,
	SEM_TIMED,
	SEM_CLOCKED,
	ONCE,
	ONCE_C11
};
extern pthread_mutex_t turn_mutex[3];
extern pthread_cond_t turn_cond[3];

struct timespec from_now(clockid_t clock, long ms);
struct timespec later(clockid_t clock);
void together(void *(*run)(void *)); /* in all threads, until they have ended */
void init_mutexes(void);
void *lock_all(void *data);

/* Scenarios. */
void locks(void);
void waits(void);
void results(void);

#endif
