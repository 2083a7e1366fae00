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
	uint64_t samples, spent_ns; /* for these and their traps */
	/* What a reference takes when nothing else has the processor, in 2^-10 ns; 0: not known. */
	uint64_t counting, tracing;
	/* When it was last seen, and whether it went on in a counting copy then. */
	uint64_t since_ns, since_refs;
	uint64_t traps_ns; /* in handlers since then */
	bool is_counting;
	uint64_t burst_ns, burst_refs; /* when its burst began: of its own time */
};

struct rt_thread;

void rt_pace_begin(struct rt_thread *thread);
/* Around a burst. */
void rt_pace_burst(struct rt_thread *thread);
void rt_pace_burst_over(struct rt_thread *thread);
/* It comes without a sample from a tracing copy; or it may come from a counting one. words: that it
 * has appended since it was seen, to nobody. */
void rt_pace_rest(struct rt_thread *thread, bool is_tracing, uint64_t words);
void rt_pace_trap(struct rt_thread *thread, uint64_t ns); /* in its handler */
/* The thread's time since it was last seen, without its traps; and until a trap whose handler began
 * then. */
uint64_t rt_pace_since(const struct rt_thread *thread);
uint64_t rt_pace_until(const struct rt_thread *thread, uint64_t ns);
uint64_t rt_pace_period(struct rt_thread *thread); /* for the gap that is drawn now */

#endif
