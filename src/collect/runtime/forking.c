// SPDX-License-Identifier: BSD-2-Clause
/* A child begins with rings of its own, before any other code of its runs: our handler of fork is
 * the first that was registered. From just before to just after, signals are blocked, so that no
 * handler runs in a child that writes to its parent's rings. The child of vfork is a part of its
 * parent, its memory and its rings, until it executes another program. */
#include "collect/runtime/level.h"
#include "collect/runtime/own_signals.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/untold.h"
#include "collect/runtime/watched_pages.h"
#include "collect/runtime/watching.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread uint64_t mask __attribute__((tls_model("initial-exec")));
static __thread bool is_forking __attribute__((tls_model("initial-exec")));

/* Our lock is not taken: fork waits for locks of the C library's, and who holds those may be in a
 * handler that waits for ours. The child finds tables as they were at that moment, perhaps in the
 * middle of a change; they grow in an order in which this does no harm. */
static void before(void)
{
	mask = rt_block();
	is_forking = true;
	__atomic_fetch_add(&rt.forks, 1, __ATOMIC_RELAXED);
}

static void after(void)
{
	uint64_t was = mask;

	is_forking = false;
	rt_unblock(was);
}

static void forget_parent(struct rt_thread *self)
{
	rt_threads_forget(self);
#ifndef LOCI_RT_STATIC
	rt_modules_drop_gone(false);
#endif
	rt_unseen_forget();
	if (rt.watches)
		rt_untold_forget();
	if (rt.mapped)
		rt_unmap(rt.mapped, rt.mapped_bytes);
	rt.mapped = NULL;
	loci_ring_producer_init(&rt.ring);
}

/* All that the parent has said of itself holds for the child. */
static bool begin_child(void)
{
	if (rt_mode() == RT_OFF || !rt_is_chosen() || !rt_begin_image())
		return false;
	rt_modules_tell_again();
	rt_define_all_again();
	return rt.ring.shared != NULL;
}

static void in_child(void)
{
	struct rt_thread *self = rt_self;
	uint64_t was = mask;
	int error = errno;
	bool is_watched;

	is_forking = false;
	rt.lock = 0; /* of a thread that is not here */
	rt_pages_unlock();
	rt_own_signals_fork();
	forget_parent(self);
	rt_sync_forget();
	if (rt.samples || rt.watches)
		rt_sample_fork(self);
	is_watched = begin_child();
	if (!is_watched) {
		rt_watch_end();
		rt_go_off();
	}
	if (self && is_watched) {
		rt_thread_again(self);
		rt_marks_again(self);
	} else {
		rt_thread_forsake();
	}
	errno = error;
	rt_unblock(was);
}

/* A child need not know of us. */
static bool is_nothing(void)
{
	return rt_mode() == RT_OFF && !rt_own_taken;
}

void rt_fork_init(void)
{
	pthread_atfork(before, after, in_child);
}

static pid_t tell(pid_t child)
{
	struct rt_thread *thread = child > 0 ? rt_thread() : NULL;
	int error = errno;

	if (thread)
		rt_mark(thread, LOCI_MARK_FORK, (uint64_t)child, 0, NULL);
	errno = error;
	return child;
}

RT_WRAP(pid_t, fork, void)
{
	return tell(RT_REAL(fork)());
}

/* What the kernel offers beside fork. Without CLONE_VM the child has memory of its own. */
struct child {
	int (*run)(void *);
	void *argument;
};

static int run_child(void *data)
{
	struct child child = *(struct child *)data;
	int status;

	in_child();
	status = child.run(child.argument);
	rt_end(status, false);
	return status;
}

RT_WRAP(int, clone, int (*run)(void *), void *stack, int flags, void *argument, ...)
{
	struct child child = { run, argument };
	void *rest[3];
	va_list args;
	int pid;

	va_start(args, argument);
	for (unsigned i = 0; i < 3; i++)
		rest[i] = va_arg(args, void *);
	va_end(args);
	if (flags & CLONE_VM)
		__atomic_store_n(&__loci_shared, 1, __ATOMIC_RELAXED);
	if ((flags & CLONE_SIGHAND) && !(flags & CLONE_THREAD))
		rt_own_signals_share();
	if ((flags & CLONE_VM) || is_nothing())
		return RT_REAL(clone)(run, stack, flags, argument, rest[0], rest[1], rest[2]);
	before();
	pid = RT_REAL(clone)(run_child, stack, flags, &child, rest[0], rest[1], rest[2]);
	after();
	return tell(pid);
}

static bool makes_child(long number, const long a[6])
{
	switch (number) {
	case SYS_fork:
		return true;
	case SYS_clone:
		return !(a[0] & CLONE_VM) && !a[1];
	case SYS_clone3:
		return a[0] && !(*(const uint64_t *)a[0] & CLONE_VM);
	default:
		return false;
	}
}

RT_WRAP(long, syscall, long number, ...)
{
	long a[6], r;
	va_list args;

	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (rt_own_call(RT_REAL(syscall), number, a, &r))
		return r;
	if (!makes_child(number, a) || is_nothing())
		return RT_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	before();
	r = RT_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r == 0)
		in_child();
	else
		after();
	return tell((pid_t)r);
}

/* Runs no handlers of fork. In a static program fork itself comes here. */
RT_WRAP(pid_t, _Fork, void)
{
	pid_t child;

	if (is_forking || is_nothing())
		return RT_REAL(_Fork)();
	before();
	child = RT_REAL(_Fork)();
	if (child == 0)
		in_child();
	else
		after();
	return tell(child);
}
