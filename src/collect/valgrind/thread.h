/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads, and whose words follow. Valgrind gives the number of a thread that has ended to the
 * next one; the stream's ids count all threads of the process from 1 in the order of their
 * creation. */
#ifndef LOCI_COLLECT_VALGRIND_THREAD_H
#define LOCI_COLLECT_VALGRIND_THREAD_H

#include "collect/valgrind/core.h"

void thread_init(void); /* registers its callbacks */

/* What follows belongs to the thread. */
void thread_is_current(ThreadId tid);
/* It enters or leaves the kernel. */
void thread_calls(ThreadId tid, Bool begins);
/* The thread that ran last. */
ThreadId thread_latest(void);
/* The stream's id of the thread whose thread control block is at that address, which is what
 * pthread_t is; 0 if there is none. */
UInt thread_of_pthread(Addr pthread);
/* Tells a child's stream about the thread that is left. */
void thread_tell(void);

uint64_t thread_time_ns(void);

#endif
