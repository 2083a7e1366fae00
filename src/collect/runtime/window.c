// SPDX-License-Identifier: BSD-2-Clause
/* Windows: the recorder starts and stops recording while the program runs. A thread looks when it
 * comes for room and, while it only counts, every so many references. Handlers do as the thread
 * does. */
#include "collect/runtime/runtime.h"

void rt_window_look(struct rt_thread *thread)
{
	uint64_t raw[1];
	bool wanted;

	if (rt_mode() != RT_TRACE || !rt.control->windows || thread->depth)
		return;
	wanted = rt.samples ? rt_sample_is_wanted(thread)
			    : __atomic_load_n(&rt.control->recording, __ATOMIC_RELAXED) != 0;
	if (wanted != thread->recording) {
		raw[0] = rt_thread_count(thread);
		rt_mark(thread, wanted ? LOCI_MARK_WINDOW_BEGIN : LOCI_MARK_WINDOW_END, 0, 1, raw);
		if (rt.samples && wanted)
			rt_sample_join(thread);
		rt_thread_set_recording(thread, wanted);
		if (rt.samples && !wanted)
			rt_push(thread); /* lest others' words wait for its own */
	}
	if (rt.samples && wanted)
		rt_sample_open(thread);
}

bool rt_window_is_shut(const struct rt_thread *thread)
{
	return rt_mode() == RT_TRACE && rt.control->windows && !rt.samples && !thread->depth &&
		!thread->recording && __loci_thread.budget < 0 &&
		!__atomic_load_n(&rt.control->recording, __ATOMIC_RELAXED);
}

int64_t rt_window_budget(const struct rt_thread *thread)
{
	if (rt_mode() != RT_TRACE || !rt.control->windows || thread->depth)
		return RT_ENDLESS;
	return rt.samples ? rt_sample_budget(thread) : RT_LOOK_REFS;
}
