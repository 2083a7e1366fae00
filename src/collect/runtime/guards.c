// SPDX-License-Identifier: BSD-2-Clause
/* What C++ initialises when it is first come by: the compiled code looks whether it was, and asks
 * the C++ library if not. Not in static programs, as operators.c says. */
#include "collect/runtime/sync.h"
#include "collect/runtime/wrap.h"

#ifndef LOCI_RT_STATIC
RT_WRAP(int, __cxa_guard_acquire, void *guard)
{
	struct rt_thread *thread = rt_sync_thread();
	int r;

	if (!thread)
		return RT_REAL(__cxa_guard_acquire)(guard);
	rt_sync_blocked(thread);
	r = RT_REAL(__cxa_guard_acquire)(guard);
	rt_sync_running(thread);
	rt_sync(thread, rt_stripe(guard), LOCI_SYNC_ACQUIRE);
	return r;
}

RT_WRAP(void, __cxa_guard_release, void *guard)
{
	struct rt_thread *thread = rt_sync_thread();

	if (thread)
		rt_sync(thread, rt_stripe(guard), LOCI_SYNC_RELEASE);
	RT_REAL(__cxa_guard_release)(guard);
}

/* It was left by an exception; another one begins anew. */
RT_WRAP(void, __cxa_guard_abort, void *guard)
{
	struct rt_thread *thread = rt_sync_thread();

	if (thread)
		rt_sync(thread, rt_stripe(guard), LOCI_SYNC_RELEASE);
	RT_REAL(__cxa_guard_abort)(guard);
}
#endif
