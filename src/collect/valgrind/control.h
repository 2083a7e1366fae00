/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether references are recorded now: the recorder says so in a file that both have mapped, and
 * functions may be left out by name. Entries and heap events are told always. */
#ifndef LOCI_COLLECT_VALGRIND_CONTROL_H
#define LOCI_COLLECT_VALGRIND_CONTROL_H

#include "collect/valgrind/core.h"

void control_init(void);
/* The program is about to run its first instruction. */
void control_begin(void);
/* Does what the recorder says and drops translations that are out of date; not while generated
 * code runs. */
void control_obey(void);
/* Begins the windows of a new stream. */
void control_tell(void);
/* Whether the references of code at that address are to be recorded. */
Bool control_wants(Addr code);
/* Have the code at that address translated anew. */
void control_retranslate(Addr code);

#endif
