// SPDX-License-Identifier: BSD-2-Clause
/* Taken signals that are the program's, and that it blocks. One of each waits, as the kernel has
 * it, of the thread and of the process. When one is due it is sent again, so that it comes as any
 * other does. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "stream/ring_x86_64.h"

#define SYS_GETTID            186
#define SYS_RT_TGSIGQUEUEINFO 297
#define MAX_WAITERS           16

struct parked {
	uint64_t mask; /* which do */
	siginfo_t info[RT_OWN_SIGNALS];
};

static __thread struct parked mine __attribute__((tls_model("initial-exec")));
static struct parked ours; /* lock held */

/* Threads that wait for signals, lock held. */
static struct waiter {
	long tid;
	uint64_t mask;
} waiters[MAX_WAITERS];

static void put(struct parked *to, int signal, const siginfo_t *info)
{
	if (to->mask & RT_SIGNAL_BIT(signal))
		return;
	to->info[rt_own_slot(signal)] = *info;
	__atomic_store_n(&to->mask, to->mask | RT_SIGNAL_BIT(signal), __ATOMIC_RELAXED);
}

static long waiter_for(int signal)
{
	for (unsigned i = 0; i < MAX_WAITERS; i++)
		if (waiters[i].mask & RT_SIGNAL_BIT(signal))
			return waiters[i].tid;
	return 0;
}

/* A thread may not send another what the kernel or a stranger sent: it is told to come for it. */
static void wake(long tid, int signal)
{
	siginfo_t info = { .si_signo = signal, .si_code = SI_QUEUE };

	info.si_ptr = waiters;
	loci_syscall6(SYS_RT_TGSIGQUEUEINFO, loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0), tid, signal,
		(long)&info, 0, 0);
}

bool rt_own_is_wake(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && info->si_ptr == waiters;
}

/* The kernel does not tell to whom it was sent: most of what is not from tgkill is to the process.
 */
void rt_own_park(int signal, const siginfo_t *info)
{
	long waiter;

	if (info->si_code > 0 || info->si_code == SI_TKILL) {
		put(&mine, signal, info);
		return;
	}
	rt_lock();
	put(&ours, signal, info);
	waiter = waiter_for(signal);
	rt_unlock();
	if (waiter)
		wake(waiter, signal);
}

static void forget(struct parked *of, uint64_t mask)
{
	__atomic_store_n(&of->mask, of->mask & ~mask, __ATOMIC_RELAXED);
}

void rt_own_park_forget(int signal)
{
	forget(&mine, RT_SIGNAL_BIT(signal));
	rt_lock();
	forget(&ours, RT_SIGNAL_BIT(signal));
	rt_unlock();
}

uint64_t rt_own_parked(void)
{
	return mine.mask | __atomic_load_n(&ours.mask, __ATOMIC_RELAXED);
}

bool rt_own_fetch(int signal, siginfo_t *info)
{
	uint64_t bit = RT_SIGNAL_BIT(signal), before = rt_block();
	bool is;

	rt_lock();
	is = (ours.mask & bit) != 0;
	if (is)
		*info = ours.info[rt_own_slot(signal)];
	forget(&ours, bit);
	rt_unlock();
	rt_unblock(before);
	return is;
}

/* One that waits for the thread and for the process comes twice: when the handler of the first
 * returns this is asked again. */
static void take(uint64_t mask, struct parked *ret)
{
	ret->mask = 0;
	for (int i = 0; i < RT_OWN_SIGNALS; i++) {
		uint64_t bit = RT_SIGNAL_BIT(rt_own_signal_of(i)) & mask;
		struct parked *from = mine.mask & bit ? &mine : &ours;

		if (from->mask & bit)
			put(ret, rt_own_signal_of(i), &from->info[i]);
		forget(from, bit);
	}
}

/* They may come at once: the lock is not held then. */
void rt_own_release(uint64_t mask)
{
	struct parked due;
	uint64_t before;

	if (!(rt_own_parked() & mask))
		return;
	before = rt_block();
	rt_lock();
	take(mask, &due);
	rt_unlock();
	rt_unblock_only(before);
	for (int i = 0; i < RT_OWN_SIGNALS; i++)
		if (due.mask & RT_SIGNAL_BIT(rt_own_signal_of(i)))
			rt_own_send(rt_own_signal_of(i), &due.info[i]);
}

void rt_own_waiter_begin(uint64_t mask)
{
	uint64_t before = rt_block();

	rt_lock();
	for (unsigned i = 0; i < MAX_WAITERS; i++)
		if (!waiters[i].mask) {
			waiters[i].tid = loci_syscall3(SYS_GETTID, 0, 0, 0);
			waiters[i].mask = mask;
			break;
		}
	rt_unlock();
	rt_unblock(before);
}

void rt_own_waiter_end(void)
{
	long tid = loci_syscall3(SYS_GETTID, 0, 0, 0);
	uint64_t before = rt_block();

	rt_lock();
	for (unsigned i = 0; i < MAX_WAITERS; i++)
		if (waiters[i].tid == tid)
			waiters[i].mask = 0;
	rt_unlock();
	rt_unblock(before);
}

void rt_own_parking_fork(void)
{
	mine.mask = ours.mask = 0;
	for (unsigned i = 0; i < MAX_WAITERS; i++)
		waiters[i].mask = 0;
}
