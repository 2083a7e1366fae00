/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has one of the process's few watches (watch.h, reservoir.h), and what is told of samples: in
 * the process's ring, in the order of the lotteries. With the lock held and signals blocked, unless
 * it says otherwise. */
#ifndef LOCI_COLLECT_RUNTIME_WATCH_LOTTERY_H
#define LOCI_COLLECT_RUNTIME_WATCH_LOTTERY_H

#include "collect/runtime/burst.h"
#include "collect/runtime/runtime.h"

/* In a thread that begins. True: it is the first of its process. */
bool rt_lottery_begin(void);
void rt_lottery_thread_end(const struct rt_thread *thread);
void rt_lottery_end(void);

/* A sample whose reuse was seen, among words that lack so many references; and one whose reuse has
 * not come for so long that it may be watched. */
void rt_lottery_reused(
	const struct rt_thread *thread, const struct rt_burst_sample *sample, uint64_t unseen);
void rt_lottery_enter(struct rt_thread *thread, const struct rt_burst_sample *sample);

/* Samples whose watches have met their block are told of when their thread comes again, which tells
 * when that was. Has any? Without the lock. */
bool rt_lottery_has_met(void);
void rt_lottery_look_back(struct rt_thread *thread, bool is_exact);
void rt_lottery_tell_met(void); /* of all threads, as far as it is known */
/* After how many references a thread is to come because its samples are watched. Without the lock.
 */
uint64_t rt_lottery_look_refs(const struct rt_thread *thread, uint64_t count);

/* Once, what the kernel takes for a trap (rt_pace_kernel). Without the lock, signals not blocked.
 */
void rt_lottery_measure(void);

#endif
