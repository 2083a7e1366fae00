// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/sync.h"
#include "collect/runtime/level.h"
#include "collect/runtime/turns.h"

#include <errno.h>

#define SYNC_WORDS 3

struct rt_stripe rt_stripes[RT_STRIPES];
uint32_t rt_synced;

void rt_sync_go(void)
{
	__atomic_store_n(&rt.is_threaded, true, __ATOMIC_RELAXED);
	if (rt_mode() == RT_TRACE)
		__atomic_store_n(&rt_synced, 1, __ATOMIC_RELEASE);
}

void rt_sync_forget(void)
{
	rt_synced = 0;
	for (unsigned i = 0; i < RT_STRIPES; i++)
		if (rt_stripes[i].number || rt_stripes[i].lock)
			rt_stripes[i].number = rt_stripes[i].clock = rt_stripes[i].lock = 0;
}

struct rt_thread *rt_sync_thread_now(void)
{
	struct rt_thread *thread = rt_self;

	if (rt_mode() != RT_TRACE)
		return NULL;
	if (__builtin_expect(!thread, 0)) {
		int error = errno;

		thread = rt_thread();
		errno = error;
	}
	return thread && thread->recording ? thread : NULL;
}

static bool begin(struct rt_thread *thread, unsigned n_words)
{
	rt_defer(thread);
	if (rt_level_reserve(thread, n_words))
		return true;
	rt_undefer(thread);
	return false;
}

bool rt_sync_begin(struct rt_thread *thread, unsigned n)
{
	return begin(thread, n * SYNC_WORDS);
}

void rt_sync_put(struct rt_thread *thread, struct rt_stripe *stripe, enum loci_sync kind)
{
	uint64_t raw[2] = { RT_STRIPE_OBJECT + (uint64_t)(stripe - rt_stripes),
		__atomic_add_fetch(&stripe->number, 1, __ATOMIC_SEQ_CST) };

	rt_mark(thread, LOCI_MARK_SYNC, kind, 2, raw);
}

void rt_sync(struct rt_thread *thread, struct rt_stripe *stripe, enum loci_sync kind)
{
	if (!rt_sync_begin(thread, 1))
		return;
	rt_sync_put(thread, stripe, kind);
	rt_sync_end(thread);
}

/* A thread's own numbers need no counter: each is taken once, and the next one only after it. */
static bool put_thread(struct rt_thread *thread, uint32_t id, enum loci_sync kind, uint64_t number)
{
	uint64_t raw[2] = { id, number };

	if (!rt_sync_begin(thread, 1))
		return false;
	rt_mark(thread, LOCI_MARK_SYNC, kind, 2, raw);
	rt_sync_end(thread);
	return true;
}

void rt_sync_create(struct rt_thread *thread, struct rt_thread *child)
{
	if (!thread->recording || rt_mode() != RT_TRACE)
		return;
	rt_sync_time(thread);
	child->is_told = put_thread(thread, child->id, LOCI_SYNC_THREAD_CREATE, 1);
}

void rt_sync_began(struct rt_thread *thread)
{
	if (!thread->recording || rt_mode() != RT_TRACE || !rt_is_synced())
		return;
	put_thread(thread, thread->id, LOCI_SYNC_THREAD_BEGIN, 1 + thread->is_told);
	rt_sync_time(thread);
}

void rt_sync_finish(struct rt_thread *thread)
{
	struct rt_stripe *mine = rt_stripe((void *)pthread_self());

	rt_turn_take(thread);
	rt_sync(thread, rt_stripe(&rt.threads), LOCI_SYNC_RELEASE);
	rt_sync(thread, mine, LOCI_SYNC_THREAD_FINISH);
	rt_turn_reach(thread, &mine->clock);
	rt_turn_wake_at(thread, mine, &mine->clock);
}

void rt_sync_inherit(struct rt_thread *thread)
{
	rt_sync(thread, rt_stripe(&rt.threads), LOCI_SYNC_ACQUIRE);
}

void rt_sync_time(struct rt_thread *thread)
{
	uint64_t raw[1] = { rt_now_ns() };

	rt_mark(thread, LOCI_MARK_TIME, 0, 1, raw);
}

/* Within a wait there may be others: of a handler, which change nothing, or where cancellation
 * unwinds out of it, and then it is over. */
void rt_sync_parked(struct rt_thread *thread)
{
	if (thread->is_blocked || !begin(thread, 3))
		return;
	rt_sync_time(thread);
	rt_mark(thread, LOCI_MARK_BLOCKED, 0, 0, NULL);
	rt_flush(thread);
	thread->is_blocked = true;
	thread->blocked_depth = thread->depth;
	rt_sync_end(thread);
}

void rt_sync_blocked(struct rt_thread *thread)
{
	rt_sync_parked(thread);
	rt_turn_leave(thread);
}

/* There may have been a fork, or the end of recording, in between. */
void rt_sync_running(struct rt_thread *thread)
{
	if (!thread->is_blocked || thread->depth > thread->blocked_depth || thread != rt_self ||
		!begin(thread, 3))
		return;
	thread->is_blocked = thread->omp_is_idle = false;
	rt_turn_enter(thread);
	rt_mark(thread, LOCI_MARK_RUNNING, 0, 0, NULL);
	rt_sync_time(thread);
	rt_sync_end(thread);
}
