// SPDX-License-Identifier: GPL-2.0-or-later
/* Linked to a program that knows nothing of it, with the runtime: takes all signals that may be
 * taken, and watches the program's memory all the time, so that there are traps everywhere in it.
 */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/watch.h"

#include <pthread.h>
#include <unistd.h>

extern volatile uint64_t traps_touched[8];

static struct loci_control control;
static _Atomic unsigned n_fired;
static unsigned n_watches; /* 0: there are no debug registers to be had */
static uintptr_t given_up[4];

void rt_watch_fired(unsigned watch, uintptr_t address, const ucontext_t *context)
{
	(void)context;
	n_fired++;
	rt_lock();
	rt_watch_registers.arm(watch, address);
	for (unsigned i = 0; i < n_watches; i++)
		if (given_up[i]) {
			rt_watch_registers.arm(i, given_up[i]);
			given_up[i] = 0;
		}
	rt_unlock();
}

/* Until another fires. */
void rt_watch_given_up(unsigned watch, uintptr_t address)
{
	given_up[watch] = address;
}

static bool is_none_of_ours(int signal, siginfo_t *info, ucontext_t *context)
{
	(void)signal, (void)info, (void)context;
	return false;
}

static void begin(void)
{
	int failed = 0;

	rt.pid = getpid();
	n_watches = rt_watch_registers.begin(4, &failed);
	for (unsigned i = 0; i < n_watches; i++)
		rt_watch_registers.arm(i, (uintptr_t)&traps_touched[2 * i]);
	rt_own_signal_take(SIGSEGV, is_none_of_ours);
	rt_own_signal_take(SIGSYS, is_none_of_ours);
}

__attribute__((constructor)) static void take(void)
{
	uint64_t mask = rt_block();

	control.watching.block_shift = 3;
	rt.control = &control;
	rt_lock();
	begin();
	rt_unlock();
	rt_unblock(rt_own_masks_adopt(mask));
	pthread_atfork(NULL, NULL, rt_own_signals_fork);
}

/* If nothing was watched, nothing was tested. */
__attribute__((destructor)) static void check(void)
{
	if (n_watches && !n_fired)
		_exit(99);
}
