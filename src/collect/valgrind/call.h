/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of functions with a meaning: the heap's and those that synchronise threads. They are known
 * by name, wherever they are defined, and left as they are: the program's own allocator runs and
 * every address stays that of the program.
 *
 * At a watched function's entry its arguments are noted; a return that leaves the stack pointer
 * where it was at the entry is that call's. Calls from inside an allocator (realloc's malloc, new's
 * malloc) are part of the outermost one. A call that was left by longjmp or by an exception is
 * dropped when the stack pointer has passed it. */
#ifndef LOCI_COLLECT_VALGRIND_CALL_H
#define LOCI_COLLECT_VALGRIND_CALL_H

#include "collect/valgrind/core.h"

struct call_kind;

/* NULL: not watched. */
const struct call_kind *call_kind_of(const HChar *function);
/* Called by generated code at the entry of a watched function, with the guest state's address. */
void call_enter(void *guest_state, const struct call_kind *kind);
/* Called by generated code after a return while calls are pending. */
void call_return(void *guest_state);
/* The thread's pending calls are void. */
void call_forget(ThreadId tid);

#endif
