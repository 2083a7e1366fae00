/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process: its stream's beginning and end, fork, exec, and the memory that system calls touch
 * on its behalf. */
#ifndef LOCI_COLLECT_VALGRIND_PROCESS_H
#define LOCI_COLLECT_VALGRIND_PROCESS_H

#include "collect/valgrind/core.h"

void process_init(void); /* registers its callbacks */
void process_begin(void);
void process_end(void);

#endif
