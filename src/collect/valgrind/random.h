/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sixteen random bytes that the kernel gives every program (AT_RANDOM): the C library takes its
 * stack canary and pointer guard from them, the dynamic linker and others seed their tables. A
 * program that is recorded gets the same ones every time, so that two runs are the same run. */
#ifndef LOCI_COLLECT_VALGRIND_RANDOM_H
#define LOCI_COLLECT_VALGRIND_RANDOM_H

#include "collect/valgrind/core.h"

/* Before the first instruction: stack is the stack pointer that the program begins with. */
void random_fix(Addr stack);

#endif
