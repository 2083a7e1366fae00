/* SPDX-License-Identifier: BSD-2-Clause */
/* Who comes first where threads meet, by what they have done and not by when they ran, while all
 * references are recorded: deterministic multithreading after Kendo (Olszewski, Ansel and
 * Amarasinghe 2009). A thread's clock is its references. Before it takes or gives back a lock,
 * waits, wakes, makes a thread or an atomic operation it waits for its turn: until every other
 * thread that runs is further, counting in steps of loci_control.turn references, those within one
 * step in the order in which they were made. Who has to wait for another is parked meanwhile, and
 * its clock is that of who wakes it. So of a program without data races two runs are the same.
 *
 * A thread that waits for something not known here is not waited for, and one that makes no
 * progress only so long: the order is then as it happens. Nothing waits forever. */
#ifndef LOCI_COLLECT_RUNTIME_TURNS_H
#define LOCI_COLLECT_RUNTIME_TURNS_H

#include "collect/runtime/runtime.h"

/* A thread is made, by another or by chance (NULL); has begun, in itself; ends. */
void rt_turn_made(struct rt_thread *parent, struct rt_thread *child);
void rt_turn_begin(struct rt_thread *thread);
void rt_turn_end(struct rt_thread *thread);
/* It has come to the runtime: it makes progress. */
void rt_turn_come(struct rt_thread *thread);

/* Waits for the turn, and has it until the thread goes on. False: none are taken here. Signals not
 * blocked. */
bool rt_turn_take_now(struct rt_thread *thread);
static inline bool rt_turn_take(struct rt_thread *thread)
{
	return rt.turn_shift && !thread->depth && rt_turn_take_now(thread);
}

/* It has nothing to do before the others have done something: its step is over. */
void rt_turn_yield(struct rt_thread *thread);

/* Waits for something unknown from here on, and no longer. */
void rt_turn_leave(struct rt_thread *thread);
void rt_turn_enter(struct rt_thread *thread);

/* Who has the turn is parked until it is woken there; until then it is not waited for. */
void rt_turn_park(struct rt_thread *thread, const volatile void *at);
/* The same as a step with waking one that is parked at what this thread has given back. */
void rt_turn_park_for_another(
	struct rt_thread *thread, const volatile void *at, const volatile void *given);
/* Waits for that so long: false, it is still parked, and may look for itself, and go on without. */
bool rt_turn_is_woken(struct rt_thread *thread, uint32_t ns);
void rt_turn_unpark(struct rt_thread *thread);
/* What a wait that is left to the library gives back meanwhile; NULL: over. */
void rt_turn_gives(struct rt_thread *thread, const volatile void *at);
/* It may have been given back in that way, or nobody is in who could. */
bool rt_turn_is_given(const struct rt_thread *thread, const volatile void *at);
/* Those that were parked there first, by this thread or one that is not known (NULL). */
#define RT_TURN_ALL UINT32_MAX
void rt_turn_wake(struct rt_thread *thread, const volatile void *at, uint32_t n);
/* The same where many wait for many: a clock that is at least that of everyone who came there. Who
 * finds that the wait is over wakes all. */
void rt_turn_reach(const struct rt_thread *thread, uint64_t *clock);
void rt_turn_park_for(struct rt_thread *thread, const volatile void *at, uint64_t *clock);
void rt_turn_wake_at(struct rt_thread *thread, const volatile void *at, const uint64_t *clock);

/* Its clock, and another one for it. */
uint64_t rt_turn_clock(const struct rt_thread *thread);
void rt_turn_set(struct rt_thread *thread, uint64_t clock);
/* teams.c: waits for those that have yet to begin a region. */
void rt_team_gather(struct rt_thread *thread);

/* Around what the runtime itself waits for. */
static inline void rt_turn_waits(struct rt_thread *thread, bool waits)
{
	__atomic_store_n(&thread->turn.waits, waits, __ATOMIC_RELAXED);
}

#endif
