// SPDX-License-Identifier: GPL-2.0-or-later
/* Every lock in every way, and what taking one can come to. */
#define _GNU_SOURCE
#include "runtime/synced.h"

/* Locks: a kind for each way to take one. */
static pthread_mutex_t mutex[N_MUTEXES];
static pthread_rwlock_t rw[4] = { PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER,
	PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER };
static pthread_spinlock_t spin[2];
static mtx_t mtx[3];

void init_mutexes(void)
{
	for (int i = 0; i < N_MUTEXES; i++) {
		pthread_mutexattr_t attributes;

		pthread_mutexattr_init(&attributes);
		if (i == RECURSIVE)
			pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
		if (i == CHECKED)
			pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
		if (i == ROBUST)
			pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
		if (i == PI)
			pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
		MUST(pthread_mutex_init(&mutex[i], &attributes) == 0);
	}
	for (int i = 0; i < 3; i++)
		MUST(mtx_init(&mtx[i], i == 2 ? mtx_timed : mtx_plain) == thrd_success);
	for (int i = 0; i < 2; i++)
		MUST(pthread_spin_init(&spin[i], 0) == 0);
}

static void take_mutex(int kind)
{
	struct timespec real = later(CLOCK_REALTIME), steady = later(CLOCK_MONOTONIC);

	if (kind == TRIED)
		while (pthread_mutex_trylock(&mutex[kind]) == EBUSY)
			sched_yield();
	else if (kind == TIMED)
		MUST(pthread_mutex_timedlock(&mutex[kind], &real) == 0);
	else if (kind == CLOCKED)
		MUST(pthread_mutex_clocklock(&mutex[kind], CLOCK_MONOTONIC, &steady) == 0);
	else
		MUST(pthread_mutex_lock(&mutex[kind]) == 0);
	if (kind == RECURSIVE)
		MUST(pthread_mutex_lock(&mutex[kind]) == 0);
}

static void with_mutexes(void)
{
	for (int kind = 0; kind < N_MUTEXES; kind++) {
		take_mutex(kind);
		tell_write((unsigned)kind);
		sched_yield();
		if (kind == RECURSIVE)
			MUST(pthread_mutex_unlock(&mutex[kind]) == 0);
		MUST(pthread_mutex_unlock(&mutex[kind]) == 0);
	}
}

static void with_c11(void)
{
	struct timespec real = later(CLOCK_REALTIME);

	for (int i = 0; i < 3; i++) {
		if (i == 0)
			MUST(mtx_lock(&mtx[i]) == thrd_success);
		else if (i == 2)
			MUST(mtx_timedlock(&mtx[i], &real) == thrd_success);
		else
			while (mtx_trylock(&mtx[i]) == thrd_busy)
				sched_yield();
		tell_write((unsigned)(C11 + i));
		MUST(mtx_unlock(&mtx[i]) == thrd_success);
	}
}

static void with_spinning(void)
{
	MUST(pthread_spin_lock(&spin[0]) == 0);
	tell_write(SPIN);
	MUST(pthread_spin_unlock(&spin[0]) == 0);
	while (pthread_spin_trylock(&spin[1]) == EBUSY)
		sched_yield();
	tell_write(SPIN_TRIED);
	MUST(pthread_spin_unlock(&spin[1]) == 0);
}

static void take_rw(int i, bool writes)
{
	struct timespec real = later(CLOCK_REALTIME), steady = later(CLOCK_MONOTONIC);
	pthread_rwlock_t *lock = &rw[i];

	if (i == 0)
		MUST((writes ? pthread_rwlock_wrlock : pthread_rwlock_rdlock)(lock) == 0);
	else if (i == 1)
		while ((writes ? pthread_rwlock_trywrlock : pthread_rwlock_tryrdlock)(lock))
			sched_yield();
	else if (i == 2)
		MUST((writes ? pthread_rwlock_timedwrlock : pthread_rwlock_timedrdlock)(
			     lock, &real) == 0);
	else
		MUST((writes ? pthread_rwlock_clockwrlock : pthread_rwlock_clockrdlock)(
			     lock, CLOCK_MONOTONIC, &steady) == 0);
}

static void with_rwlocks(bool writes)
{
	for (int i = 0; i < 4; i++) {
		take_rw(i, writes);
		(writes ? tell_write : tell_read)((unsigned)(RW + i));
		MUST(pthread_rwlock_unlock(&rw[i]) == 0);
	}
}

void *lock_all(void *data)
{
	for (uintptr_t i = 0; i < ROUNDS; i++) {
		with_mutexes();
		with_c11();
		with_spinning();
		with_rwlocks((i + (uintptr_t)data) % 4 == 0);
	}
	return data;
}

void locks(void)
{
	init_mutexes();
	together(lock_all);
}

/* Results are those of the library. */
static void *die_with_it(void *data)
{
	MUST(pthread_mutex_lock(&mutex[ROBUST]) == 0);
	tell_write(ROBUST);
	return data;
}

static void *find_busy(void *data)
{
	struct timespec soon = from_now(CLOCK_REALTIME, 5), steady = from_now(CLOCK_MONOTONIC, 5);
	sem_t zero;

	MUST(pthread_mutex_trylock(&mutex[MUTEX]) == EBUSY);
	MUST(pthread_mutex_timedlock(&mutex[MUTEX], &soon) == ETIMEDOUT);
	MUST(pthread_mutex_clocklock(&mutex[MUTEX], CLOCK_MONOTONIC, &steady) == ETIMEDOUT);
	MUST(pthread_mutex_unlock(&mutex[CHECKED]) == EPERM);
	MUST(pthread_rwlock_tryrdlock(&rw[0]) == EBUSY &&
		pthread_rwlock_trywrlock(&rw[0]) == EBUSY);
	MUST(pthread_rwlock_timedrdlock(&rw[0], &soon) == ETIMEDOUT);
	MUST(mtx_trylock(&mtx[0]) == thrd_busy && pthread_spin_trylock(&spin[0]) == EBUSY);
	MUST(mtx_timedlock(&mtx[2], &soon) == thrd_timedout);
	MUST(sem_init(&zero, 0, 0) == 0);
	MUST(sem_trywait(&zero) == -1 && errno == EAGAIN);
	MUST(sem_timedwait(&zero, &soon) == -1 && errno == ETIMEDOUT);
	soon.tv_nsec = -1;
	MUST(sem_timedwait(&zero, &soon) == -1 && errno == EINVAL);
	MUST(pthread_join(pthread_self(), NULL) == EDEADLK);
	return data;
}

void results(void)
{
	struct timespec soon;
	pthread_t thread;
	int r;

	init_mutexes();
	MUST(pthread_create(&thread, NULL, die_with_it, NULL) == 0);
	while ((r = pthread_mutex_lock(&mutex[ROBUST])) == 0)
		MUST(pthread_mutex_unlock(&mutex[ROBUST]) == 0);
	MUST(r == EOWNERDEAD);
	tell_write(ROBUST);
	MUST(pthread_join(thread, NULL) == 0);
	MUST(pthread_mutex_consistent(&mutex[ROBUST]) == 0);
	MUST(pthread_mutex_unlock(&mutex[ROBUST]) == 0);
	MUST(pthread_mutex_lock(&mutex[CHECKED]) == 0);
	MUST(pthread_mutex_lock(&mutex[CHECKED]) == EDEADLK);
	MUST(pthread_mutex_lock(&mutex[MUTEX]) == 0 && pthread_rwlock_wrlock(&rw[0]) == 0);
	MUST(pthread_rwlock_wrlock(&rw[0]) == EDEADLK && pthread_rwlock_rdlock(&rw[0]) == EDEADLK);
	MUST(mtx_lock(&mtx[0]) == 0 && mtx_lock(&mtx[2]) == 0 && pthread_spin_lock(&spin[0]) == 0);
	MUST(pthread_create(&thread, NULL, find_busy, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	soon = from_now(CLOCK_REALTIME, 5);
	MUST(pthread_cond_timedwait(&turn_cond[0], &mutex[MUTEX], &soon) == ETIMEDOUT);
	MUST(pthread_mutex_trylock(&mutex[MUTEX]) == EBUSY);
	MUST(pthread_mutex_unlock(&mutex[MUTEX]) == 0 && pthread_rwlock_unlock(&rw[0]) == 0);
}
