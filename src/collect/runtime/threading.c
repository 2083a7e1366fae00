// SPDX-License-Identifier: BSD-2-Clause
/* Threads of the C library. A thread that was made in another way is met when it first comes for
 * room or allocates. */
#include "collect/runtime/runtime.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/wrap.h"

#include <threads.h>

/* A signal handler may have come first, and met the runtime on its own. */
static void begin(struct rt_thread *thread)
{
	uint64_t mask = rt_block();

	if (rt_self)
		rt_thread_give_back(thread);
	else
		rt_thread_begin(thread);
	rt_unblock(mask);
}

static void *run(void *data)
{
	struct rt_thread *thread = data;
	void *(*start)(void *) = thread->start;
	void *argument = thread->argument;

	begin(thread);
	return start(argument);
}

static int run_c11(void *data)
{
	struct rt_thread *thread = data;
	int (*start)(void *) = thread->start_c11;
	void *argument = thread->argument;

	begin(thread);
	return start(argument);
}

RT_PUBLIC uint32_t __loci_shared;

static struct rt_thread *prepare(void)
{
	struct rt_thread *parent = rt_thread(), *thread;

	__loci_shared = 1;
	if (!parent)
		return NULL;
	rt_sync_go();
	thread = rt_thread_take(parent->id);
	if (thread)
		rt_sync_create(parent, thread);
	return thread;
}

RT_WRAP(int, pthread_create, pthread_t *ret, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument)
{
	struct rt_thread *thread = prepare();
	int r;

	if (!thread)
		return RT_REAL(pthread_create)(ret, attributes, start, argument);
	thread->start = start;
	thread->argument = argument;
	r = RT_REAL(pthread_create)(ret, attributes, run, thread);
	if (r)
		rt_thread_give_back(thread);
	return r;
}

RT_WRAP(int, thrd_create, thrd_t *ret, thrd_start_t start, void *argument)
{
	struct rt_thread *thread = prepare();
	int r;

	if (!thread)
		return RT_REAL(thrd_create)(ret, start, argument);
	thread->start_c11 = start;
	thread->argument = argument;
	r = RT_REAL(thrd_create)(ret, run_c11, thread);
	if (r != thrd_success)
		rt_thread_give_back(thread);
	return r;
}
