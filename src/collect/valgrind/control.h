/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether references are recorded now: there may be a time for it, a signal that turns it on and
 * off, and functions that are left out. Entries and heap events are told always.
 *
 * The signal is blocked for the program, so that it stays pending until the tool takes it. A
 * program that unblocks it gets it. */
#ifndef LOCI_COLLECT_VALGRIND_CONTROL_H
#define LOCI_COLLECT_VALGRIND_CONTROL_H

#include "collect/valgrind/core.h"

void control_init(void);
/* Looks at the clock and for the signal, and drops translations that are out of date; not while
 * generated code runs. */
void control_obey(void);
/* Begins the windows of a new stream. */
void control_tell(void);
/* Whether the references of code at that address are to be recorded. */
Bool control_wants(Addr code);
/* Have the code at that address translated anew. */
void control_retranslate(Addr code);

#endif
