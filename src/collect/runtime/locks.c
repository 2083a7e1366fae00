// SPDX-License-Identifier: BSD-2-Clause
/* Locks of POSIX and C11: mutexes, locks of readers and writers, spinning ones. Whoever takes one
 * tries first, and says that it may wait only if the lock is not free: what a lock's own call gives
 * beside "busy" (it is mine already, its owner has died) a try gives as well. A release is told
 * before it happens, and perhaps in vain: it then orders what need not be ordered. */
#include "collect/runtime/sync.h"
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

/* In a child that a handler made meanwhile this is another thread of the stream, and the same here.
 */
#define LOCK(name, try, is_busy, arguments, ...)             \
	RT_WRAP(int, name, __VA_ARGS__)                      \
	{                                                    \
		struct rt_thread *thread = rt_sync_thread(); \
		int r;                                       \
                                                             \
		if (!thread)                                 \
			return RT_REAL(name) arguments;      \
		r = RT_REAL(try)(lock);                      \
		if (r == (is_busy)) {                        \
			rt_sync_blocked(thread);             \
			r = RT_REAL(name) arguments;         \
			rt_sync_running(thread);             \
		}                                            \
		return taken(thread, lock, r);               \
	}
#define TRY(name, ...)                                           \
	RT_WRAP(int, name, __VA_ARGS__)                          \
	{                                                        \
		struct rt_thread *thread = rt_sync_thread();     \
                                                                 \
		if (!thread)                                     \
			return RT_REAL(name)(lock);              \
		return taken(thread, lock, RT_REAL(name)(lock)); \
	}
#define UNLOCK(name, ...)                                                    \
	RT_WRAP(int, name, __VA_ARGS__)                                      \
	{                                                                    \
		struct rt_thread *thread = rt_sync_thread();                 \
                                                                             \
		if (thread)                                                  \
			rt_sync(thread, rt_stripe(lock), LOCI_SYNC_RELEASE); \
		return RT_REAL(name)(lock);                                  \
	}
#define UNTIL    const struct timespec *until
#define BY_CLOCK clockid_t clock, const struct timespec *until

#define MUTEX pthread_mutex_t *lock
TRY(pthread_mutex_trylock, MUTEX)
LOCK(pthread_mutex_lock, pthread_mutex_trylock, EBUSY, (lock), MUTEX)
LOCK(pthread_mutex_timedlock, pthread_mutex_trylock, EBUSY, (lock, until), MUTEX, UNTIL)
LOCK(pthread_mutex_clocklock, pthread_mutex_trylock, EBUSY, (lock, clock, until), MUTEX, BY_CLOCK)
UNLOCK(pthread_mutex_unlock, MUTEX)

#define RWLOCK pthread_rwlock_t *lock
TRY(pthread_rwlock_tryrdlock, RWLOCK)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY, (lock), RWLOCK)
LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, EBUSY, (lock, until), RWLOCK, UNTIL)
LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, EBUSY, (lock, clock, until), RWLOCK,
	BY_CLOCK)
TRY(pthread_rwlock_trywrlock, RWLOCK)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY, (lock), RWLOCK)
LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, EBUSY, (lock, until), RWLOCK, UNTIL)
LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, EBUSY, (lock, clock, until), RWLOCK,
	BY_CLOCK)
UNLOCK(pthread_rwlock_unlock, RWLOCK)

#define SPIN pthread_spinlock_t *lock
TRY(pthread_spin_trylock, SPIN)
LOCK(pthread_spin_lock, pthread_spin_trylock, EBUSY, (lock), SPIN)
UNLOCK(pthread_spin_unlock, SPIN)

_Static_assert(thrd_success == 0, "as the others say it");
#define MTX mtx_t *lock
TRY(mtx_trylock, MTX)
LOCK(mtx_lock, mtx_trylock, thrd_busy, (lock), MTX)
LOCK(mtx_timedlock, mtx_trylock, thrd_busy, (lock, until), MTX, UNTIL)
UNLOCK(mtx_unlock, MTX)
