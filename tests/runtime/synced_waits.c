// SPDX-License-Identifier: GPL-2.0-or-later
/* Everything that threads wait at. */
#define _GNU_SOURCE
#include "runtime/synced.h"

/* Waiting: each thread in its turn. */
pthread_mutex_t turn_mutex[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER };
pthread_cond_t turn_cond[3] = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
	PTHREAD_COND_INITIALIZER };
static mtx_t turn_mtx[2];
static cnd_t turn_cnd[2];
static uintptr_t turn[5];
static pthread_barrier_t barrier;
static sem_t semaphore[4][THREADS];
static pthread_once_t once[ROUNDS];
static once_flag flag[ROUNDS];
static int serial;

static void take_turn(int i, uintptr_t me)
{
	struct timespec real = later(CLOCK_REALTIME), steady = later(CLOCK_MONOTONIC);

	MUST(pthread_mutex_lock(&turn_mutex[i]) == 0);
	while (turn[i] != me)
		if (i == 0)
			MUST(pthread_cond_wait(&turn_cond[i], &turn_mutex[i]) == 0);
		else if (i == 1)
			MUST(pthread_cond_timedwait(&turn_cond[i], &turn_mutex[i], &real) == 0);
		else
			MUST(pthread_cond_clockwait(
				     &turn_cond[i], &turn_mutex[i], CLOCK_MONOTONIC, &steady) == 0);
	tell_write((unsigned)(COND + i));
	turn[i] = (me + 1) % THREADS;
	MUST(pthread_cond_broadcast(&turn_cond[i]) == 0);
	MUST(pthread_mutex_unlock(&turn_mutex[i]) == 0);
}

static void take_turn_c11(int i, uintptr_t me)
{
	struct timespec real = later(CLOCK_REALTIME);

	MUST(mtx_lock(&turn_mtx[i]) == thrd_success);
	while (turn[3 + i] != me)
		MUST((i ? cnd_timedwait(&turn_cnd[i], &turn_mtx[i], &real)
			: cnd_wait(&turn_cnd[i], &turn_mtx[i])) == thrd_success);
	tell_write((unsigned)(CND + i));
	turn[3 + i] = (me + 1) % THREADS;
	MUST(cnd_broadcast(&turn_cnd[i]) == thrd_success);
	MUST(mtx_unlock(&turn_mtx[i]) == thrd_success);
}

static void take_semaphore(int i, uintptr_t me)
{
	struct timespec real = later(CLOCK_REALTIME), steady = later(CLOCK_MONOTONIC);

	errno = 4711;
	if (i == 0)
		MUST(sem_wait(&semaphore[i][me]) == 0);
	else if (i == 1)
		while (sem_trywait(&semaphore[i][me]) < 0) {
			MUST(errno == EAGAIN);
			errno = 4711;
			sched_yield();
		}
	else if (i == 2)
		MUST(sem_timedwait(&semaphore[i][me], &real) == 0);
	else
		MUST(sem_clockwait(&semaphore[i][me], CLOCK_MONOTONIC, &steady) == 0);
	tell_write((unsigned)(SEM + i));
	MUST(sem_post(&semaphore[i][(me + 1) % THREADS]) == 0);
	MUST(errno == 4711);
}

static void init_once(void)
{
	sched_yield();
	tell_write(ONCE);
}

static void init_once_c11(void)
{
	sched_yield();
	tell_write(ONCE_C11);
}

static void *wait_all(void *data)
{
	uintptr_t me = (uintptr_t)data;

	for (uintptr_t i = 0; i < ROUNDS; i++) {
		int r;

		for (int k = 0; k < 3; k++)
			take_turn(k, me);
		for (int k = 0; k < 2; k++)
			take_turn_c11(k, me);
		for (int k = 0; k < 4; k++)
			take_semaphore(k, me);
		MUST(pthread_once(&once[i], init_once) == 0);
		tell(AFTER + ONCE, i + 1);
		call_once(&flag[i], init_once_c11);
		tell(AFTER + ONCE_C11, i + 1);
		if (i % THREADS == me)
			tell_write(BARRIER);
		r = pthread_barrier_wait(&barrier);
		MUST(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
		if (r)
			__atomic_fetch_add(&serial, 1, __ATOMIC_SEQ_CST);
	}
	return data;
}

void waits(void)
{
	for (int i = 0; i < 2; i++)
		MUST(mtx_init(&turn_mtx[i], mtx_plain) == 0 && cnd_init(&turn_cnd[i]) == 0);
	for (int i = 0; i < 4; i++)
		for (unsigned k = 0; k < THREADS; k++)
			MUST(sem_init(&semaphore[i][k], 0, k == 0) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		once[i] = (pthread_once_t)PTHREAD_ONCE_INIT;
		flag[i] = (once_flag)ONCE_FLAG_INIT;
	}
	MUST(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
	together(wait_all);
	MUST(serial == ROUNDS);
}
