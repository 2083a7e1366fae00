/* SPDX-License-Identifier: BSD-2-Clause */
/* A level of a thread: the thread itself, or a handler that interrupted the level below. A level
 * has a ring of its own, made when it is first needed, and a state of no room, which is current
 * until then and whenever no words are wanted. */
#ifndef LOCI_COLLECT_RUNTIME_LEVEL_H
#define LOCI_COLLECT_RUNTIME_LEVEL_H

#include "collect/runtime/runtime.h"

extern uint64_t rt_sink[LOCI_CC_ROOM_WORDS];

void rt_level_reset(struct rt_level *level);
/* Makes it current, with what room it has. */
void rt_level_resume(struct rt_thread *thread, struct rt_level *level);
/* The same, with room, if words are wanted and can be had. Signals blocked. */
bool rt_level_make_room(struct rt_thread *thread, struct rt_level *level);
/* Room for so many words of markers, none of which waits then. False: they would go nowhere. */
bool rt_level_reserve(struct rt_thread *thread, unsigned n_words);
/* The handler was left. Signals blocked until the level is no longer current. */
void rt_level_leave(struct rt_level *level);
/* All has been said; lock held, as for forgetting. */
void rt_level_close(struct rt_level *level);
/* In a child: the ring is the parent's. */
void rt_level_forget(struct rt_level *level);

#endif
