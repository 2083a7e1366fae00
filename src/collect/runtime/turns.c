// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/turns.h"
#include "collect/runtime/deferring.h"
#include "stream/ring_x86_64.h"

#define SYS_READ        0
#define SYS_SCHED_YIELD 24
#define SYS_NANOSLEEP   35
#define SYS_GETTID      186
#define SPINS           40
#define YIELDS          200
#define NAP_NS          50000
#define SLEEPS_NAPS     4     /* between two looks whether a thread sleeps .. */
#define RUNS_NAPS       16384 /* .. and so many are one that runs given, at first */
#define RUNS_NAPS_LEAST 32
#define WAITS_NAPS      32
#define IDLE_PASSES     256
#define ID_BITS         20

enum { OUT, IN, PARKED, RAISING };

static uint64_t changes; /* threads that came in so far */
static uint64_t tickets;

static uint32_t state_of(const struct rt_thread *thread)
{
	return __atomic_load_n(&thread->turn.state, __ATOMIC_ACQUIRE);
}

static uint64_t added(const struct rt_thread *thread)
{
	return __atomic_load_n(&thread->turn.added, __ATOMIC_RELAXED);
}

static uint64_t own_clock(const struct rt_thread *thread)
{
	return rt_thread_count(thread) + added(thread);
}

/* Of another. Its counter is its own memory, which goes with it: who ends waits for readers. */
static uint64_t clock_of(struct rt_thread *self, struct rt_thread *other)
{
	const struct loci_cc_thread *counter;
	uint64_t clock = 0;

	if (self)
		rt_defer(self);
	__atomic_fetch_add(&other->turn.readers, 1, __ATOMIC_SEQ_CST);
	counter = __atomic_load_n(&other->turn.counter, __ATOMIC_SEQ_CST);
	if (counter)
		clock = (uint64_t)(__atomic_load_n(&other->offset, __ATOMIC_RELAXED) -
			__atomic_load_n(&counter->budget, __ATOMIC_RELAXED));
	clock += added(other);
	__atomic_fetch_sub(&other->turn.readers, 1, __ATOMIC_SEQ_CST);
	if (self)
		rt_undefer(self);
	return clock;
}

static uint64_t key_of(const struct rt_thread *thread, uint64_t clock)
{
	return clock >> rt.turn_shift << ID_BITS |
		(__atomic_load_n(&thread->id, __ATOMIC_RELAXED) & ((1u << ID_BITS) - 1));
}

static bool is_in(const struct rt_thread *other)
{
	uint32_t state = state_of(other);

	return __atomic_load_n(&other->in_use, __ATOMIC_RELAXED) &&
		(state == IN || state == RAISING) &&
		!__atomic_load_n(&other->turn.is_lost, __ATOMIC_RELAXED);
}

static void raise_to(struct rt_thread *thread, uint64_t from, uint64_t clock)
{
	if (from < clock)
		__atomic_store_n(
			&thread->turn.added, added(thread) + (clock - from), __ATOMIC_RELAXED);
}

static void come_in(struct rt_thread *thread)
{
	__atomic_store_n(&thread->turn.is_lost, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->turn.state, IN, __ATOMIC_RELEASE);
	__atomic_fetch_add(&changes, 1, __ATOMIC_SEQ_CST);
}

/* Who comes back from somewhere is where the last of the others is. */
static void come_back(struct rt_thread *thread)
{
	uint64_t least = UINT64_MAX;

	for (struct rt_thread *other = rt_threads(); other; other = other->next)
		if (other != thread && is_in(other)) {
			uint64_t clock = clock_of(thread, other);

			least = clock < least ? clock : least;
		}
	if (least != UINT64_MAX)
		raise_to(thread, own_clock(thread), least);
	come_in(thread);
}

void rt_turn_made(struct rt_thread *parent, struct rt_thread *child)
{
	struct rt_turn *turn = &child->turn;

	__atomic_store_n(&turn->counter, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&turn->tid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&turn->at, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&turn->added, parent ? own_clock(parent) : 0, __ATOMIC_RELAXED);
	rt_turn_waits(child, false);
	turn->team = 0;
	__atomic_store_n(&turn->patience, RUNS_NAPS, __ATOMIC_RELAXED);
	__atomic_store_n(&turn->state, OUT, __ATOMIC_RELAXED);
	if (parent && rt.turn_shift)
		come_in(child);
}

void rt_turn_begin(struct rt_thread *thread)
{
	if (!rt.turn_shift)
		return;
	__atomic_store_n(
		&thread->turn.tid, (uint32_t)loci_syscall3(SYS_GETTID, 0, 0, 0), __ATOMIC_RELAXED);
	__atomic_store_n(&thread->turn.counter, &__loci_thread, __ATOMIC_SEQ_CST);
	if (state_of(thread) == OUT)
		come_back(thread);
}

void rt_turn_end(struct rt_thread *thread)
{
	if (!rt.turn_shift)
		return;
	__atomic_store_n(&thread->turn.state, OUT, __ATOMIC_SEQ_CST);
	__atomic_store_n(&thread->turn.counter, NULL, __ATOMIC_SEQ_CST);
	/* One that never goes on is one that was killed within. */
	for (unsigned i = 0; i < 10000 && __atomic_load_n(&thread->turn.readers, __ATOMIC_SEQ_CST);
		i++)
		loci_syscall3(SYS_SCHED_YIELD, 0, 0, 0);
}

void rt_turn_come(struct rt_thread *thread)
{
	if (rt.turn_shift && !thread->depth &&
		(state_of(thread) == OUT ||
			__atomic_load_n(&thread->turn.is_lost, __ATOMIC_RELAXED)))
		rt_turn_enter(thread);
}

/* As the kernel has it: it sleeps, is stopped or has ended. */
static bool sleeps(const struct rt_thread *other)
{
	uint32_t tid = __atomic_load_n(&other->turn.tid, __ATOMIC_RELAXED);
	char path[64], text[512];
	long fd, n, i;

	if (!tid || __atomic_load_n(&other->turn.waits, __ATOMIC_RELAXED))
		return false;
	rt_text(path, sizeof(path), "/proc/self/task/%u/stat", tid);
	fd = loci_syscall3(LOCI_SYS_OPEN, (long)path, 02000000, 0);
	if (fd < 0)
		return true;
	n = loci_syscall3(SYS_READ, fd, (long)text, sizeof(text));
	loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
	for (i = n - 1; i > 0 && text[i] != ')'; i--)
		;
	return (i <= 0 || i + 2 >= n || text[i + 2] != 'R') &&
		!__atomic_load_n(&other->turn.waits, __ATOMIC_RELAXED);
}

static void lose(struct rt_thread *other)
{
	__atomic_store_n(&other->turn.is_lost, 1, __ATOMIC_RELAXED);
}

/* It may wait for something that this thread has yet to do: then it is left behind. */
static bool is_lost_after(struct rt_thread *other, uint32_t naps)
{
	uint32_t patience = __atomic_load_n(&other->turn.patience, __ATOMIC_RELAXED);

	if (naps >= patience) {
		if (patience > RUNS_NAPS_LEAST)
			__atomic_store_n(&other->turn.patience, patience / 2, __ATOMIC_RELAXED);
		return true;
	}
	return naps % SLEEPS_NAPS == 0 && naps > SLEEPS_NAPS && sleeps(other);
}

/* False: for a while, and it waits itself. Whoever that waits for is among the others. */
static bool wait_for(struct rt_thread *self, struct rt_thread *other, uint64_t key)
{
	static const uint64_t nap[2] = { 0, NAP_NS };
	uint64_t seen = clock_of(self, other), now;
	uint32_t naps = 0;

	for (unsigned i = 0; is_in(other) && key_of(other, now = clock_of(self, other)) < key;
		i++) {
		if (i < SPINS) {
			__builtin_ia32_pause();
			continue;
		}
		if (rt_mode() != RT_TRACE)
			return true;
		if (i < SPINS + YIELDS) {
			loci_syscall3(SYS_SCHED_YIELD, 0, 0, 0);
			continue;
		}
		loci_syscall3(SYS_NANOSLEEP, (long)nap, 0, 0);
		naps = now == seen ? naps + 1 : 0;
		seen = now;
		if (__atomic_load_n(&other->turn.waits, __ATOMIC_RELAXED)) {
			if (naps >= WAITS_NAPS)
				return false;
		} else if (is_lost_after(other, naps)) {
			lose(other);
		}
	}
	return true;
}

/* Of all that it is the turn of. */
static bool pass(struct rt_thread *self, uint64_t key, bool give_up, bool *ret_idle)
{
	uint64_t before = __atomic_load_n(&changes, __ATOMIC_SEQ_CST), least = UINT64_MAX;
	bool waited = false;

	*ret_idle = true;
	for (struct rt_thread *other = rt_threads(); other; other = other->next) {
		uint64_t its;

		if (other == self || !is_in(other))
			continue;
		its = key_of(other, clock_of(self, other));
		least = its < least ? its : least;
		if (its >= key)
			continue;
		waited = true;
		if (wait_for(self, other, key))
			*ret_idle = false;
		else if (give_up)
			lose(other);
	}
	self->turn.until = least;
	self->turn.changes = before;
	return !waited && before == __atomic_load_n(&changes, __ATOMIC_SEQ_CST);
}

/* One pass in which nobody was waited for, and nobody came in: then all are further. What is
 * further stays so, until the least of them. */
static void wait_for_all(struct rt_thread *self, uint64_t key)
{
	unsigned idle = 0;
	bool is_idle;

	while (!pass(self, key, idle >= IDLE_PASSES, &is_idle) && rt_mode() == RT_TRACE)
		idle = is_idle ? idle + 1 : 0;
}

bool rt_turn_take_now(struct rt_thread *thread)
{
	uint64_t key;

	if (state_of(thread) != IN || __atomic_load_n(&thread->turn.is_lost, __ATOMIC_RELAXED))
		rt_turn_enter(thread);
	if (thread->turn.team) {
		rt_turn_waits(thread, true);
		rt_team_gather(thread);
		rt_turn_waits(thread, false);
	}
	key = key_of(thread, own_clock(thread));
	if (key < thread->turn.until &&
		thread->turn.changes == __atomic_load_n(&changes, __ATOMIC_RELAXED))
		return true;
	rt_turn_waits(thread, true);
	wait_for_all(thread, key);
	rt_turn_waits(thread, false);
	return rt_mode() == RT_TRACE;
}

uint64_t rt_turn_clock(const struct rt_thread *thread)
{
	return own_clock(thread);
}

void rt_turn_set(struct rt_thread *thread, uint64_t clock)
{
	if (rt.turn_shift && !thread->depth)
		__atomic_store_n(
			&thread->turn.added, clock - rt_thread_count(thread), __ATOMIC_RELAXED);
}

void rt_turn_yield(struct rt_thread *thread)
{
	uint64_t clock = own_clock(thread);

	if (rt.turn_shift && !thread->depth)
		raise_to(thread, clock, ((clock >> rt.turn_shift) + 1) << rt.turn_shift);
}

void rt_turn_leave(struct rt_thread *thread)
{
	uint32_t in = IN;

	if (rt.turn_shift && !thread->depth)
		__atomic_compare_exchange_n(
			&thread->turn.state, &in, OUT, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void rt_turn_enter(struct rt_thread *thread)
{
	if (!rt.turn_shift || thread->depth)
		return;
	rt_turn_unpark(thread);
	if (state_of(thread) != IN || __atomic_load_n(&thread->turn.is_lost, __ATOMIC_RELAXED))
		come_back(thread);
}

void rt_turn_park(struct rt_thread *thread, const volatile void *at)
{
	__atomic_store_n(&thread->turn.at, at, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->turn.ticket, __atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED),
		__ATOMIC_RELAXED);
	rt_turn_waits(thread, true);
	__atomic_store_n(&thread->turn.state, PARKED, __ATOMIC_SEQ_CST);
}

void rt_turn_gives(struct rt_thread *thread, const volatile void *at)
{
	if (rt.turn_shift && !thread->depth)
		__atomic_store_n(&thread->turn.at, at, __ATOMIC_RELAXED);
}

bool rt_turn_is_given(const struct rt_thread *thread, const volatile void *at)
{
	bool is_alone = true;

	for (struct rt_thread *other = rt_threads(); other; other = other->next) {
		if (other == thread || !__atomic_load_n(&other->in_use, __ATOMIC_RELAXED))
			continue;
		if (state_of(other) == OUT &&
			__atomic_load_n(&other->turn.at, __ATOMIC_RELAXED) == at)
			return true;
		is_alone &= !is_in(other);
	}
	return is_alone;
}

bool rt_turn_is_woken(struct rt_thread *thread, uint32_t ns)
{
	uint32_t state = state_of(thread);

	if (state == PARKED) {
		loci_futex_wait(&thread->turn.state, PARKED, ns);
		state = state_of(thread);
	}
	if (state == PARKED)
		return false;
	while (state_of(thread) == RAISING)
		__builtin_ia32_pause();
	rt_turn_waits(thread, false);
	return true;
}

void rt_turn_unpark(struct rt_thread *thread)
{
	uint32_t parked = PARKED;

	if (__atomic_compare_exchange_n(
		    &thread->turn.state, &parked, RAISING, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		come_back(thread);
	while (state_of(thread) == RAISING)
		__builtin_ia32_pause();
	__atomic_store_n(&thread->turn.at, NULL, __ATOMIC_RELAXED);
	rt_turn_waits(thread, false);
}

static bool is_parked_at(
	const struct rt_thread *other, const volatile void *at, uint64_t before, uint64_t *ret)
{
	*ret = __atomic_load_n(&other->turn.ticket, __ATOMIC_RELAXED);
	return __atomic_load_n(&other->in_use, __ATOMIC_RELAXED) && state_of(other) == PARKED &&
		__atomic_load_n(&other->turn.at, __ATOMIC_RELAXED) == at && *ret < before;
}

/* The first of those that were parked there before. */
static struct rt_thread *first_at(const volatile void *at, uint64_t before)
{
	struct rt_thread *first = NULL;
	uint64_t ticket;

	for (struct rt_thread *other = rt_threads(); other; other = other->next)
		if (is_parked_at(other, at, before, &ticket)) {
			first = other;
			before = ticket;
		}
	return first;
}

/* All are raised before the first of them goes on: it is to see the others. One that has been
 * parked there again meanwhile is not woken for this. */
static struct rt_thread *raise_all(
	struct rt_thread *self, const volatile void *at, uint32_t n, uint64_t clock)
{
	uint64_t before = __atomic_load_n(&tickets, __ATOMIC_RELAXED);
	struct rt_thread *other, *woken = NULL;

	while (n-- && (other = first_at(at, before))) {
		uint32_t parked = PARKED;

		if (!__atomic_compare_exchange_n(&other->turn.state, &parked, RAISING, 0,
			    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		raise_to(other, clock_of(self, other), clock);
		other->turn.woken_next = woken;
		woken = other;
	}
	return woken;
}

static void let_go(struct rt_thread *woken)
{
	for (struct rt_thread *other; (other = woken);) {
		woken = other->turn.woken_next;
		come_in(other);
		loci_futex_wake(&other->turn.state);
	}
}

static void wake_to(struct rt_thread *self, const volatile void *at, uint32_t n, uint64_t clock)
{
	let_go(raise_all(self, at, n, clock));
}

void rt_turn_park_for_another(
	struct rt_thread *thread, const volatile void *at, const volatile void *given)
{
	struct rt_thread *woken = raise_all(thread, given, 1, own_clock(thread));

	rt_turn_park(thread, at);
	let_go(woken);
}

void rt_turn_wake(struct rt_thread *thread, const volatile void *at, uint32_t n)
{
	if (rt.turn_shift)
		wake_to(thread, at, n, thread ? own_clock(thread) : 0);
}

void rt_turn_reach(const struct rt_thread *thread, uint64_t *clock)
{
	uint64_t mine = own_clock(thread), was = __atomic_load_n(clock, __ATOMIC_RELAXED);

	while (was < mine &&
		!__atomic_compare_exchange_n(
			clock, &was, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void rt_turn_park_for(struct rt_thread *thread, const volatile void *at, uint64_t *clock)
{
	if (!rt.turn_shift || thread->depth)
		return;
	rt_turn_reach(thread, clock);
	rt_turn_park(thread, at);
}

void rt_turn_wake_at(struct rt_thread *thread, const volatile void *at, const uint64_t *clock)
{
	if (rt.turn_shift)
		wake_to(thread, at, RT_TURN_ALL, __atomic_load_n(clock, __ATOMIC_RELAXED));
}
