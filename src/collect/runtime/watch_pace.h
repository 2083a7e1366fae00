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
	uint64_t samples, spent_ns; /* for these, their looks and traps */
	uint64_t led_ns;            /* for what does not depend on them, and far reuses */
	uint64_t own_ns, refs;      /* the thread's own time, and what it did in that */
	uint64_t last_ns, last_refs;
	uint64_t burst_ns;         /* when its burst began: of its own time */
	uint64_t begun_ns;         /* of its own time, when it began */
	uint64_t far_ns, far_refs; /* following samples to far reuses, since then, all of it */
	uint64_t past_ns;          /* what spent_ns was halved by */
	/* When it was last seen. */
	uint64_t since_ns, since_refs;
	uint64_t traps_ns; /* in handlers since then */
};

/* What the kernel takes for a trap before and after its handler. */
struct rt_pace_kernel {
	uint64_t before_ns, after_ns;
};
extern struct rt_pace_kernel rt_pace_kernel;
void rt_pace_set_kernel(const struct rt_pace_kernel *kernel); /* while others look */

struct rt_thread;

void rt_pace_begin(struct rt_thread *thread);
/* Around a burst. */
void rt_pace_burst(struct rt_thread *thread);
void rt_pace_burst_over(struct rt_thread *thread, uint64_t far_refs); /* see watch_far.h */
/* Whether time allows to follow a sample for so many references. */
bool rt_pace_may_follow(const struct rt_thread *thread, uint64_t refs);
/* It comes without a sample. words: that it has appended since it was seen, to nobody. */
void rt_pace_rest(struct rt_thread *thread, uint64_t words);
void rt_pace_parts(struct rt_thread *thread, uint64_t ns); /* taken as samples: watch_bulk.h */
void rt_pace_trap(struct rt_thread *thread, uint64_t ns);  /* in its handler */
/* The thread's time since it was last seen, without its traps; and until a trap whose handler began
 * then. */
uint64_t rt_pace_since(const struct rt_thread *thread);
uint64_t rt_pace_until(const struct rt_thread *thread, uint64_t ns);
uint64_t rt_pace_period(struct rt_thread *thread); /* for the gap that is drawn now */

#endif
