/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of OpenMP's libraries, which wait for each other without the C library. All teams share
 * one object for what is handed to others to begin: regions and tasks; and a few, in turn, for
 * where they wait for each other. So more is in order than need be, but nothing that did not happen
 * in that order. In turn, because a thread may be late to begin, or to leave, when others have
 * arrived where they wait next: in between it is not to stand behind them.
 *
 * Not in static programs: naming the libraries' functions would bring them into every one. */
#ifndef LOCI_COLLECT_RUNTIME_OPENMP_H
#define LOCI_COLLECT_RUNTIME_OPENMP_H

#include "collect/runtime/sync.h"
#include "collect/runtime/teams.h"
#include "collect/runtime/wrap.h"

/* Their addresses are the objects. */
#define RT_OMP_TURNS 8
extern const struct rt_omp_objects {
	_Alignas(16) char team;
	_Alignas(16) char barrier[RT_OMP_TURNS][16];
	_Alignas(16) char join[RT_OMP_TURNS][16]; /* ends of regions */
} rt_omp;

/* Where a thread is: the number of its region << 32 | barriers that it has passed there. */
static inline struct rt_stripe *rt_barrier_stripe(uint64_t place)
{
	return rt_stripe(rt_omp.barrier[(2 * (place >> 32) + (uint32_t)place) % RT_OMP_TURNS]);
}

static inline struct rt_stripe *rt_join_stripe(uint64_t place)
{
	return rt_stripe(rt_omp.join[(place >> 32) % RT_OMP_TURNS]);
}

uint64_t rt_omp_region(void); /* the next one's place */

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
	rt_sync(thread, rt_stripe(&rt_omp.team), kind);
}

/* Tasks have ended that it waited for. */
static inline void rt_team_acquire(struct rt_thread *thread)
{
	rt_sync_running(thread);
	rt_sync(thread, rt_stripe(&rt_omp.team), LOCI_SYNC_ACQUIRE);
}

/* Waits for the team: nobody waits for it meanwhile. */
static inline void rt_omp_idle(struct rt_thread *thread)
{
	rt_sync_blocked(thread);
	thread->omp_is_idle = thread->is_blocked;
}

/* The same at a barrier that all leave: who is first wakes the others. */
static inline void rt_omp_park(struct rt_thread *thread, uint64_t place)
{
	rt_sync_parked(thread);
	rt_turn_park_for(thread, rt_team_barrier(place), rt_team_clock(place));
	thread->omp_is_idle = thread->is_blocked;
}

static inline void rt_omp_wake(struct rt_thread *thread, uint64_t place)
{
	rt_turn_wake_at(thread, rt_team_barrier(place), rt_team_clock(place));
}

/* Those that wait may run tasks meanwhile. */
static inline void rt_barrier_leave(struct rt_thread *thread, struct rt_stripe *stripe)
{
	rt_sync_running(thread);
	rt_sync(thread, stripe, LOCI_SYNC_BARRIER_LEAVE);
	rt_team_acquire(thread);
}

/* Who forked a region goes on after it. */
static inline void rt_join_leave(struct rt_thread *thread, uint64_t place)
{
	rt_barrier_leave(thread, rt_join_stripe(place));
	rt_team_end(thread, place);
}

/* A task begins, perhaps where its thread waits, and ends; what the first returns is for the
 * second. */
static inline bool rt_task_begin(struct rt_thread *thread)
{
	bool waits = thread->is_blocked;

	rt_team_acquire(thread);
	return waits;
}

static inline void rt_task_end(struct rt_thread *thread, bool waits)
{
	rt_team_release(thread, LOCI_SYNC_RELEASE);
	if (waits)
		rt_sync_blocked(thread);
}

/* Who comes first where a library hands something out is decided in turn. */
#define RT_OMP_NEXT(result, name, arguments, ...)            \
	RT_WRAP(result, name, __VA_ARGS__)                   \
	{                                                    \
		struct rt_thread *thread = rt_sync_thread(); \
                                                             \
		if (thread)                                  \
			rt_turn_take(thread);                \
		return RT_REAL(name) arguments;              \
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
