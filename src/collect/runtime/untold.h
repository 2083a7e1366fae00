/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocations that the recorder has not been told of. Where samples are watched only the memory
 * that they meet is asked for, and most of what a program allocates it frees soon: that is told by
 * numbers alone. An allocation is told when a sample falls on it, when it is resized, when another
 * takes its place here, and at the end; from then on its free is told, too.
 *
 * Nobody waits here: a trap may come between any two instructions, also because the runtime's own
 * stack is where a block is watched. A slot that is busy has no block that the program knows of, or
 * one that has its sequence number: a number is taken before the block can be missed.
 *
 * Of blocks that lie in others which were allocated by the same functions the inner may be told
 * first, and then is taken to have ended. No allocator is known to do that. */
#ifndef LOCI_COLLECT_RUNTIME_UNTOLD_H
#define LOCI_COLLECT_RUNTIME_UNTOLD_H

#include "collect/runtime/runtime.h"

/* In the thread itself, signals put off: it is told now, or later, or not at all. */
void rt_untold_keep(struct rt_thread *thread, uintptr_t memory, size_t bytes, uint64_t site);
/* True: nobody has been told of it, or will be. */
bool rt_untold_drop(struct rt_thread *thread, uintptr_t memory);
/* What begins there is told now, if it has not been. */
void rt_untold_say(struct rt_thread *thread, uintptr_t memory);

/* Lock held. What is around an address that a sample has met; everything. */
void rt_untold_met(uintptr_t address);
void rt_untold_say_all(void);
/* How often something came and went; in the thread itself, or at the end of the process. */
void rt_untold_say_gone(struct rt_thread *thread);

void rt_untold_forget(void); /* in a child */

#endif
