// SPDX-License-Identifier: BSD-2-Clause
/* Tasks of libgomp. A task's data is copied when it is made, and all that its function gets; so the
 * copy is made larger, and says at its end which function it was. Where that stands depends on its
 * size: there is a function of ours for each of a few sizes. */
#include "collect/runtime/openmp.h"

#ifndef LOCI_RT_STATIC
#include <string.h>

typedef void task_function(void *data);
typedef void copy_function(void *to, void *from);

struct making {
	struct making *outer;
	copy_function *copy; /* NULL: bytes */
	task_function *run;
	size_t bytes, place;
	struct rt_thread *thread;
};

static __thread struct making *making __attribute__((tls_model("initial-exec")));

static void copy(void *to, void *from)
{
	const struct making *mine = making;

	if (mine->copy)
		mine->copy(to, from);
	else
		memcpy(to, from, mine->bytes);
	memcpy((char *)to + mine->place, &mine->run, sizeof(mine->run));
}

static void run_task(void *data, size_t place)
{
	struct rt_thread *thread = rt_sync_thread();
	bool waits = thread && rt_task_begin(thread);
	task_function *run;

	memcpy(&run, (char *)data + place, sizeof(run));
	run(data);
	thread = rt_sync_thread();
	if (thread)
		rt_task_end(thread, waits);
}

#define SIZES(each) each(32) each(128) each(512) each(2048) each(8192)
#define RUN(place)                               \
	static void run_task_##place(void *data) \
	{                                        \
		run_task(data, place);           \
	}
SIZES(RUN)

static const struct size {
	size_t place;
	task_function *run;
} sizes[] = {
#define SIZE(place) { place, run_task_##place },
	SIZES(SIZE)
};

/* A loop waits for its tasks. */
static void made(const struct making *mine)
{
	making = mine->outer;
	if (mine->thread)
		rt_team_acquire(mine->thread);
}

/* NULL: as it is. */
static const struct size *prepare(
	struct making *mine, task_function *run, copy_function *copier, long bytes, bool waits)
{
	struct rt_thread *thread = rt_openmp_thread();
	const struct size *size = sizes;

	*mine = (struct making){ making, copier, run, (size_t)bytes, 0, thread };
	if (!thread)
		return NULL;
	rt_team_release(thread, LOCI_SYNC_RELEASE);
	if (waits)
		rt_sync_blocked(thread);
	for (; size < sizes + sizeof(sizes) / sizeof(*sizes); size++)
		if (bytes >= 0 && (size_t)bytes <= size->place) {
			mine->place = size->place;
			making = mine;
			return size;
		}
	return NULL;
}

#define TASK(name, waits, arguments, ...)                                                      \
	RT_WRAP(void, name, task_function *run, void *data, copy_function *copier, long bytes, \
		long alignment, __VA_ARGS__)                                                   \
	{                                                                                      \
		__attribute__((cleanup(made))) struct making mine;                             \
		const struct size *size = prepare(&mine, run, copier, bytes, waits);           \
                                                                                               \
		if (size) {                                                                    \
			run = size->run;                                                       \
			copier = copy;                                                         \
			bytes = (long)(size->place + sizeof(run));                             \
		}                                                                              \
		RT_REAL(name) arguments;                                                       \
	}

TASK(GOMP_task, false,
	(run, data, copier, bytes, alignment, is_deferred, flags, depends, priority, detached),
	bool is_deferred, unsigned flags, void **depends, int priority, void *detached)
#define FOR(type) \
	unsigned flags, unsigned long n_tasks, int priority, type start, type end, type step
#define GIVEN (run, data, copier, bytes, alignment, flags, n_tasks, priority, start, end, step)
TASK(GOMP_taskloop, true, GIVEN, FOR(long))
TASK(GOMP_taskloop_ull, true, GIVEN, FOR(unsigned long long))
#endif
