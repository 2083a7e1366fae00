// SPDX-License-Identifier: BSD-2-Clause
/* What an OpenMP library tells tools (OMPT; OpenMP API 5.0, chapter 4), libomp foremost: it looks
 * for ompt_start_tool in the process. Regions, barriers and tasks; what is released is told before
 * others are let go, what is acquired after. The names and numbers are the specification's. */
#include "collect/runtime/openmp.h"

#ifndef LOCI_RT_STATIC
typedef union {
	uint64_t value;
	void *pointer;
} data_t;

enum {
	ON_THREAD_BEGIN = 1,
	ON_PARALLEL_BEGIN = 3,
	ON_PARALLEL_END = 4,
	ON_TASK_CREATE = 5,
	ON_TASK_SCHEDULE = 6,
	ON_IMPLICIT_TASK = 7,
	ON_SYNC_REGION_WAIT = 16,
	ON_SYNC_REGION = 23,
};

enum { WORKER = 2 };       /* thread */
enum { INITIAL_TASK = 1 }; /* flag */
enum { SCOPE_BEGIN = 1 };
enum { WAITS_FOR_TASKS = 5, WAITS_FOR_GROUP = 6, REDUCTION = 7 }; /* the others are barriers */
enum { TASK_YIELD = 2, TASK_SWITCH = 7 }; /* why it is left: it has not ended */

typedef void callback(void);
typedef callback *lookup_function(const char *name);
typedef int set_callback_function(int event, callback *function);

static void on_thread_begin(int kind, data_t *data)
{
	struct rt_thread *thread = kind == WORKER ? rt_sync_thread() : NULL;

	(void)data;
	if (thread)
		rt_omp_idle(thread);
}

static void on_parallel_begin(data_t *task, const void *frame, data_t *parallel, unsigned requested,
	int flags, const void *from)
{
	struct rt_thread *thread = rt_openmp_thread();

	(void)task, (void)frame, (void)requested, (void)flags, (void)from;
	parallel->value = rt_omp_region();
	if (!thread)
		return;
	rt_turn_take(thread);
	rt_team_release(thread, LOCI_SYNC_RELEASE);
	rt_team_fork(thread, parallel->value);
	thread->omp_is_idle = true; /* it is waited for, but has no turns until it begins */
}

static void on_parallel_end(data_t *parallel, data_t *task, int flags, const void *from)
{
	struct rt_thread *thread = rt_sync_thread();

	(void)task, (void)flags, (void)from;
	if (thread)
		rt_join_leave(thread, parallel->value);
}

static void on_implicit_task(
	int endpoint, data_t *parallel, data_t *task, unsigned n, unsigned index, int flags)
{
	struct rt_thread *thread = rt_sync_thread();

	(void)index;
	if (endpoint != SCOPE_BEGIN) {
		if (thread && !(flags & INITIAL_TASK))
			rt_omp_idle(thread); /* until the region has ended, or another begins */
		return;
	}
	if (task)
		task->value = parallel ? parallel->value : 0;
	if (thread) {
		rt_task_begin(thread);
		thread->omp_is_idle = false;
	}
	if (parallel)
		rt_team_begin(thread, parallel->value, n);
}

static bool is_barrier(int kind)
{
	return kind != WAITS_FOR_TASKS && kind != WAITS_FOR_GROUP && kind != REDUCTION;
}

/* Every barrier may be its region's last. */
static void arrive(struct rt_thread *thread, uint64_t place)
{
	rt_sync(thread, rt_barrier_stripe(place), LOCI_SYNC_BARRIER_ARRIVE);
	rt_sync(thread, rt_join_stripe(place), LOCI_SYNC_BARRIER_ARRIVE);
	rt_turn_reach(thread, rt_team_clock(place));
}

static void on_sync_region(int kind, int endpoint, data_t *parallel, data_t *task, const void *from)
{
	struct rt_thread *thread = rt_sync_thread();

	(void)parallel, (void)from;
	if (thread && endpoint == SCOPE_BEGIN && is_barrier(kind))
		arrive(thread, task ? task->value : 0);
	else if (thread && endpoint == SCOPE_BEGIN)
		rt_team_release(thread, LOCI_SYNC_RELEASE);
	else if (thread && is_barrier(kind))
		rt_barrier_leave(thread, rt_barrier_stripe(task ? task->value : 0));
	else if (thread)
		rt_team_acquire(thread);
	if (task && endpoint != SCOPE_BEGIN && is_barrier(kind))
		task->value++;
}

/* Tasks may run while a thread waits: it waits again after them. */
static void on_sync_region_wait(
	int kind, int endpoint, data_t *parallel, data_t *task, const void *from)
{
	struct rt_thread *thread = rt_sync_thread();
	uint64_t place = task ? task->value : 0;

	(void)kind, (void)parallel, (void)from;
	if (!thread)
		return;
	if (endpoint == SCOPE_BEGIN) {
		thread->omp_waits++;
		if (thread->omp_is_within)
			rt_omp_park(thread, place);
		else
			rt_omp_idle(thread);
	} else {
		thread->omp_waits -= thread->omp_waits > 0;
		if (thread->omp_is_within)
			rt_omp_wake(thread, place);
		rt_sync_running(thread);
	}
}

static void on_task_create(data_t *task, const void *frame, data_t *made, int flags,
	int has_dependences, const void *from)
{
	struct rt_thread *thread = rt_openmp_thread();

	(void)task, (void)frame, (void)made, (void)flags, (void)has_dependences, (void)from;
	if (thread)
		rt_team_release(thread, LOCI_SYNC_RELEASE);
}

static void on_task_schedule(data_t *prior, int status, data_t *next)
{
	struct rt_thread *thread = rt_sync_thread();
	bool ends = status != TASK_YIELD && status != TASK_SWITCH;

	(void)prior, (void)next;
	if (thread && ends)
		rt_task_end(thread, thread->omp_waits > 0);
	else if (thread)
		rt_task_begin(thread);
}

static int initialize(lookup_function *lookup, int device, data_t *data)
{
	set_callback_function *set = (set_callback_function *)lookup("ompt_set_callback");

	(void)device, (void)data;
	if (!set)
		return 0;
	set(ON_THREAD_BEGIN, (callback *)on_thread_begin);
	set(ON_PARALLEL_BEGIN, (callback *)on_parallel_begin);
	set(ON_PARALLEL_END, (callback *)on_parallel_end);
	set(ON_TASK_CREATE, (callback *)on_task_create);
	set(ON_TASK_SCHEDULE, (callback *)on_task_schedule);
	set(ON_IMPLICIT_TASK, (callback *)on_implicit_task);
	set(ON_SYNC_REGION, (callback *)on_sync_region);
	set(ON_SYNC_REGION_WAIT, (callback *)on_sync_region_wait);
	return 1; /* stay */
}

static void finalize(data_t *data)
{
	(void)data;
}

struct start {
	int (*initialize)(lookup_function *lookup, int device, data_t *data);
	void (*finalize)(data_t *data);
	data_t data;
};

/* NULL: no tool of ours; the library goes on looking. */
RT_PUBLIC struct start *ompt_start_tool(unsigned version, const char *runtime);
RT_PUBLIC struct start *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct start start = { initialize, finalize, { 0 } };

	(void)version, (void)runtime;
	return rt_mode() == RT_TRACE ? &start : NULL;
}
#endif
