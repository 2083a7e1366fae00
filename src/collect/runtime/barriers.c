// SPDX-License-Identifier: BSD-2-Clause
/* Barriers. A thread that is late to leave one is not to stand behind those that have arrived there
 * again meanwhile: so rounds are told at two objects in turn. None arrives for the round after the
 * next before all have left this one. Which round it is follows from how many have arrived, and how
 * many a round takes. */
#include "collect/runtime/sync.h"
#include "collect/runtime/turns.h"
#include "collect/runtime/wrap.h"

#define BARRIERS 256u /* known at once; of others all rounds are told at one object */

struct known {
	const void *barrier;
	uint32_t threads; /* of a round */
	uint64_t arrived;
};
static struct known known[BARRIERS];
static const char being_made[1]; /* no barrier */
/* Two for each. */
static const char objects[2 * BARRIERS][16] __attribute__((aligned(16)));

static struct known *place_of(const void *barrier)
{
	return &known[((uintptr_t)barrier >> 4) * 0x9e3779b97f4a7c15u >> 56 & (BARRIERS - 1)];
}

static const void *arrive(const void *barrier)
{
	struct known *place = place_of(barrier);
	uint64_t round;

	if (__atomic_load_n(&place->barrier, __ATOMIC_ACQUIRE) != barrier)
		return barrier;
	round = __atomic_fetch_add(&place->arrived, 1, __ATOMIC_RELAXED) / place->threads;
	return objects[2 * (place - known) + (round & 1)];
}

struct stay {
	struct rt_thread *thread;
	const void *at;
};

/* As one leaves, by cancellation too. */
static void leave(const struct stay *stay)
{
	rt_turn_wake_at(stay->thread, stay->at, &rt_stripe(stay->at)->clock);
	rt_sync_running(stay->thread);
	rt_sync(stay->thread, rt_stripe(stay->at), LOCI_SYNC_BARRIER_LEAVE);
}

/* Who makes a barrier at an address is alone with it, and the first that takes a place keeps it. */
RT_WRAP(int, pthread_barrier_init, pthread_barrier_t *barrier, const pthread_barrierattr_t *how,
	unsigned count)
{
	struct known *place = place_of(barrier);
	const void *before = NULL;
	int shared = PTHREAD_PROCESS_PRIVATE, r;

	r = RT_REAL(pthread_barrier_init)(barrier, how, count);
	if (r != 0 || !count)
		return r;
	if (how)
		pthread_barrierattr_getpshared(how, &shared);
	if (!__atomic_compare_exchange_n(
		    &place->barrier, &before, being_made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		if (before != barrier)
			return r;
		__atomic_store_n(&place->barrier, being_made, __ATOMIC_RELEASE);
	}
	place->threads = count;
	__atomic_store_n(&place->arrived, 0, __ATOMIC_RELAXED);
	/* who arrives in other processes is not counted here */
	__atomic_store_n(&place->barrier, shared == PTHREAD_PROCESS_PRIVATE ? barrier : NULL,
		__ATOMIC_RELEASE);
	return r;
}

RT_WRAP(int, pthread_barrier_wait, pthread_barrier_t *barrier)
{
	struct rt_thread *thread = rt_sync_thread();
	const void *at;

	if (thread)
		rt_turn_take(thread);
	at = arrive(barrier);
	if (thread) {
		__attribute__((cleanup(leave), unused)) struct stay stay = { thread, at };

		rt_sync(thread, rt_stripe(at), LOCI_SYNC_BARRIER_ARRIVE);
		rt_sync_parked(thread);
		rt_turn_park_for(thread, at, &rt_stripe(at)->clock);
		return RT_REAL(pthread_barrier_wait)(barrier);
	}
	return RT_REAL(pthread_barrier_wait)(barrier);
}
