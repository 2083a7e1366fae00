/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of OpenMP's libraries, which wait for each other without the C library. All teams share
 * one object for what their threads begin and end together: regions, barriers, tasks. So more is in
 * order than need be, but nothing that did not happen in that order.
 *
 * Not in static programs: naming the libraries' functions would bring them into every one. */
#ifndef LOCI_COLLECT_RUNTIME_OPENMP_H
#define LOCI_COLLECT_RUNTIME_OPENMP_H

#include "collect/runtime/sync.h"
#include "collect/runtime/wrap.h"

extern const char rt_team; /* its address is the object */

/* Where threads may be about to begin. */
static inline struct rt_thread *rt_openmp_thread(void)
{
	if (__builtin_expect(rt_mode() != RT_TRACE, 1))
		return NULL;
	rt_sync_go();
	return rt_sync_thread_now();
}

static inline void rt_team_release(struct rt_thread *thread, enum loci_sync kind)
{
	rt_sync(thread, rt_stripe(&rt_team), kind);
}

/* From arriving to leaving, all that it waits for. */
static inline void rt_team_arrive(struct rt_thread *thread)
{
	rt_team_release(thread, LOCI_SYNC_BARRIER_ARRIVE);
	rt_sync_blocked(thread);
}

static inline void rt_team_leave(struct rt_thread *thread)
{
	rt_sync_running(thread);
	rt_sync(thread, rt_stripe(&rt_team), LOCI_SYNC_BARRIER_LEAVE);
}

/* A task begins, perhaps where its thread waits, and ends; what the first returns is for the
 * second. */
static inline bool rt_task_begin(struct rt_thread *thread)
{
	bool waits = thread->is_blocked;

	rt_sync_running(thread);
	rt_sync(thread, rt_stripe(&rt_team), LOCI_SYNC_ACQUIRE);
	return waits;
}

static inline void rt_task_end(struct rt_thread *thread, bool waits)
{
	rt_team_release(thread, LOCI_SYNC_RELEASE);
	if (waits)
		rt_sync_blocked(thread);
}

/* The beginning and the end of what only one at a time does. Wrapped functions that return nothing.
 */
#define RT_OMP_TAKE(name, object, arguments, ...)                      \
	RT_WRAP(void, name, __VA_ARGS__)                               \
	{                                                              \
		struct rt_thread *thread = rt_sync_thread();           \
                                                                       \
		if (!thread) {                                         \
			RT_REAL(name) arguments;                       \
			return;                                        \
		}                                                      \
		rt_sync_blocked(thread);                               \
		RT_REAL(name) arguments;                               \
		rt_sync_running(thread);                               \
		rt_sync(thread, rt_stripe(object), LOCI_SYNC_ACQUIRE); \
	}
#define RT_OMP_GIVE(name, object, arguments, ...)                              \
	RT_WRAP(void, name, __VA_ARGS__)                                       \
	{                                                                      \
		struct rt_thread *thread = rt_sync_thread();                   \
                                                                               \
		if (thread)                                                    \
			rt_sync(thread, rt_stripe(object), LOCI_SYNC_RELEASE); \
		RT_REAL(name) arguments;                                       \
	}

#endif
