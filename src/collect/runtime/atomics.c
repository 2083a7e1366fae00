// SPDX-License-Identifier: BSD-2-Clause
/* A program's own atomic operations, while words are wanted: each is one step with its numbers, by
 * a lock of its stripe. What it reads is told after an ACQUIRE and what it writes before a RELEASE,
 * so that of two operations on the same memory the words, too, stand in the order in which they
 * were made. Operations in code that is not instrumented, and those that are only counted, have no
 * numbers. */
#include "collect/runtime/atomics.h"
#include "collect/runtime/sync.h"
#include "collect/runtime/turns.h"
#include "stream/ring_x86_64.h"

#define WAITED_FOR (1u << 31) /* of a lock; the rest is the id of the thread that has it */
#define SPINS      64
#define WAIT_NS    1000000000u

static bool try(uint32_t *lock, uint32_t mine, uint32_t *ret_was)
{
	*ret_was = 0;
	return __atomic_compare_exchange_n(
		lock, ret_was, mine, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* False: it is this thread's already, and the operation that it interrupts has its numbers. */
static bool lock(struct rt_stripe *stripe, uint32_t id)
{
	uint32_t mine = id, was;

	for (unsigned i = 0; !try(&stripe->lock, mine, &was); i++) {
		if ((was & ~WAITED_FOR) == id)
			return false;
		if (i < SPINS) {
			__builtin_ia32_pause();
			continue;
		}
		mine = id | WAITED_FOR;
		if (was & WAITED_FOR ||
			__atomic_compare_exchange_n(&stripe->lock, &was, was | WAITED_FOR, 0,
				__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			loci_futex_wait(&stripe->lock, was | WAITED_FOR, WAIT_NS);
	}
	return true;
}

static void unlock(struct rt_stripe *stripe)
{
	if (__atomic_exchange_n(&stripe->lock, 0, __ATOMIC_RELEASE) & WAITED_FOR)
		loci_futex_wake(&stripe->lock);
}

/* The words are written at once, and there is room. */
static uint64_t *put_number(uint64_t *at, struct rt_stripe *stripe, enum loci_sync kind)
{
	at[0] = loci_mark_word(LOCI_MARK_SYNC, 2, kind);
	at[1] = RT_STRIPE_OBJECT + (uint64_t)(stripe - rt_stripes);
	at[2] = __atomic_add_fetch(&stripe->number, 1, __ATOMIC_SEQ_CST);
	return at + 3;
}

static uint64_t *put_numbered(
	uint64_t *at, uint64_t address, enum loci_cc_atomic kind, struct rt_stripe *stripe)
{
	if (kind != LOCI_CC_ATOMIC_STORE)
		at = put_number(at, stripe, LOCI_SYNC_ACQUIRE);
	*at++ = address;
	if (kind == LOCI_CC_ATOMIC_MODIFY)
		*at++ = address;
	if (kind != LOCI_CC_ATOMIC_LOAD)
		at = put_number(at, stripe, LOCI_SYNC_RELEASE);
	return at;
}

uint64_t *rt_atomic_begin(uint64_t *at, uint64_t address, uint64_t kind)
{
	struct loci_cc_state *state = __loci_thread.state;
	struct rt_thread *thread = rt_sync_thread();
	struct rt_stripe *stripe;

	/* Where there is never room, words go nowhere, and must have no numbers. */
	if (!thread || !state->limit) {
		*at++ = address;
		if (kind == LOCI_CC_ATOMIC_MODIFY)
			*at++ = address;
		state->cursor = at;
		return at;
	}
	rt_turn_take(thread);
	stripe = rt_stripe((const void *)address);
	rt_defer(thread);
	thread->held = lock(stripe, thread->id) ? stripe : NULL;
	thread->is_atomic = true;
	at = put_numbered(at, address, (enum loci_cc_atomic)kind, stripe);
	state->cursor = at;
	return at;
}

void rt_atomic_end(void)
{
	struct rt_thread *thread = rt_self;

	if (thread && rt_atomic_let_go(thread))
		rt_undefer(thread);
}

unsigned rt_atomic_let_go(struct rt_thread *thread)
{
	struct rt_stripe *stripe = thread->held;

	if (!thread->is_atomic)
		return 0;
	thread->is_atomic = false;
	thread->held = NULL;
	if (stripe)
		unlock(stripe);
	return 1;
}
