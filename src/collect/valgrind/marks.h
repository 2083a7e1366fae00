/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program marks (loci/mark.h), which are client requests of this tool. Their words stand
 * in registers, so that a mark makes no references. */
#ifndef LOCI_COLLECT_VALGRIND_MARKS_H
#define LOCI_COLLECT_VALGRIND_MARKS_H

#include "collect/valgrind/core.h"

void marks_init(void);
/* The thread begins, under a number that another may have had. */
void marks_begin(ThreadId tid);
/* It asks the kernel to end it. */
void marks_leave(ThreadId tid);
/* Tells a new stream of all that holds. */
void marks_tell_all(ThreadId tid);

#endif
