// SPDX-License-Identifier: BSD-2-Clause
/* OpenMP of gcc's: what its compilers call in libgomp. Regions' functions are run by one of ours.
 */
#include "collect/runtime/openmp.h"

#ifndef LOCI_RT_STATIC
#include <stdarg.h>

const char rt_team;

typedef void region_function(void *data);

struct region {
	region_function *run;
	void *data;
};

/* In each thread of the team. Its last wait, for the others or for another region, begins here. */
static void run_region(void *data)
{
	struct region region = *(struct region *)data;
	struct rt_thread *thread = rt_sync_thread();

	if (thread)
		rt_task_begin(thread);
	region.run(region.data);
	thread = rt_sync_thread();
	if (thread)
		rt_team_arrive(thread);
}

static void join_region(struct rt_thread *const *thread)
{
	if (*thread)
		rt_team_leave(*thread);
}

#define REGION(result, name, arguments, ...)                                     \
	RT_WRAP(result, name, region_function *run, void *data, __VA_ARGS__)     \
	{                                                                        \
		struct region region = { run, data };                            \
		__attribute__((cleanup(join_region))) struct rt_thread *thread = \
			rt_openmp_thread();                                      \
                                                                                 \
		if (thread) {                                                    \
			rt_team_release(thread, LOCI_SYNC_RELEASE);              \
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
	if (*thread)
		rt_team_leave(*thread);
}

static struct rt_thread *arrive(void)
{
	struct rt_thread *thread = rt_sync_thread();

	if (thread)
		rt_team_arrive(thread);
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
BARRIER(void *, GOMP_single_copy_start, (), void)
BARRIER(void, GOMP_single_copy_end, (data), void *data)
BARRIER(void, GOMP_workshare_task_reduction_unregister, (cancelled), bool cancelled)
BARRIER(void, GOMP_taskwait, (), void)
BARRIER(void, GOMP_taskwait_depend, (depends), void **depends)
BARRIER(void, GOMP_taskgroup_end, (), void)
BARRIER(void, GOMP_taskyield, (), void)

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
