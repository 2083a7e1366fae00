// SPDX-License-Identifier: BSD-2-Clause
/* Locks of POSIX and C11: mutexes, locks of readers and writers, spinning ones. Whoever takes one
 * tries first, and says that it may wait only if the lock is not free: what a lock's own call gives
 * beside "busy" (it is mine already, its owner has died) a try gives as well. A release is told
 * before it happens, and perhaps in vain: it then orders what need not be ordered. */
#include "collect/runtime/sync.h"
#include "collect/runtime/turns.h"
#include "collect/runtime/wrap.h"

#include <errno.h>
#include <threads.h>
#include <time.h>

static int taken(struct rt_thread *thread, const volatile void *lock, int result)
{
	if (result == 0 || result == EOWNERDEAD)
		rt_sync(thread, rt_stripe(lock), LOCI_SYNC_ACQUIRE);
	if (result == EOWNERDEAD)
		rt_sync_inherit(thread);
	return result;
}

/* In turn: it is free, or this thread is parked until it has been given back. One that was given
 * back by who is not known here is found by looking: at once where that may well be. */
#define LOOK_NS 10000000u
#define LOOKS   100 /* a second */
typedef int try_function(void *lock);

static bool is_found(struct rt_thread *thread, const void *lock, unsigned looks)
{
	return looks % LOOKS == 0 || rt_turn_is_given(thread, lock);
}

static int take_turns(struct rt_thread *thread, void *lock, try_function *try, int is_busy)
{
	bool in_turn = rt_turn_take(thread);
	int r = try(lock);

	while (r == is_busy && in_turn) {
		rt_sync_parked(thread);
		rt_turn_park(thread, lock);
		for (unsigned looks = 1; r == is_busy && rt_mode() == RT_TRACE; looks++) {
			if (rt_turn_is_woken(thread, LOOK_NS))
				break;
			if (is_found(thread, lock, looks))
				r = try(lock);
		}
		rt_turn_unpark(thread);
		rt_sync_running(thread);
		if (r != is_busy)
			return r;
		in_turn = rt_turn_take(thread);
		r = try(lock);
	}
	return r;
}

/* Of this process alone, and no more than a lock: what else it may be its own calls know. */
static bool is_plain_mutex(const pthread_mutex_t *mutex)
{
	int kind = mutex->__data.__kind & 0xff;

	return kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_RECURSIVE_NP ||
		kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

static bool is_plain_rwlock(const struct rt_thread *thread, const pthread_rwlock_t *lock)
{
	return !lock->__data.__shared && (uint32_t)lock->__data.__cur_writer != thread->turn.tid;
}

/* In a child that a handler made meanwhile this is another thread of the stream, and the same here.
 */
#define LOCK(name, try, is_busy, is_plain, arguments, ...)                                        \
	RT_WRAP(int, name, __VA_ARGS__)                                                           \
	{                                                                                         \
		struct rt_thread *thread = rt_sync_caller();                                      \
		int r;                                                                            \
                                                                                                  \
		if (!thread)                                                                      \
			return RT_REAL(name) arguments;                                           \
		r = is_plain                                                                      \
			? take_turns(thread, (void *)lock, (try_function *)RT_REAL(try), is_busy) \
			: RT_REAL(try)(lock);                                                     \
		if (r == (is_busy)) {                                                             \
			rt_sync_blocked(thread);                                                  \
			r = RT_REAL(name) arguments;                                              \
			rt_sync_running(thread);                                                  \
		}                                                                                 \
		return taken(thread, lock, r);                                                    \
	}
#define TRY(name, ...)                                           \
	RT_WRAP(int, name, __VA_ARGS__)                          \
	{                                                        \
		struct rt_thread *thread = rt_sync_caller();     \
                                                                 \
		if (!thread)                                     \
			return RT_REAL(name)(lock);              \
		rt_turn_take(thread);                            \
		return taken(thread, lock, RT_REAL(name)(lock)); \
	}
#define UNLOCK(name, wakes, ...)                                             \
	RT_WRAP(int, name, __VA_ARGS__)                                      \
	{                                                                    \
		struct rt_thread *thread = rt_sync_caller();                 \
		int r;                                                       \
                                                                             \
		if (thread) {                                                \
			rt_turn_take(thread);                                \
			rt_sync(thread, rt_stripe(lock), LOCI_SYNC_RELEASE); \
		}                                                            \
		r = RT_REAL(name)(lock);                                     \
		rt_turn_wake(thread, lock, wakes);                           \
		return r;                                                    \
	}
#define PLAIN_MUTEX  is_plain_mutex(lock)
#define PLAIN_RWLOCK is_plain_rwlock(thread, lock)
#define UNTIL        const struct timespec *until
#define BY_CLOCK     clockid_t clock, const struct timespec *until

#define MUTEX pthread_mutex_t *lock
TRY(pthread_mutex_trylock, MUTEX)
LOCK(pthread_mutex_lock, pthread_mutex_trylock, EBUSY, PLAIN_MUTEX, (lock), MUTEX)
LOCK(pthread_mutex_timedlock, pthread_mutex_trylock, EBUSY, false, (lock, until), MUTEX, UNTIL)
LOCK(pthread_mutex_clocklock, pthread_mutex_trylock, EBUSY, false, (lock, clock, until), MUTEX,
	BY_CLOCK)
UNLOCK(pthread_mutex_unlock, 1, MUTEX)

int rt_mutex_wait_at(struct rt_thread *thread, pthread_mutex_t *mutex, const void *at)
{
	int r;

	rt_sync(thread, rt_stripe(mutex), LOCI_SYNC_RELEASE);
	rt_sync_parked(thread);
	r = RT_REAL(pthread_mutex_unlock)(mutex);
	if (r)
		rt_sync_running(thread);
	else
		rt_turn_park_for_another(thread, at, mutex);
	return r;
}

#define RWLOCK pthread_rwlock_t *lock
TRY(pthread_rwlock_tryrdlock, RWLOCK)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY, PLAIN_RWLOCK, (lock), RWLOCK)
LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, EBUSY, false, (lock, until), RWLOCK,
	UNTIL)
LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, EBUSY, false, (lock, clock, until),
	RWLOCK, BY_CLOCK)
TRY(pthread_rwlock_trywrlock, RWLOCK)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY, PLAIN_RWLOCK, (lock), RWLOCK)
LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, EBUSY, false, (lock, until), RWLOCK,
	UNTIL)
LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, EBUSY, false, (lock, clock, until),
	RWLOCK, BY_CLOCK)
UNLOCK(pthread_rwlock_unlock, RT_TURN_ALL, RWLOCK)

#define SPIN pthread_spinlock_t *lock
TRY(pthread_spin_trylock, SPIN)
LOCK(pthread_spin_lock, pthread_spin_trylock, EBUSY, true, (lock), SPIN)
UNLOCK(pthread_spin_unlock, 1, SPIN)

_Static_assert(thrd_success == 0, "as the others say it");
#define MTX mtx_t *lock
TRY(mtx_trylock, MTX)
LOCK(mtx_lock, mtx_trylock, thrd_busy, true, (lock), MTX)
LOCK(mtx_timedlock, mtx_trylock, thrd_busy, false, (lock, until), MTX, UNTIL)
UNLOCK(mtx_unlock, 1, MTX)
