// SPDX-License-Identifier: BSD-2-Clause
/* A child begins with rings of its own, before any other code of its runs: our handler of fork is
 * the first that was registered. From just before to just after, signals are blocked, so that no
 * handler runs in a child that writes to its parent's rings. The child of vfork is a part of its
 * parent, its memory and its rings, until it executes another program. */
#include "collect/runtime/level.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static uint64_t mask; /* of the thread that forks; it holds the lock */
static __thread bool is_forking __attribute__((tls_model("initial-exec")));

static void before(void)
{
	uint64_t was = rt_block();

	rt_lock();
	mask = was;
	is_forking = true;
}

static void after(void)
{
	uint64_t was = mask;

	is_forking = false;
	rt_unlock();
	rt_unblock(was);
}

static void forget_parent(struct rt_thread *self)
{
	rt_threads_forget(self);
	if (rt.mapped)
		loci_syscall3(LOCI_SYS_MUNMAP, (long)rt.mapped, (long)rt.mapped_bytes, 0);
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
	forget_parent(self);
	is_watched = begin_child();
	if (!is_watched)
		rt_go_off();
	rt_unlock();
	if (self && is_watched)
		rt_thread_again(self);
	else
		rt_thread_forsake();
	errno = error;
	rt_unblock(was);
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

/* Runs no handlers of fork. In a static program fork itself comes here. */
RT_WRAP(pid_t, _Fork, void)
{
	pid_t child;

	if (is_forking || rt_mode() == RT_OFF)
		return RT_REAL(_Fork)();
	before();
	child = RT_REAL(_Fork)();
	if (child == 0)
		in_child();
	else
		after();
	return tell(child);
}
