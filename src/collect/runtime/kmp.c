// SPDX-License-Identifier: BSD-2-Clause
/* OpenMP of clang's and flang's: what is done by one thread at a time. The rest libomp tells us
 * itself (ompt.c), but of a lock that is given back it tells too late. And locks of all OpenMP
 * libraries. */
#include "collect/runtime/openmp.h"

#ifndef LOCI_RT_STATIC
#define WHERE void *where, int32_t number
static const char ordered, reduction; /* their addresses are objects */

RT_OMP_TAKE(__kmpc_critical, lock, (where, number, lock), WHERE, void *lock)
RT_OMP_TAKE(__kmpc_critical_with_hint, lock, (where, number, lock, hint), WHERE, void *lock,
	uint32_t hint)
RT_OMP_GIVE(__kmpc_end_critical, lock, (where, number, lock), WHERE, void *lock)
RT_OMP_TAKE(__kmpc_ordered, &ordered, (where, number), WHERE)
RT_OMP_GIVE(__kmpc_end_ordered, &ordered, (where, number), WHERE)
RT_OMP_TAKE(__kmpc_doacross_wait, &ordered, (where, number, at), WHERE, const int64_t *at)
RT_OMP_GIVE(__kmpc_doacross_post, &ordered, (where, number, at), WHERE, const int64_t *at)

#define NEXT(name)                                                                                \
	RT_OMP_NEXT(int, name, (where, number, is_last, from, to, step), WHERE, int32_t *is_last, \
		void *from, void *to, void *step)
NEXT(__kmpc_dispatch_next_4)
NEXT(__kmpc_dispatch_next_4u)
NEXT(__kmpc_dispatch_next_8)
NEXT(__kmpc_dispatch_next_8u)
RT_OMP_NEXT(int32_t, __kmpc_single, (where, number), WHERE)

/* Not the end of a region, which libomp may tell as the same kind of barrier. */
#define BARRIER(result, name)                                                        \
	RT_WRAP(result, name, WHERE)                                                 \
	{                                                                            \
		struct rt_thread *thread = rt_sync_thread();                         \
		__attribute__((cleanup(leave), unused)) struct stay stay = { thread, \
			thread && thread->omp_is_within };                           \
                                                                                     \
		if (thread)                                                          \
			thread->omp_is_within = true;                                \
		return RT_REAL(name)(where, number);                                 \
	}
struct stay {
	struct rt_thread *thread;
	bool was_within;
};

static void leave(const struct stay *stay)
{
	if (stay->thread)
		stay->thread->omp_is_within = stay->was_within;
}
BARRIER(void, __kmpc_barrier)
BARRIER(int32_t, __kmpc_cancel_barrier)

/* A reduction is done under a lock, or by the library, which calls the program's function for what
 * two threads have. */
typedef void reduce_function(void *to, void *from);
static __thread reduce_function *reducing __attribute__((tls_model("initial-exec")));

static void reduce(void *to, void *from)
{
	struct rt_thread *thread = rt_sync_thread();
	bool waits = thread && thread->is_blocked;

	if (thread) {
		rt_sync_running(thread);
		rt_sync(thread, rt_stripe(&reduction), LOCI_SYNC_ACQUIRE);
	}
	reducing(to, from);
	if (!thread)
		return;
	rt_sync(thread, rt_stripe(&reduction), LOCI_SYNC_RELEASE);
	if (waits)
		rt_sync_blocked(thread);
}

#define REDUCE(name)                                                                              \
	RT_WRAP(int32_t, name, WHERE, int32_t n, size_t bytes, void *data, reduce_function *with, \
		void *lock)                                                                       \
	{                                                                                         \
		struct rt_thread *thread = rt_sync_thread();                                      \
		int32_t r;                                                                        \
                                                                                                  \
		if (!thread)                                                                      \
			return RT_REAL(name)(where, number, n, bytes, data, with, lock);          \
		reducing = with;                                                                  \
		rt_sync(thread, rt_stripe(&reduction), LOCI_SYNC_RELEASE);                        \
		rt_sync_blocked(thread);                                                          \
		r = RT_REAL(name)(where, number, n, bytes, data, reduce, lock);                   \
		rt_sync_running(thread);                                                          \
		rt_sync(thread, rt_stripe(&reduction), LOCI_SYNC_ACQUIRE);                        \
		return r;                                                                         \
	}
REDUCE(__kmpc_reduce)
REDUCE(__kmpc_reduce_nowait)
RT_OMP_GIVE(__kmpc_end_reduce, &reduction, (where, number, lock), WHERE, void *lock)
RT_OMP_GIVE(__kmpc_end_reduce_nowait, &reduction, (where, number, lock), WHERE, void *lock)

#define TEST(name)                                                           \
	RT_WRAP(int, name, void *lock)                                       \
	{                                                                    \
		struct rt_thread *thread = rt_sync_thread();                 \
		int r = RT_REAL(name)(lock);                                 \
                                                                             \
		if (thread && r)                                             \
			rt_sync(thread, rt_stripe(lock), LOCI_SYNC_ACQUIRE); \
		return r;                                                    \
	}
#define SET(name, test)                                              \
	RT_WRAP(void, name, void *lock)                              \
	{                                                            \
		struct rt_thread *thread = rt_sync_thread();         \
                                                                     \
		if (!thread) {                                       \
			RT_REAL(name)(lock);                         \
			return;                                      \
		}                                                    \
		if (!RT_REAL(test)(lock)) {                          \
			rt_sync_blocked(thread);                     \
			RT_REAL(name)(lock);                         \
			rt_sync_running(thread);                     \
		}                                                    \
		rt_sync(thread, rt_stripe(lock), LOCI_SYNC_ACQUIRE); \
	}
#define LOCKS(set, test, unset) \
	TEST(test)              \
	SET(set, test)          \
	RT_OMP_GIVE(unset, lock, (lock), void *lock)
LOCKS(omp_set_lock, omp_test_lock, omp_unset_lock)
LOCKS(omp_set_nest_lock, omp_test_nest_lock, omp_unset_nest_lock)
LOCKS(omp_set_lock_, omp_test_lock_, omp_unset_lock_) /* of Fortran */
LOCKS(omp_set_nest_lock_, omp_test_nest_lock_, omp_unset_nest_lock_)
#endif
