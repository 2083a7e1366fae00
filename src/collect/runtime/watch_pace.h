/* SPDX-License-Identifier: BSD-2-Clause */
/* How often a thread samples: so often that what this takes is a given share of its time, or once
 * in a fixed number of references. */
#ifndef LOCI_COLLECT_RUNTIME_WATCH_PACE_H
#define LOCI_COLLECT_RUNTIME_WATCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct rt_pace {
	uint64_t period;
	/* Of late, for sums are halved now and then: */
	uint64_t samples, spent_ns;        /* for these and their traps */
	uint64_t counted_refs, counted_ns; /* in counting copies */
	/* Where it is: in a counting copy since then, in a burst, .. */
	uint64_t since_ns, since_refs;
	bool is_counting;
	/* .. or in a tracing copy that it cannot leave yet. */
	uint64_t tail_ns, tail_refs; /* when that began; 0: it is not */
	uint64_t seen_ns, seen_refs; /* when it was last looked at */
};

struct rt_thread;

void rt_pace_begin(struct rt_thread *thread);
/* Around a burst. */
void rt_pace_burst(struct rt_thread *thread);
void rt_pace_burst_over(struct rt_thread *thread);
/* It comes without a sample from a tracing copy; or it may come from a counting one. */
void rt_pace_rest(struct rt_thread *thread, bool is_tracing);
void rt_pace_trap(struct rt_thread *thread, uint64_t ns); /* in its handler */
uint64_t rt_pace_period(struct rt_thread *thread);        /* for the gap that is drawn now */

#endif
