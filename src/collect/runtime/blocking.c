// SPDX-License-Identifier: BSD-2-Clause
/* Calls of the kernel that may wait for something: a thread that is in one is not waited for. They
 * order nothing: what comes through a pipe is not told. */
#include "collect/runtime/own_waits.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/turns.h"
#include "collect/runtime/wrap.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static struct rt_thread *begin(void)
{
	struct rt_thread *thread = rt_sync_thread();

	if (thread)
		rt_sync_blocked(thread);
	return thread;
}

static void end(struct rt_thread *const *thread)
{
	if (*thread)
		rt_sync_running(*thread);
}

/* Most may be left by cancellation. */
#define BLOCKS_AS(result, name, call, ...)                                                        \
	RT_WRAP(result, name, __VA_ARGS__)                                                        \
	{                                                                                         \
		if (!rt_is_synced())                                                              \
			return call;                                                              \
		{                                                                                 \
			__attribute__((cleanup(end), unused)) struct rt_thread *thread = begin(); \
                                                                                                  \
			return call;                                                              \
		}                                                                                 \
	}
#define BLOCKS(result, name, arguments, ...) \
	BLOCKS_AS(result, name, RT_REAL(name) arguments, __VA_ARGS__)
/* With a mask of signals instead of the thread's. */
#define BLOCKS_WITH_MASK(name, arguments, ...)                                                     \
	BLOCKS_AS(int, name, ({                                                                    \
		__attribute__((cleanup(rt_own_mask_again))) struct rt_own_instead instead = { 0 }; \
		int r;                                                                             \
                                                                                                   \
		mask = rt_own_mask_instead(&instead, mask);                                        \
		do                                                                                 \
			r = RT_REAL(name) arguments;                                               \
		while (r < 0 && rt_own_was_spurious(&instead));                                    \
		r;                                                                                 \
	}),                                                                                        \
		__VA_ARGS__)
#define TIME const struct timespec *

BLOCKS(int, nanosleep, (time, rest), TIME time, struct timespec *rest)
BLOCKS(int, clock_nanosleep, (clock, flags, time, rest), clockid_t clock, int flags, TIME time,
	struct timespec *rest)
BLOCKS(int, thrd_sleep, (time, rest), TIME time, struct timespec *rest)
BLOCKS(unsigned, sleep, (seconds), unsigned seconds)
BLOCKS(int, usleep, (us), useconds_t us)
BLOCKS(int, pause, (), void)

BLOCKS(int, poll, (files, n, ms), struct pollfd *files, nfds_t n, int ms)
BLOCKS_WITH_MASK(ppoll, (files, n, time, mask), struct pollfd *files, nfds_t n, TIME time,
	const sigset_t *mask)
BLOCKS(int, select, (n, in, out, error, time), int n, fd_set *in, fd_set *out, fd_set *error,
	struct timeval *time)
BLOCKS_WITH_MASK(pselect, (n, in, out, error, time, mask), int n, fd_set *in, fd_set *out,
	fd_set *error, TIME time, const sigset_t *mask)
BLOCKS(int, epoll_wait, (file, events, n, ms), int file, struct epoll_event *events, int n, int ms)
BLOCKS_WITH_MASK(epoll_pwait, (file, events, n, ms, mask), int file, struct epoll_event *events,
	int n, int ms, const sigset_t *mask)

BLOCKS(ssize_t, read, (file, to, bytes), int file, void *to, size_t bytes)
BLOCKS(ssize_t, recv, (file, to, bytes, flags), int file, void *to, size_t bytes, int flags)
BLOCKS(ssize_t, recvfrom, (file, to, bytes, flags, from, from_bytes), int file, void *to,
	size_t bytes, int flags, struct sockaddr *from, socklen_t *from_bytes)
BLOCKS(ssize_t, recvmsg, (file, message, flags), int file, struct msghdr *message, int flags)
BLOCKS(int, accept, (file, from, from_bytes), int file, struct sockaddr *from,
	socklen_t *from_bytes)
BLOCKS(int, accept4, (file, from, from_bytes, flags), int file, struct sockaddr *from,
	socklen_t *from_bytes, int flags)

BLOCKS(pid_t, wait, (status), int *status)
BLOCKS(pid_t, waitpid, (pid, status, flags), pid_t pid, int *status, int flags)
BLOCKS(int, waitid, (kind, id, info, flags), idtype_t kind, id_t id, siginfo_t *info, int flags)
BLOCKS_AS(int, sigtimedwait, rt_own_wait(RT_REAL(sigtimedwait), mask, info, time),
	const sigset_t *mask, siginfo_t *info, TIME time)
BLOCKS_AS(int, sigwaitinfo,
	rt_own_expects(mask) ? rt_own_wait(RT_REAL(sigtimedwait), mask, info, NULL)
			     : RT_REAL(sigwaitinfo)(mask, info),
	const sigset_t *mask, siginfo_t *info)
BLOCKS_AS(int, sigwait,
	rt_own_expects(mask) ? rt_own_wait_one(RT_REAL(sigtimedwait), mask, signal)
			     : RT_REAL(sigwait)(mask, signal),
	const sigset_t *mask, int *signal)
BLOCKS_WITH_MASK(sigsuspend, (mask), const sigset_t *mask)

/* Who lets others go first does so by turns, too. */
#define YIELDS(result, name)                                 \
	RT_WRAP(result, name, void)                          \
	{                                                    \
		struct rt_thread *thread = rt_sync_caller(); \
                                                             \
		if (thread)                                  \
			rt_turn_yield(thread);               \
		return RT_REAL(name)();                      \
	}
YIELDS(int, sched_yield)
YIELDS(void, thrd_yield)
