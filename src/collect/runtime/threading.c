// SPDX-License-Identifier: BSD-2-Clause
/* Threads of the C library. A thread that was made in another way is met when it first comes for
 * room or allocates. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/turns.h"
#include "collect/runtime/wrap.h"

#include <threads.h>
#include <time.h>

/* A signal handler may have come first, and met the runtime on its own. */
static void begin(struct rt_thread *thread)
{
	uint64_t mask = rt_block() | thread->inherits;

	if (rt_self)
		rt_thread_give_back(thread);
	else
		rt_thread_begin(thread);
	rt_unblock(rt_own_masks_adopt(mask));
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

	__atomic_store_n(&__loci_shared, 1, __ATOMIC_RELAXED);
	if (!parent)
		return NULL;
	rt_turn_take(parent);
	rt_sync_go();
	thread = rt_thread_take(parent->id);
	if (thread)
		rt_turn_made(parent, thread);
	if (thread)
		rt_sync_create(parent, thread);
	if (thread)
		thread->inherits = rt_own_blocked() & ~rt_blockable(~0ull);
	return thread;
}

/* The mask that a new thread begins with is the kernel's: that it may have all of this thread's,
 * what is blocked of the signals that the runtime took is blocked there meanwhile, if that can be;
 * and told. */
struct inherited {
	bool is_needed;
};

static struct inherited inherit_begin(void)
{
	struct inherited mask = { rt_own_blocked() != 0 };

	if (mask.is_needed)
		rt_own_masks_show();
	return mask;
}

static void inherit_end(const struct inherited *mask)
{
	if (mask->is_needed)
		rt_own_masks_hide();
}

static bool has_own_mask(const pthread_attr_t *attributes)
{
	sigset_t mask;

	return attributes && pthread_attr_getsigmask_np(attributes, &mask) == 0;
}

#define INHERIT_MASK \
	__attribute__((cleanup(inherit_end), unused)) struct inherited mask = inherit_begin()

RT_WRAP(int, pthread_create, pthread_t *ret, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument)
{
	INHERIT_MASK;
	struct rt_thread *thread = prepare();
	int r;

	if (!thread)
		return RT_REAL(pthread_create)(ret, attributes, start, argument);
	thread->start = start;
	thread->argument = argument;
	if (has_own_mask(attributes))
		thread->inherits = 0;
	r = RT_REAL(pthread_create)(ret, attributes, run, thread);
	if (r)
		rt_thread_give_back(thread);
	return r;
}

RT_WRAP(int, thrd_create, thrd_t *ret, thrd_start_t start, void *argument)
{
	INHERIT_MASK;
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

/* A thread's end is told under its handle, which no other has before it was joined. */
struct join {
	struct rt_thread *thread;
	struct rt_stripe *at; /* NULL: it does not wait */
};

static struct join join_begin(struct rt_thread *thread, struct rt_stripe *at)
{
	if (at) {
		rt_turn_take(thread);
		rt_sync_parked(thread);
		rt_turn_park_for(thread, at, &at->clock);
	}
	return (struct join){ thread, at };
}

static void join_end(const struct join *join)
{
	if (!join->at)
		return;
	rt_turn_wake_at(join->thread, join->at, &join->at->clock);
	rt_sync_running(join->thread);
}

#define JOIN(name, waits, arguments, ...)                                                    \
	RT_WRAP(int, name, __VA_ARGS__)                                                      \
	{                                                                                    \
		struct rt_thread *thread = rt_sync_thread();                                 \
		int r;                                                                       \
                                                                                             \
		if (!thread)                                                                 \
			return RT_REAL(name) arguments;                                      \
		{                                                                            \
			__attribute__((cleanup(join_end), unused)) struct join join =        \
				join_begin(thread, waits ? rt_stripe((void *)other) : NULL); \
                                                                                             \
			r = RT_REAL(name) arguments;                                         \
		}                                                                            \
		if (r == 0)                                                                  \
			rt_sync(thread, rt_stripe((void *)other), LOCI_SYNC_THREAD_JOIN);    \
		return r;                                                                    \
	}
#define OTHER pthread_t other, void **result
JOIN(pthread_join, true, (other, result), OTHER)
JOIN(pthread_tryjoin_np, false, (other, result), OTHER)
JOIN(pthread_timedjoin_np, true, (other, result, until), OTHER, const struct timespec *until)
JOIN(pthread_clockjoin_np, true, (other, result, clock, until), OTHER, clockid_t clock,
	const struct timespec *until)
JOIN(thrd_join, true, (other, result), thrd_t other, int *result)
