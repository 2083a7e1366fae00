/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fault in the middle of a superblock: generated code had written the words of the references
 * before it, but not committed them. */
#ifndef LOCI_COLLECT_VALGRIND_FAULT_H
#define LOCI_COLLECT_VALGRIND_FAULT_H

#include "collect/valgrind/core.h"

/* Commits the references of the instructions before the one the thread stands at, if it stands in
 * the middle of a superblock. Those of the instruction itself are not counted: where a handler
 * repairs the cause, it is executed again. */
void fault_commit(ThreadId tid);

#endif
