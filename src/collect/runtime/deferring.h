/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of a thread between which no handler may come, without asking the kernel to block signals:
 * one that arrives meanwhile is put off. Its handler returns at once, with all signals blocked, and
 * the signal is sent again at the end. Those of the thread's own faults cannot wait. */
#ifndef LOCI_COLLECT_RUNTIME_DEFERRING_H
#define LOCI_COLLECT_RUNTIME_DEFERRING_H

#include "collect/runtime/runtime.h"

/* Nests. */
static inline void rt_defer(struct rt_thread *thread)
{
	__atomic_store_n(&thread->busy, thread->busy + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void rt_deferred_send(struct rt_thread *thread);
static inline void rt_undefer(struct rt_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&thread->busy, thread->busy - 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(thread->put_off != 0 && !thread->busy, 0))
		rt_deferred_send(thread);
}

/* In the entry of a handler that came while the thread is busy. False: it cannot wait. */
bool rt_put_off(struct rt_thread *thread, int signal, const siginfo_t *info, void *context,
	uintptr_t entry);

#endif
