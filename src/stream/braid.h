/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several rings of one process as one stream: what holds for the whole process, and the words of
 * each thread, told apart by SWITCH. What the process's ring says is under SWITCH 0, which is no
 * thread.
 *
 * Two things are kept in order. What the process's ring says (definitions, modules) stands before
 * whatever any thread wrote after it was said. And markers that carry a sequence number of the
 * process (allocations, mappings, threads) stand in its order; a thread whose next marker is not
 * due waits, the others go on, and its ring is emptied into memory meanwhile, lest the program
 * waits for a thread that waits for it. A number that does not come, because its thread was killed,
 * is waited for as long as it may come, but no more than a second. Otherwise the threads take turns
 * by chunks: it is not the order in which they ran.
 *
 * A signal handler's words have a ring of their own, which begins with SWITCH: the thread they
 * belong to. SIGNAL_ENTER there tells (raw word 0) before which word of what it interrupts it
 * stands: the thread's ring, or that of the handler with the next lower number. So what the reader
 * gets of a thread is in the order it ran. */
#ifndef LOCI_STREAM_BRAID_H
#define LOCI_STREAM_BRAID_H

#include "stream/ring.h"

/* Asked by the reading thread before it gives words, and when all rings have ended: adds those that
 * are there and were not added. Returns how many, 0: these were all, or -errno. */
typedef int loci_braid_more(void *data, struct loci_source *braid, struct loci_err *err);

/* Takes the process's ring over. Threads are added by any thread of the reader while the source is
 * read; the thread id, which is the ring's number, is what SWITCH says. The source ends when the
 * process's ring and all others have ended; more may be NULL. */
int loci_braid_new_take(struct loci_source *process, loci_braid_more *more, void *data,
	struct loci_source **ret, struct loci_err *err);
int loci_braid_add_take(
	struct loci_source *braid, struct loci_source *ring, uint32_t thread, struct loci_err *err);

/* As of a ring: the process writes no more, or what it has written is enough. From any thread. */
void loci_braid_stop(struct loci_source *braid);
void loci_braid_cut(struct loci_source *braid);

/* Whether the last that a thread did was to become another program (EXEC), once all was read. */
bool loci_braid_became_another(const struct loci_source *braid);

/* Words that are kept in memory, for tests. */
size_t loci_braid_kept_words(const struct loci_source *braid);

#endif
