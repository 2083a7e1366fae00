// SPDX-License-Identifier: BSD-2-Clause
/* Threads as the runtime knows them, and how much they count. */
#include "collect/runtime/atomics.h"
#include "collect/runtime/deferring.h"
#include "collect/runtime/level.h"
#include "collect/runtime/own_masks.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/turns.h"
#include "collect/runtime/watching.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <pthread.h>

#define SYS_GETTID 186

static struct loci_cc_state start = { rt_sink, NULL };

RT_PUBLIC __thread struct loci_cc_thread __loci_thread
	__attribute__((tls_model("initial-exec"))) = { -1, &start, LOCI_CC_COUNTERS_UNKNOWN };
__thread struct rt_thread *rt_self __attribute__((tls_model("initial-exec")));
static __thread struct loci_cc_state off __attribute__((tls_model("initial-exec")));
static __thread bool is_over __attribute__((tls_model("initial-exec")));

static __thread struct rt_thread *muted __attribute__((tls_model("initial-exec")));
static __thread int64_t muted_budget __attribute__((tls_model("initial-exec")));

static struct rt_thread *reuse(void)
{
	struct rt_thread *thread = rt_threads();

	for (; thread; thread = thread->next) {
		uint32_t free = 0;

		if (__atomic_compare_exchange_n(
			    &thread->in_use, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return thread;
	}
	return NULL;
}

static struct rt_thread *make(void)
{
	struct rt_thread *thread = loci_sys_map(sizeof(*thread), -1);

	if (!thread)
		return NULL;
	thread->in_use = 1;
	thread->next = __atomic_load_n(&rt.threads, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(
		&rt.threads, &thread->next, thread, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return thread;
}

struct rt_thread *rt_thread_take(uint32_t parent)
{
	struct rt_thread *thread = reuse();

	if (!thread)
		thread = make();
	if (!thread)
		return NULL;
	__atomic_store_n(&thread->id, __atomic_add_fetch(&rt.n_rings, 1, __ATOMIC_SEQ_CST),
		__ATOMIC_RELAXED); /* others may look at one that is used again (turns.h) */
	if (thread->id > 1)        /* of the first, a handler may have come before */
		rt_sync_go();
	thread->parent = parent;
	thread->depth = thread->rounds = 0;
	thread->unheard = 0;
	rt_thread_set_recording(thread, false);
	thread->has_jumped = thread->is_told = thread->is_blocked = false;
	thread->omp_is_idle = thread->omp_is_within = false;
	thread->busy = 0;
	thread->put_off = 0;
	thread->omp_waits = 0;
	thread->omp_place = 0;
	thread->new_site = 0;
	thread->marks.depth = thread->marks.beyond = 0;
	for (unsigned i = 0; i < RT_LEVELS; i++)
		rt_level_reset(&thread->level[i]);
	rt_counters_clear(thread);
	rt_turn_made(NULL, thread);
	return thread;
}

void rt_thread_give_back(struct rt_thread *thread)
{
	uint64_t mask = rt_block();

	rt_lock();
	for (unsigned i = 0; i < RT_LEVELS; i++)
		rt_level_close(&thread->level[i]);
	rt_unlock();
	rt_unblock(mask);
	__atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
}

/* The count stays as it is. A fault's handler between the two steps changes neither sum: it
 * restores the budget it found and adds what it used. Others wait: one that jumped would leave half
 * of it done, and the count anywhere. */
void rt_thread_set_budget(struct rt_thread *thread, int64_t budget)
{
	rt_defer(thread);
	__atomic_fetch_add(&thread->offset, budget - __loci_thread.budget, __ATOMIC_RELAXED);
	__atomic_store_n(&__loci_thread.budget, budget, __ATOMIC_RELAXED);
	rt_undefer(thread);
}

uint64_t rt_thread_count(const struct rt_thread *thread)
{
	return (uint64_t)(thread->offset - __loci_thread.budget);
}

static void introduce(struct rt_thread *thread)
{
	uint64_t raw[4] = { thread->parent, (uint64_t)loci_syscall3(SYS_GETTID, 0, 0, 0),
		rt_now_ns() };

	raw[3] = rt_next_sequence();
	rt_mark(thread, LOCI_MARK_THREAD_START, thread->id, 4, raw);
}

/* Signals blocked. */
void rt_thread_begin(struct rt_thread *thread)
{
	rt_self = thread;
	rt_own_signals_thread();
	thread->offset = __loci_thread.budget;
	/* It may have run before anybody was there. */
	rt_thread_set_budget(thread, rt.turn_shift ? -RT_ENDLESS : -1);
	rt_thread_set_recording(thread, rt_mode() == RT_TRACE && !rt.control->windows);
	if (rt.samples)
		rt_sample_begin(thread);
	if (rt.watches)
		rt_watch_thread_begin(thread);
	pthread_setspecific(rt_key, thread);
	rt_turn_begin(thread);
	introduce(thread);
	rt_sync_began(thread);
	rt_level_resume(thread, &thread->level[thread->depth]);
}

/* What this thread counts from here on is nobody's business. */
static void be_off(void)
{
	off.cursor = rt_sink;
	off.limit = NULL;
	__loci_thread.state = &off;
	if (__loci_thread.budget < 0)
		__atomic_store_n(&__loci_thread.budget, RT_ENDLESS, __ATOMIC_RELAXED);
}

static struct rt_thread *adopt(void)
{
	uint64_t mask;

	if (is_over || rt_mode() == RT_OFF)
		return NULL;
	mask = rt_block();
	if (!rt_self) {
		struct rt_thread *thread = rt_thread_take(0);

		if (thread)
			rt_thread_begin(thread);
	}
	rt_unblock(rt_own_masks_adopt(mask));
	return rt_self;
}

/* Code may run in a thread that has ended for us: a handler, other destructors, or all that exit
 * does if this was the last thread. It is a thread of its own then, and never ends. */
static struct rt_thread *revive(void)
{
	if (!is_over || muted || rt.ended)
		return NULL;
	is_over = false;
	return adopt();
}

struct rt_thread *rt_thread(void)
{
	if (__builtin_expect(rt_mode() == RT_OFF, 0))
		return NULL;
	return rt_self ? rt_self : adopt();
}

/* When a handler was left by longjmp, what was in a register of the code that it interrupted is not
 * in the count; then words that arrive are not to be checked against it. */
void rt_thread_tell_count(struct rt_thread *thread)
{
	uint64_t raw[1] = { rt_thread_count(thread) };

	rt_counters_tell(thread);
	if (!thread->has_jumped || rt_mode() == RT_COUNT)
		rt_mark(thread, LOCI_MARK_COUNT, 0, 1, raw);
}

/* Signals blocked. */
static void tell_end(struct rt_thread *thread)
{
	uint64_t count = rt_thread_count(thread), lost = thread->unheard, raw[2];

	if (thread->level[0].deaf)
		lost = count;
	else
		rt_thread_tell_count(thread);
	if (lost) {
		rt_lock();
		rt_process_mark(LOCI_MARK_LOST, lost, 0, NULL);
		rt_unlock();
	}
	if (rt_is_synced() && thread->recording)
		rt_sync_finish(thread);
	raw[0] = rt_now_ns();
	raw[1] = rt_next_sequence();
	rt_mark(thread, LOCI_MARK_THREAD_EXIT, thread->id, 2, raw);
}

void rt_thread_end(struct rt_thread *thread)
{
	uint64_t mask = rt_block();

	rt_atomic_let_go(thread);
	for (; thread->depth; thread->depth--)
		rt_level_leave(&thread->level[thread->depth]);
	rt_marks_leave(thread);
	if (rt.watches)
		rt_watch_thread_end(thread);
	tell_end(thread);
	rt_turn_end(thread);
	rt_own_signals_thread_end();
	is_over = true;
	rt_self = NULL;
	be_off();
	__loci_thread.budget = -1; /* should more code run, it comes to us: revive */
	__loci_thread.counters = LOCI_CC_COUNTERS_UNKNOWN;
	rt_thread_give_back(thread);
	rt_unblock(mask);
}

void rt_thread_again(struct rt_thread *thread)
{
	thread->id = __atomic_add_fetch(&rt.n_rings, 1, __ATOMIC_SEQ_CST);
	thread->parent = 0;
	thread->unheard = 0;
	thread->has_jumped = thread->is_told = thread->is_blocked = false;
	thread->omp_is_idle = thread->omp_is_within = false;
	rt_counters_clear(thread);
	rt_thread_begin(thread);
}

void rt_threads_forget(struct rt_thread *but)
{
	for (struct rt_thread *thread = rt_threads(); thread; thread = thread->next) {
		for (unsigned i = 0; i < RT_LEVELS; i++)
			rt_level_forget(&thread->level[i]);
		thread->in_use = thread == but;
		thread->turn.readers = 0;
	}
}

void rt_thread_forsake(void)
{
	rt_self = NULL;
	be_off();
}

void rt_thread_mute(struct rt_thread *thread)
{
	muted = thread;
	muted_budget = __loci_thread.budget;
	is_over = true;
	rt_self = NULL;
	__loci_thread.budget = RT_ENDLESS;
	be_off();
}

void rt_thread_unmute(void)
{
	struct rt_thread *thread = muted;
	uint64_t used = (uint64_t)(RT_ENDLESS - __loci_thread.budget);

	if (!thread)
		return;
	__loci_thread.budget = muted_budget;
	thread->offset += (int64_t)used;
	thread->unheard += used;
	is_over = false;
	rt_self = thread;
	muted = NULL;
	rt_level_resume(thread, &thread->level[thread->depth]);
}

/* Others look at the count, which is right at no time while it is set: so not each time. */
static void be_endless(struct rt_thread *thread)
{
	if (__loci_thread.budget > -RT_ENDLESS / 2)
		rt_thread_set_budget(thread, -RT_ENDLESS);
}

/* Comes from code that has no room, or has not met the runtime yet. */
void rt_room(void)
{
	int error = errno;
	struct rt_thread *thread = rt_thread();

	if (!thread)
		thread = revive();
	if (thread && rt.watches && !thread->depth && rt_mode() == RT_TRACE) {
		rt_watch_room(thread, (uintptr_t)__builtin_frame_address(0));
	} else if (thread && rt.samples && !thread->depth && !thread->recording &&
		rt_mode() == RT_TRACE && !rt_sample_is_wanted(thread)) {
		rt_sample_rest(thread);
	} else if (thread && rt_window_is_shut(thread)) {
		/* the usual case between windows, and often: no system calls */
		rt_thread_set_budget(thread, rt_window_budget(thread));
	} else if (thread) {
		uint64_t mask = rt_block();

		rt_window_look(thread);
		if (rt_level_make_room(thread, &thread->level[thread->depth]))
			be_endless(thread);
		else if (__loci_thread.budget < 0)
			rt_thread_set_budget(thread, rt_window_budget(thread));
		rt_turn_come(thread);
		rt_unblock(mask);
		if (rt.samples && thread->recording && !thread->depth)
			rt_sample_wait(thread);
	} else {
		be_off();
	}
	errno = error;
}
