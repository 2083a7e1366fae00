/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples that are watched until their reuse (RDX, Wang et al. 2019). A thread counts until a
 * margin before the reference that is its next sample, follows the references around it (burst.h),
 * and if its reuse is not among them the sample enters a lottery for the process's few watches
 * (reservoir.h, watch.h). All that is told of samples stands in the process's ring, in the order of
 * the lotteries; sampling.c is the other way, where the recorder has all words instead. */
#ifndef LOCI_COLLECT_RUNTIME_WATCHING_H
#define LOCI_COLLECT_RUNTIME_WATCHING_H

#include "collect/runtime/burst.h"
#include "collect/runtime/gap.h"
#include "collect/runtime/runtime.h"

/* In the thread itself, signals blocked, lock not held: it counts from zero; it ends. */
void rt_watch_thread_begin(struct rt_thread *thread);
void rt_watch_thread_end(struct rt_thread *thread);
/* Comes from code that has no room, on no handler's level; the frame pointer of rt_room. */
void rt_watch_room(struct rt_thread *thread, uintptr_t frame);
/* A reference that the program tells of, and that is counted already. */
void rt_watch_told(struct rt_thread *thread, const struct rt_burst_ref *ref);
/* Nothing more is told; lock held. */
void rt_watch_end(void);
/* Around the unloading of code: what was appended by it is not read any more. */
void rt_watch_unloading(bool begins);

/* Of burst.c. */
void rt_watch_draw(struct rt_thread *thread); /* the next sample */
void rt_watch_lose(unsigned n);               /* samples of which nothing will be known */

#endif
