// SPDX-License-Identifier: BSD-2-Clause
/* A sample costs what its burst took beyond what the same references take in a counting copy, what
 * code is slower after it that cannot leave its tracing copy at once, and its trap. A burst's time
 * is the thread's own. What code takes in either copy is seen too often for that, by a clock that
 * runs also while others have the processor: there the quickest of late counts. What the kernel
 * does before and after a handler cannot be measured from within: it is a constant. */
#include "collect/runtime/watching.h"
#include "stream/ring_x86_64.h"

#include <time.h>

#define SYS_CLOCK_GETTIME 228

#define SHARE_UNITS    10000
#define LEAST_PERIOD   10000
#define MOST_PERIOD    (1ull << 25) /* lest too few samples correct a wrong guess */
#define KEPT_SAMPLES   64           /* of late */
#define COUNTED_LEAST  2048         /* references of which the time says something, .. */
#define TRACED_LEAST   256          /* .. and in a tracing copy, which comes often */
#define FORGET         64           /* the quickest becomes slower by this part each time */
#define SLOWER         1024 /* a reference in a tracing copy, in 2^-10 ns, until it is known */
#define LOOK_NS        100
#define KERNEL_TRAP_NS 9000
#define BEFORE_NS      6000 /* of it, before the handler */

static void add(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static uint64_t own_ns(void)
{
	struct timespec now = { 0 };

	loci_syscall3(SYS_CLOCK_GETTIME, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t times(uint64_t rate, uint64_t refs)
{
	return (uint64_t)((unsigned __int128)rate * refs >> 10);
}

static void look_from_here(struct rt_thread *thread, bool is_counting)
{
	thread->pace.is_counting = is_counting;
	thread->pace.traps_ns = 0;
	thread->pace.since_ns = rt_now_ns();
	thread->pace.since_refs = rt_thread_count(thread);
}

void rt_pace_begin(struct rt_thread *thread)
{
	thread->pace = (struct rt_pace){ .period = rt.control->period };
	look_from_here(thread, true);
}

static void learn(uint64_t *rate, uint64_t ns, uint64_t refs)
{
	uint64_t seen = (ns << 10) / refs, slower = *rate + *rate / FORGET + 1;

	*rate = *rate && slower < seen ? slower : seen;
}

static void counted(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t refs = rt_thread_count(thread) - pace->since_refs;

	if (pace->is_counting && refs >= COUNTED_LEAST)
		learn(&pace->counting, rt_now_ns() - pace->since_ns, refs);
}

/* What a reference takes longer in a tracing copy. */
static uint64_t slower(const struct rt_pace *pace)
{
	if (!pace->counting || !pace->tracing)
		return SLOWER;
	return pace->tracing > pace->counting ? pace->tracing - pace->counting : 0;
}

static void traced(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t refs = rt_thread_count(thread) - pace->since_refs;

	if (refs >= TRACED_LEAST)
		learn(&pace->tracing, rt_now_ns() - pace->since_ns, refs);
	add(&pace->spent_ns, times(slower(pace), refs));
}

/* Who comes from a tracing copy has been there since it was last seen; who comes twice from a
 * counting copy was in no other in between. */
void rt_pace_rest(struct rt_thread *thread, bool is_tracing, uint64_t words)
{
	if (is_tracing) {
		traced(thread);
	} else {
		counted(thread);
		add(&thread->pace.spent_ns, LOOK_NS + times(slower(&thread->pace), words));
	}
	look_from_here(thread, !is_tracing);
}

void rt_pace_burst(struct rt_thread *thread)
{
	counted(thread);
	thread->pace.burst_ns = own_ns();
	thread->pace.burst_refs = rt_thread_count(thread);
}

void rt_pace_burst_over(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t ns = own_ns() - pace->burst_ns;
	uint64_t usual = times(pace->counting, rt_thread_count(thread) - pace->burst_refs);

	add(&rt.control->watching.burst_ns, ns);
	add(&pace->spent_ns, ns > usual ? ns - usual : 0);
	look_from_here(thread, false);
}

void rt_pace_trap(struct rt_thread *thread, uint64_t ns)
{
	add(&rt.control->watching.trap_ns, ns + KERNEL_TRAP_NS);
	add(&thread->pace.spent_ns, ns + KERNEL_TRAP_NS);
	add(&thread->pace.traps_ns, ns + KERNEL_TRAP_NS);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

uint64_t rt_pace_since(const struct rt_thread *thread)
{
	return less(rt_now_ns(), thread->pace.since_ns + thread->pace.traps_ns);
}

uint64_t rt_pace_until(const struct rt_thread *thread, uint64_t ns)
{
	return less(ns, thread->pace.since_ns + thread->pace.traps_ns + BEFORE_NS);
}

static uint64_t between(uint64_t n, uint64_t low, uint64_t high)
{
	return n < low ? low : n < high ? n : high;
}

/* With c for a sample, t for a reference and the share s: one sample in c / (s t) references. */
static uint64_t wanted(const struct rt_pace *pace)
{
	unsigned __int128 period = (unsigned __int128)pace->spent_ns * SHARE_UNITS << 10;

	period /= (unsigned __int128)pace->samples * rt.control->watching.overhead *
		(pace->counting + 1);
	return period < MOST_PERIOD ? (uint64_t)period : MOST_PERIOD;
}

/* It comes nearer to what is wanted slowly: no single sample changes much. */
uint64_t rt_pace_period(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t period = pace->period;

	if (!rt.control->watching.overhead)
		return period;
	if (pace->samples && pace->counting) {
		period = between(
			(period + wanted(pace)) / 2, period - period / 4, period + period / 2);
		pace->period = between(period, LEAST_PERIOD, MOST_PERIOD);
	}
	if (++pace->samples >= KEPT_SAMPLES) {
		pace->samples /= 2;
		pace->spent_ns /= 2;
	}
	__atomic_store_n(&rt.control->watching.last_period, pace->period, __ATOMIC_RELAXED);
	return pace->period;
}
