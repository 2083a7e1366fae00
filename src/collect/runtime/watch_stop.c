// SPDX-License-Identifier: BSD-2-Clause
/* That watching stopped, told to the recorder: it turns the reason into words. */
#include "collect/runtime/runtime.h"
#include "collect/runtime/watch.h"

static bool has_stopped;

void rt_watch_stop(enum loci_control_stop why)
{
	struct loci_control_watching *shared = &rt.control->watching;
	uint32_t none = LOCI_STOP_NONE;

	if (__atomic_exchange_n(&has_stopped, true, __ATOMIC_RELAXED))
		return;
	__atomic_fetch_add(&shared->n_stopped, 1, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(
		    &shared->stop, &none, (uint32_t)why, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_store_n(&shared->stop_ns, rt_now_ns(), __ATOMIC_RELAXED);
}

bool rt_watch_has_stopped(void)
{
	return __atomic_load_n(&has_stopped, __ATOMIC_RELAXED);
}

void rt_watch_stop_forget(void)
{
	__atomic_store_n(&has_stopped, false, __ATOMIC_RELAXED);
}
