/* SPDX-License-Identifier: BSD-2-Clause */
/* Synchronisation, as the stream tells of it (LOCI_MARK_SYNC). An object is a stripe: addresses are
 * hashed to a fixed number of them, so that nothing is allocated and nothing grows. What shares a
 * stripe is ordered as it happened, which is an order that it may have.
 *
 * A number is taken by who writes it, at once: signals wait meanwhile (deferring.c), so no handler
 * stands between the two, and there is room in the ring before, so nobody waits with a number in
 * hand. What an operation makes seen is told before it (RELEASE and its like), what it has seen
 * after (ACQUIRE):
 *
 *	struct rt_thread *thread = rt_sync_thread();
 *
 *	if (thread)
 *		rt_sync(thread, rt_stripe(mutex), LOCI_SYNC_RELEASE);
 *
 * One that is to be a single step with its number goes between rt_sync_begin, which gives the room
 * and has signals wait, and rt_sync_end; within, nothing waits for the recorder. */
#ifndef LOCI_COLLECT_RUNTIME_SYNC_H
#define LOCI_COLLECT_RUNTIME_SYNC_H

#include "collect/runtime/deferring.h"
#include "collect/runtime/runtime.h"

#define RT_STRIPES       4096u        /* a power of two */
#define RT_STRIPE_OBJECT (1ull << 32) /* object of stripe 0; below are threads, by their ids */

struct rt_stripe {
	_Alignas(64) uint64_t number; /* of its last SYNC in this process */
	uint64_t clock;               /* of the last that arrived at a barrier (turns.h) */
	uint32_t lock; /* for who needs an operation and its number to be one; sync.c leaves it
			 alone, but that it is free in a child */
};
extern struct rt_stripe rt_stripes[RT_STRIPES] __attribute__((visibility("hidden")));

/* Words are wanted, and there are threads to be ordered. Before, nothing is told: what a thread did
 * before it made another comes before that one anyway. */
extern uint32_t rt_synced __attribute__((visibility("hidden")));
static inline bool rt_is_synced(void)
{
	return __atomic_load_n(&rt_synced, __ATOMIC_RELAXED) != 0;
}

/* Accesses of up to 16 bytes that overlap, aligned, have the same. */
static inline struct rt_stripe *rt_stripe(const volatile void *object)
{
	uint64_t hash = ((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u;

	return &rt_stripes[hash >> 52 & (RT_STRIPES - 1)];
}

/* This thread, if it has to tell; errno is kept. */
struct rt_thread *rt_sync_thread_now(void);
static inline struct rt_thread *rt_sync_thread(void)
{
	if (__builtin_expect(!rt_is_synced(), 1))
		return NULL;
	return rt_sync_thread_now();
}

/* The same of who comes from the program: the locks by which an OpenMP library waits are its own.
 */
static inline struct rt_thread *rt_sync_caller(void)
{
	struct rt_thread *thread = rt_sync_thread();

	return thread && thread->omp_is_idle && !thread->depth ? NULL : thread;
}

/* Room for so many SYNCs; signals wait from here to rt_sync_end. False: there is none, nothing is
 * to be told, and signals do not wait. */
bool rt_sync_begin(struct rt_thread *thread, unsigned n);
/* Takes the stripe's next number and writes it. */
void rt_sync_put(struct rt_thread *thread, struct rt_stripe *stripe, enum loci_sync kind);
static inline void rt_sync_end(struct rt_thread *thread)
{
	rt_undefer(thread);
}

/* All of that. errno is kept. */
void rt_sync(struct rt_thread *thread, struct rt_stripe *stripe, enum loci_sync kind);

/* Of another thread, or this one: CREATE is its first, BEGIN its second. Once each. */
void rt_sync_create(struct rt_thread *thread, struct rt_thread *child);
void rt_sync_began(struct rt_thread *thread);
/* It ends, and with it what it holds of locks whose owner may die. */
void rt_sync_finish(struct rt_thread *thread);
void rt_sync_inherit(struct rt_thread *thread); /* the lock's owner has ended */

/* Around what may wait: the recorder has all that was written, and does not wait for more. A
 * handler may jump out of it. */
void rt_sync_blocked(struct rt_thread *thread);
void rt_sync_parked(struct rt_thread *thread); /* by turns.h: others are not told */
void rt_sync_running(struct rt_thread *thread);
/* locks.c, in turn: gives the mutex back and is parked elsewhere. Not 0: it is not, as that says.
 */
int rt_mutex_wait_at(struct rt_thread *thread, pthread_mutex_t *mutex, const void *at);
/* The time, for who orders by it. */
void rt_sync_time(struct rt_thread *thread);

void rt_sync_go(void);     /* there is another thread */
void rt_sync_forget(void); /* in a child */

#endif
