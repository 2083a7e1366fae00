// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/deferring.h"
#include "stream/ring_x86_64.h"

#include <string.h>
#include <ucontext.h>

#define SYS_RT_SIGACTION      13
#define SYS_GETTID            186
#define SYS_TGKILL            234
#define SYS_RT_TGSIGQUEUEINFO 297
#define SIGSET_BYTES          8

/* As the kernel has it. */
struct action {
	uintptr_t handler;
	uint64_t flags;
	uintptr_t restorer;
	uint64_t mask;
};

#define BIT(signal) (1ull << ((signal)-1))
/* SIGABRT is one too: who raises it does not go on. */
#define FAULTS                                                                                 \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS) | \
		BIT(SIGABRT))

/* A handler that is for one signal only (SA_RESETHAND) is gone by now: it would not come again. */
bool rt_put_off(
	struct rt_thread *thread, int signal, const siginfo_t *info, void *context, uintptr_t entry)
{
	sigset_t *mask = &((ucontext_t *)context)->uc_sigmask;
	struct action action = { 0 };
	uint64_t others = ~FAULTS;

	if ((FAULTS & BIT(signal)) || thread->put_off ||
		loci_syscall6(SYS_RT_SIGACTION, signal, 0, (long)&action, SIGSET_BYTES, 0, 0) < 0 ||
		action.handler != entry)
		return false;
	thread->put_off_informs = (action.flags & SA_SIGINFO) != 0;
	if (thread->put_off_informs)
		thread->put_off_info = *info;
	memcpy(&thread->put_off_mask, mask, SIGSET_BYTES);
	memcpy(mask, &others, SIGSET_BYTES);
	thread->put_off = signal;
	return true;
}

/* All signals but faults are blocked. */
void rt_deferred_send(struct rt_thread *thread)
{
	long pid = loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0),
	     tid = loci_syscall3(SYS_GETTID, 0, 0, 0);
	int signal = thread->put_off;
	uint64_t mask = thread->put_off_mask;

	thread->put_off = 0;
	if (!thread->put_off_informs ||
		loci_syscall6(SYS_RT_TGSIGQUEUEINFO, pid, tid, signal, (long)&thread->put_off_info,
			0, 0) < 0)
		loci_syscall3(SYS_TGKILL, pid, tid, signal);
	rt_unblock(mask);
}
