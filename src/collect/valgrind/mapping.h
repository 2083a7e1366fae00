/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address space: what is mapped where, as MAP and UNMAP. Besides files, the stack of the
 * process and its heap (brk) have names, as /proc has them. A MAP replaces what was there. */
#ifndef LOCI_COLLECT_VALGRIND_MAPPING_H
#define LOCI_COLLECT_VALGRIND_MAPPING_H

#include "collect/valgrind/core.h"

void mapping_init(void); /* registers its callbacks */
/* Tells a new stream of all there is. */
void mapping_tell_all(void);
/* The next number in the order of events of the process. */
uint64_t mapping_sequence(void);
void mapping_begin(void); /* a new stream: from 1 again */
/* The system call instruction that the thread has just executed; 0 without a thread. */
Addr mapping_syscall_site(ThreadId tid);
/* Starts of the segments that the program has, and how many; good until the next call. */
const Addr *mapping_segments(Int *ret_n);

#endif
