// SPDX-License-Identifier: BSD-2-Clause
/* OpenMP of gcc's: what its compilers call in libgomp. Regions' functions are run by one of ours.
 */
#include "collect/runtime/openmp.h"

#ifndef LOCI_RT_STATIC
#include <stdarg.h>

const struct rt_omp_objects rt_omp;

uint64_t rt_omp_region(void)
{
	static uint64_t regions;

	return __atomic_add_fetch(&regions, 1, __ATOMIC_RELAXED) << 32;
}

typedef void region_function(void *data);
extern int omp_get_num_threads(void) __attribute__((weak));

struct region {
	region_function *run;
	void *data;
	uint64_t place;
};

/* In each thread of the team. Its last wait, for the others or for another region, begins here. */
static void run_region(void *data)
{
	struct region region = *(struct region *)data;
	struct rt_thread *thread = rt_sync_thread();
	uint64_t outer = thread ? thread->omp_place : 0;

	if (thread) {
		thread->omp_place = region.place;
		rt_task_begin(thread);
	}
	if (omp_get_num_threads)
		rt_team_begin(thread, region.place, (unsigned)omp_get_num_threads());
	region.run(region.data);
	thread = rt_sync_thread();
	if (!thread)
		return;
	thread->omp_place = outer;
	rt_sync(thread, rt_join_stripe(region.place), LOCI_SYNC_BARRIER_ARRIVE);
	rt_turn_reach(thread, rt_team_clock(region.place));
	rt_sync_blocked(thread);
}

struct joining {
	struct rt_thread *thread;
	uint64_t place;
};

static void join_region(const struct joining *joining)
{
	if (joining->thread)
		rt_join_leave(joining->thread, joining->place);
}

#define REGION(result, name, arguments, ...)                                     \
	RT_WRAP(result, name, region_function *run, void *data, __VA_ARGS__)     \
	{                                                                        \
		struct region region = { run, data, rt_omp_region() };           \
		__attribute__((cleanup(join_region))) struct joining joining = { \
			rt_openmp_thread(), region.place                         \
		};                                                               \
                                                                                 \
		if (joining.thread) {                                            \
			rt_team_release(joining.thread, LOCI_SYNC_RELEASE);      \
			rt_team_fork(joining.thread, region.place);              \
			run = run_region;                                        \
			data = &region;                                          \
		}                                                                \
		return RT_REAL(name) arguments;                                  \
	}
#define PLAIN    unsigned n_threads, unsigned flags
#define RANGE    unsigned n_threads, long start, long end, long step
#define CHUNK    RANGE, long chunk, unsigned flags
#define NO_CHUNK RANGE, unsigned flags
#define SECTIONS unsigned n_threads, unsigned count, unsigned flags

REGION(void, GOMP_parallel, (run, data, n_threads, flags), PLAIN)
REGION(unsigned, GOMP_parallel_reductions, (run, data, n_threads, flags), PLAIN)
REGION(void, GOMP_parallel_sections, (run, data, n_threads, count, flags), SECTIONS)
#define LOOP(name) REGION(void, name, (run, data, n_threads, start, end, step, chunk, flags), CHUNK)
#define LOOP_OF_RUNTIME(name) \
	REGION(void, name, (run, data, n_threads, start, end, step, flags), NO_CHUNK)
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
LOOP_OF_RUNTIME(GOMP_parallel_loop_runtime)
LOOP_OF_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_OF_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

static void leave(struct rt_thread *const *thread)
{
	if (!*thread)
		return;
	rt_omp_wake(*thread, (*thread)->omp_place);
	rt_barrier_leave(*thread, rt_barrier_stripe((*thread)->omp_place++));
}

static struct rt_thread *arrive(void)
{
	struct rt_thread *thread = rt_sync_thread();

	if (!thread)
		return NULL;
	rt_sync(thread, rt_barrier_stripe(thread->omp_place), LOCI_SYNC_BARRIER_ARRIVE);
	rt_omp_park(thread, thread->omp_place);
	return thread;
}

/* Those that end a piece of work wait for all. */
#define BARRIER(result, name, arguments, ...)                                                \
	RT_WRAP(result, name, __VA_ARGS__)                                                   \
	{                                                                                    \
		__attribute__((cleanup(leave), unused)) struct rt_thread *thread = arrive(); \
                                                                                             \
		return RT_REAL(name) arguments;                                              \
	}
BARRIER(void, GOMP_barrier, (), void)
BARRIER(bool, GOMP_barrier_cancel, (), void)
BARRIER(void, GOMP_loop_end, (), void)
BARRIER(bool, GOMP_loop_end_cancel, (), void)
BARRIER(void, GOMP_sections_end, (), void)
BARRIER(bool, GOMP_sections_end_cancel, (), void)
BARRIER(void, GOMP_workshare_task_reduction_unregister, (cancelled), bool cancelled)

/* Pieces of loops and sections, the first of them and the others. */
#define BOUNDS(type)      type start, type end, type step
#define PIECE             void *from, void *to
#define OF_LOOP(name, as) as(GOMP_loop_##name, GOMP_loop_ull_##name)
#define NEXT(name, ull)                                   \
	RT_OMP_NEXT(bool, name##_next, (from, to), PIECE) \
	RT_OMP_NEXT(bool, ull##_next, (from, to), PIECE)
#define START(name, ull)                                                                   \
	RT_OMP_NEXT(bool, name##_start, (start, end, step, chunk, from, to), BOUNDS(long), \
		long chunk, PIECE)                                                         \
	RT_OMP_NEXT(bool, ull##_start, (up, start, end, step, chunk, from, to), bool up,   \
		BOUNDS(unsigned long long), unsigned long long chunk, PIECE)
#define START_OF_RUNTIME(name, ull)                                                        \
	RT_OMP_NEXT(bool, name##_start, (start, end, step, from, to), BOUNDS(long), PIECE) \
	RT_OMP_NEXT(bool, ull##_start, (up, start, end, step, from, to), bool up,          \
		BOUNDS(unsigned long long), PIECE)
#define PIECES(name, start) OF_LOOP(name, start) OF_LOOP(name, NEXT)
PIECES(dynamic, START)
PIECES(guided, START)
PIECES(nonmonotonic_dynamic, START)
PIECES(nonmonotonic_guided, START)
PIECES(runtime, START_OF_RUNTIME)
PIECES(nonmonotonic_runtime, START_OF_RUNTIME)
PIECES(maybe_nonmonotonic_runtime, START_OF_RUNTIME)
RT_OMP_NEXT(unsigned, GOMP_sections_start, (count), unsigned count)
RT_OMP_NEXT(unsigned, GOMP_sections_next, (), void)
RT_OMP_NEXT(bool, GOMP_single_start, (), void)

static void go_on(struct rt_thread *const *thread)
{
	if (*thread)
		rt_team_acquire(*thread);
}

static struct rt_thread *wait_for_some(void)
{
	struct rt_thread *thread = rt_sync_thread();

	if (!thread)
		return NULL;
	rt_team_release(thread, LOCI_SYNC_RELEASE);
	rt_sync_blocked(thread);
	return thread;
}

/* Not all threads come here, or not all of them wait. */
#define WAIT_FOR_SOME(result, name, arguments, ...)                                \
	RT_WRAP(result, name, __VA_ARGS__)                                         \
	{                                                                          \
		__attribute__((cleanup(go_on), unused)) struct rt_thread *thread = \
			wait_for_some();                                           \
                                                                                   \
		return RT_REAL(name) arguments;                                    \
	}
WAIT_FOR_SOME(void *, GOMP_single_copy_start, (), void)
WAIT_FOR_SOME(void, GOMP_single_copy_end, (data), void *data)
WAIT_FOR_SOME(void, GOMP_taskwait, (), void)
WAIT_FOR_SOME(void, GOMP_taskwait_depend, (depends), void **depends)
WAIT_FOR_SOME(void, GOMP_taskgroup_end, (), void)
WAIT_FOR_SOME(void, GOMP_taskyield, (), void)

static const char critical, atomic, ordered; /* their addresses are objects */
RT_OMP_TAKE(GOMP_critical_start, &critical, (), void)
RT_OMP_GIVE(GOMP_critical_end, &critical, (), void)
RT_OMP_TAKE(GOMP_critical_name_start, name, (name), void **name)
RT_OMP_GIVE(GOMP_critical_name_end, name, (name), void **name)
RT_OMP_TAKE(GOMP_atomic_start, &atomic, (), void)
RT_OMP_GIVE(GOMP_atomic_end, &atomic, (), void)
RT_OMP_TAKE(GOMP_ordered_start, &ordered, (), void)
RT_OMP_GIVE(GOMP_ordered_end, &ordered, (), void)

/* Loops whose iterations wait for each other: as many numbers as there are loops, so many are
 * handed on. */
#define MAX_LOOPS 8
RT_OMP_GIVE(GOMP_doacross_post, &ordered, (counts), long *counts)
RT_OMP_GIVE(GOMP_doacross_ull_post, &ordered, (counts), unsigned long long *counts)
#define DOACROSS_WAIT(name, type)                                                             \
	RT_WRAP(void, name, type first, ...)                                                  \
	{                                                                                     \
		struct rt_thread *thread = rt_sync_thread();                                  \
		type at[MAX_LOOPS];                                                           \
		va_list rest;                                                                 \
                                                                                              \
		va_start(rest, first);                                                        \
		for (unsigned i = 0; i < MAX_LOOPS; i++)                                      \
			at[i] = va_arg(rest, type);                                           \
		va_end(rest);                                                                 \
		if (thread)                                                                   \
			rt_sync_blocked(thread);                                              \
		RT_REAL(name)(first, at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]); \
		if (!thread)                                                                  \
			return;                                                               \
		rt_sync_running(thread);                                                      \
		rt_sync(thread, rt_stripe(&ordered), LOCI_SYNC_ACQUIRE);                      \
	}
DOACROSS_WAIT(GOMP_doacross_wait, long)
DOACROSS_WAIT(GOMP_doacross_ull_wait, unsigned long long)
#endif
