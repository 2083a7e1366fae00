/* SPDX-License-Identifier: BSD-2-Clause */
/* How often a thread samples: so often that what this takes is a given share of its processor time,
 * or once in a fixed number of references. */
#ifndef LOCI_COLLECT_RUNTIME_WATCH_PACE_H
#define LOCI_COLLECT_RUNTIME_WATCH_PACE_H

#include <stdint.h>

/* Of late: each sum is halved now and then. */
struct rt_pace {
	uint64_t period;
	uint64_t samples, refs, ns, spent_ns; /* of the thread; of its samples and traps */
	uint64_t refs_before, ns_before;      /* when its last gap was drawn */
	uint64_t begun_ns, begun_refs;        /* the burst */
};

struct rt_thread;

void rt_pace_begin(struct rt_thread *thread);
/* Around a burst. */
void rt_pace_burst(struct rt_thread *thread);
void rt_pace_burst_over(struct rt_thread *thread);
void rt_pace_trap(struct rt_thread *thread, uint64_t ns); /* in its handler */
uint64_t rt_pace_period(struct rt_thread *thread);        /* for the gap that is drawn now */

#endif
