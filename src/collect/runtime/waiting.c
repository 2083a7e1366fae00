// SPDX-License-Identifier: BSD-2-Clause
/* What threads wait at: condition variables, semaphores, and what is done once. A wait
 * may be left by cancellation; what is told after it is told then too. */
#include "collect/runtime/sync.h"
#include "collect/runtime/turns.h"
#include "collect/runtime/wrap.h"

#include <errno.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

struct wait {
	struct rt_thread *thread;
	const void *at, *mutex; /* which a condition variable gives back while it waits */
};

static struct wait begin(struct rt_thread *thread, const void *at, const void *mutex)
{
	struct wait wait = { thread, at, mutex };

	if (mutex)
		rt_sync(thread, rt_stripe(mutex), LOCI_SYNC_RELEASE);
	rt_sync_blocked(thread);
	rt_turn_gives(thread, mutex);
	return wait;
}

static void end(const struct wait *wait)
{
	rt_turn_gives(wait->thread, NULL);
	rt_sync_running(wait->thread);
	if (wait->mutex)
		rt_sync(wait->thread, rt_stripe(wait->mutex), LOCI_SYNC_ACQUIRE);
	if (wait->at)
		rt_sync(wait->thread, rt_stripe(wait->at), LOCI_SYNC_ACQUIRE);
}
#define WAIT __attribute__((cleanup(end), unused)) struct wait

#define UNTIL    const struct timespec *until
#define BY_CLOCK clockid_t clock, const struct timespec *until

/* In turn: parked at the condition, whoever of the mutex's waits is let go before. A mutex or
 * condition of several processes, or one that is more than a lock, is left to the library. */
#define LOOK_NS 100000000u /* for the end of recording, and cancellation */
int RT_WRAPPED(pthread_mutex_lock)(pthread_mutex_t *lock);

static bool can_park(
	struct rt_thread *thread, const pthread_cond_t *condition, const pthread_mutex_t *mutex)
{
	int kind = mutex->__data.__kind & 0xff;

	return !(condition->__data.__wrefs & 1) &&
		(kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_ADAPTIVE_NP) &&
		rt_turn_take(thread);
}

struct parked {
	struct rt_thread *thread;
	pthread_cond_t *condition;
	pthread_mutex_t *mutex;
};

static void end_parked(const struct parked *parked)
{
	rt_turn_unpark(parked->thread);
	rt_sync_running(parked->thread);
	RT_WRAPPED(pthread_mutex_lock)(parked->mutex);
	rt_sync(parked->thread, rt_stripe(parked->condition), LOCI_SYNC_ACQUIRE);
}

static int wait_parked(struct rt_thread *thread, pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	int r = rt_mutex_wait_at(thread, mutex, condition);

	if (r)
		return r;
	{
		__attribute__((cleanup(end_parked), unused)) struct parked parked = { thread,
			condition, mutex };

		do
			pthread_testcancel();
		while (!rt_turn_is_woken(thread, LOOK_NS) && rt_mode() == RT_TRACE);
	}
	return 0;
}

#define PARKED_WAIT(name, ...)                                                        \
	RT_WRAP(int, name, __VA_ARGS__)                                               \
	{                                                                             \
		struct rt_thread *thread = rt_sync_caller();                          \
                                                                                      \
		if (thread && can_park(thread, (void *)condition, (void *)mutex))     \
			return wait_parked(thread, (void *)condition, (void *)mutex); \
		if (thread) {                                                         \
			WAIT wait = begin(thread, condition, mutex);                  \
                                                                                      \
			return RT_REAL(name)(condition, mutex);                       \
		}                                                                     \
		return RT_REAL(name)(condition, mutex);                               \
	}
#define CONDITION_WAIT(name, arguments, ...)                         \
	RT_WRAP(int, name, __VA_ARGS__)                              \
	{                                                            \
		struct rt_thread *thread = rt_sync_caller();         \
                                                                     \
		if (thread) {                                        \
			WAIT wait = begin(thread, condition, mutex); \
                                                                     \
			return RT_REAL(name) arguments;              \
		}                                                    \
		return RT_REAL(name) arguments;                      \
	}
#define WAKE(name, wakes, ...)                                                    \
	RT_WRAP(int, name, __VA_ARGS__)                                           \
	{                                                                         \
		struct rt_thread *thread = rt_sync_caller();                      \
                                                                                  \
		if (thread) {                                                     \
			rt_turn_take(thread);                                     \
			rt_sync(thread, rt_stripe(condition), LOCI_SYNC_RELEASE); \
		}                                                                 \
		rt_turn_wake(thread, condition, wakes);                           \
		return RT_REAL(name)(condition);                                  \
	}

#define CONDITION pthread_cond_t *condition
#define WITH      CONDITION, pthread_mutex_t *mutex
PARKED_WAIT(pthread_cond_wait, WITH)
CONDITION_WAIT(pthread_cond_timedwait, (condition, mutex, until), WITH, UNTIL)
CONDITION_WAIT(pthread_cond_clockwait, (condition, mutex, clock, until), WITH, BY_CLOCK)
WAKE(pthread_cond_signal, 1, CONDITION)
WAKE(pthread_cond_broadcast, RT_TURN_ALL, CONDITION)

#define CND      cnd_t *condition
#define CND_WITH CND, mtx_t *mutex
PARKED_WAIT(cnd_wait, CND_WITH)
CONDITION_WAIT(cnd_timedwait, (condition, mutex, until), CND_WITH, UNTIL)
WAKE(cnd_signal, 1, CND)
WAKE(cnd_broadcast, RT_TURN_ALL, CND)

/* Semaphores: errno says what a try found. */
static int tried(struct rt_thread *thread, const sem_t *semaphore, int result)
{
	if (result == 0)
		rt_sync(thread, rt_stripe(semaphore), LOCI_SYNC_ACQUIRE);
	return result;
}

RT_WRAP(int, sem_trywait, sem_t *semaphore)
{
	struct rt_thread *thread = rt_sync_thread();

	if (!thread)
		return RT_REAL(sem_trywait)(semaphore);
	rt_turn_take(thread);
	return tried(thread, semaphore, RT_REAL(sem_trywait)(semaphore));
}

/* Who is to be cancelled is, whether it would have to wait or not. */
#define SEMAPHORE_WAIT(name, arguments, ...)                   \
	RT_WRAP(int, name, __VA_ARGS__)                        \
	{                                                      \
		struct rt_thread *thread = rt_sync_thread();   \
		int error, r;                                  \
                                                               \
		if (!thread)                                   \
			return RT_REAL(name) arguments;        \
		pthread_testcancel();                          \
		rt_turn_take(thread);                          \
		error = errno;                                 \
		r = RT_REAL(sem_trywait)(semaphore);           \
		if (r < 0 && errno == EAGAIN) {                \
			WAIT wait = begin(thread, NULL, NULL); \
                                                               \
			errno = error;                         \
			r = RT_REAL(name) arguments;           \
		}                                              \
		return tried(thread, semaphore, r);            \
	}
#define SEMAPHORE sem_t *semaphore
SEMAPHORE_WAIT(sem_wait, (semaphore), SEMAPHORE)
SEMAPHORE_WAIT(sem_timedwait, (semaphore, until), SEMAPHORE, UNTIL)
SEMAPHORE_WAIT(sem_clockwait, (semaphore, clock, until), SEMAPHORE, BY_CLOCK)

RT_WRAP(int, sem_post, sem_t *semaphore)
{
	struct rt_thread *thread = rt_sync_thread();

	if (thread) {
		rt_turn_take(thread);
		rt_sync(thread, rt_stripe(semaphore), LOCI_SYNC_RELEASE);
	}
	return RT_REAL(sem_post)(semaphore);
}

/* What is done once is released by who did it, before the others are let go; all acquire it. */
struct once {
	struct once *outer;
	const void *control;
	void (*run)(void);
	struct rt_thread *thread;
};

static __thread struct once *once __attribute__((tls_model("initial-exec")));

static void run_once(void)
{
	struct once *mine = once;

	rt_sync_running(mine->thread);
	mine->run();
	rt_sync(mine->thread, rt_stripe(mine->control), LOCI_SYNC_RELEASE);
}

static void once_begin(struct once *mine, const int *control)
{
	once = mine;
	if (__atomic_load_n(control, __ATOMIC_RELAXED) != 2) /* done, as libraries have it */
		rt_sync_blocked(mine->thread);
}

static void once_end(const struct once *mine)
{
	once = mine->outer;
	rt_sync_running(mine->thread);
	rt_sync(mine->thread, rt_stripe(mine->control), LOCI_SYNC_ACQUIRE);
}
#define ONCE __attribute__((cleanup(once_end))) struct once

RT_WRAP(int, pthread_once, pthread_once_t *control, void (*run)(void))
{
	struct rt_thread *thread = rt_sync_thread();

	if (thread) {
		ONCE mine = { once, control, run, thread };

		once_begin(&mine, control);
		return RT_REAL(pthread_once)(control, run_once);
	}
	return RT_REAL(pthread_once)(control, run);
}

_Static_assert(sizeof(once_flag) == sizeof(int), "it is a pthread_once_t");

RT_WRAP(void, call_once, once_flag *control, void (*run)(void))
{
	struct rt_thread *thread = rt_sync_thread();

	if (thread) {
		ONCE mine = { once, control, run, thread };

		once_begin(&mine, (const int *)control);
		RT_REAL(call_once)(control, run_once);
		return;
	}
	RT_REAL(call_once)(control, run);
}
