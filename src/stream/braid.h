/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several rings of one process as one stream: what holds for the whole process, and the words of
 * each thread, told apart by SWITCH.
 *
 * Two things are kept in order. What the process's ring says (definitions, modules) stands before
 * whatever any thread wrote after it was said. And markers that carry a sequence number of the
 * process (allocations, mappings, threads) stand in its order; a thread whose next marker is not
 * due waits, the others go on, and its ring is emptied into memory meanwhile, lest the program
 * waits for a thread that waits for it. Otherwise the threads take turns by chunks: it is not the
 * order in which they ran. */
#ifndef LOCI_STREAM_BRAID_H
#define LOCI_STREAM_BRAID_H

#include "stream/ring.h"

/* Takes the process's ring over. Threads are added by any thread of the reader while the source is
 * read; the thread id is what SWITCH says, and several rings may have the same (a signal handler's
 * beside its thread's). The source ends when the process's ring and all others have ended. */
int loci_braid_new_take(
	struct loci_source *process, struct loci_source **ret, struct loci_err *err);
int loci_braid_add_take(struct loci_source *braid, struct loci_source *ring, uint32_t thread,
	struct loci_err *err);

#endif
