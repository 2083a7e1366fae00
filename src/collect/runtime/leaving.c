// SPDX-License-Identifier: BSD-2-Clause
/* The end of a process. What exit does comes first: handlers, destructors of the program and of
 * its libraries. Ours was registered by a library that is initialised before them all. */
#include "collect/runtime/level.h"
#include "collect/runtime/untold.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void count_unseen(void)
{
#ifndef LOCI_RT_STATIC
	rt_modules_drop_gone(true);
#endif
	rt_unseen_count();
	rt_unseen_tell();
}

/* Threads that are still there had allocations that came and went. */
static void tell_untold(void)
{
	rt_untold_say_all();
	for (struct rt_thread *thread = rt_threads(); thread; thread = thread->next)
		if (__atomic_load_n(&thread->in_use, __ATOMIC_ACQUIRE))
			rt_untold_say_gone(thread);
}

/* with_loader: it may be asked for modules, as exit itself might do. */
void rt_end(int status, bool with_loader)
{
	struct rt_thread *thread;
	uint64_t mask;

	if (rt_mode() == RT_OFF || !rt_is_this_process())
		return;
	mask = rt_block();
	thread = rt_self;
	if (thread) {
		rt_counters_gather(thread);
		rt_thread_end(thread);
	}
#ifndef LOCI_RT_STATIC
	if (with_loader)
		rt_modules_look();
#else
	(void)with_loader;
#endif
	rt_lock();
	if (!rt.ended) {
		count_unseen();
		tell_untold();
		rt.ended = true;
		rt_process_mark(LOCI_MARK_END, (uint64_t)(status & 0xff) << 8, 0, NULL);
		loci_ring_producer_close(&rt.ring);
	}
	rt_unlock();
	rt_unblock(mask);
}

/* What comes next may be the end, or not. */
void rt_unseen_now(void)
{
	uint64_t mask = rt_block();

	rt_lock();
	if (!rt.ended) {
		count_unseen();
		rt_untold_say_all();
		if (rt_self)
			rt_untold_say_gone(rt_self);
	}
	rt_unlock();
	rt_unblock(mask);
}

#ifndef LOCI_RT_STATIC
static int quick_status;

static void on_status(int status, void *data)
{
	(void)data;
	rt_end(status, true);
}

static void on_quick_end(void)
{
	rt_end(quick_status, false);
}
#endif

/* A static program's exit calls our _exit. */
void rt_end_init(void)
{
#ifndef LOCI_RT_STATIC
	on_exit(on_status, NULL);
	at_quick_exit(on_quick_end);
#endif
}

RT_WRAP(void, _exit, int status)
{
	rt_end(status, false);
	RT_REAL(_exit)(status);
	__builtin_unreachable();
}

RT_WRAP(void, _Exit, int status)
{
	rt_end(status, false);
	RT_REAL(_Exit)(status);
	__builtin_unreachable();
}

#ifndef LOCI_RT_STATIC
RT_WRAP(void, quick_exit, int status)
{
	quick_status = status;
	RT_REAL(quick_exit)(status);
	__builtin_unreachable();
}
#endif

/* A handler may still catch the signal, so this need not be the end. */
RT_WRAP(void, abort, void)
{
	struct rt_thread *thread = rt_thread();

	if (thread && rt_is_this_process()) {
		rt_thread_tell_count(thread);
		rt_unseen_now();
	}
	RT_REAL(abort)();
	__builtin_unreachable();
}
