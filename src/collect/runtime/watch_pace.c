// SPDX-License-Identifier: BSD-2-Clause
/* A sample costs what its burst took beyond what the same references take in a counting copy, what
 * code is slower after it that cannot leave its tracing copy at once, and its trap. What the kernel
 * does before and after a handler cannot be measured from within: it is a constant. Time is the
 * clock's, so what takes far longer than it should was not running, and counts as the most that it
 * should take. */
#include "collect/runtime/watching.h"

#define SHARE_UNITS    10000
#define LEAST_PERIOD   10000
#define MOST_PERIOD    (1ull << 25) /* lest too few samples correct a wrong guess */
#define KEPT_SAMPLES   32           /* of late */
#define KEPT_REFS      (1ull << 21)
#define COUNTED_LEAST  2048 /* references of which the time says something */
#define KERNEL_TRAP_NS 9000
#define BURST_NS       20000 /* the most that a burst takes, .. */
#define BURST_REF_NS   20    /* .. and for each of its references */
#define SLOWER         8     /* counting may be than before, .. */
#define TAIL_SLOWER    3     /* .. and a tracing copy than counting */

static void add(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What so many references take in a counting copy. */
static uint64_t usual_ns(const struct rt_pace *pace, uint64_t refs)
{
	return (uint64_t)((unsigned __int128)pace->counted_ns * refs / (pace->counted_refs + 1));
}

static void count_from_here(struct rt_thread *thread, bool is_counting)
{
	thread->pace.is_counting = is_counting;
	thread->pace.since_ns = rt_now_ns();
	thread->pace.since_refs = rt_thread_count(thread);
}

void rt_pace_begin(struct rt_thread *thread)
{
	thread->pace = (struct rt_pace){ .period = rt.control->period };
	count_from_here(thread, true);
}

static void learn(struct rt_pace *pace, uint64_t refs, uint64_t ns)
{
	if (refs < COUNTED_LEAST)
		return;
	if (pace->counted_refs)
		ns = least(ns, SLOWER * usual_ns(pace, refs));
	pace->counted_refs += refs;
	pace->counted_ns += ns;
	while (pace->counted_refs > KEPT_REFS) {
		pace->counted_refs /= 2;
		pace->counted_ns /= 2;
	}
}

static void counted(struct rt_thread *thread)
{
	const struct rt_pace *pace = &thread->pace;

	learn(&thread->pace, rt_thread_count(thread) - pace->since_refs,
		rt_now_ns() - pace->since_ns);
}

/* One that was faster than counting says that this is faster by now. */
static void tail_over(struct rt_pace *pace)
{
	uint64_t refs = pace->seen_refs - pace->tail_refs, usual = usual_ns(pace, refs);
	uint64_t ns = least(pace->seen_ns - pace->tail_ns, TAIL_SLOWER * usual);

	if (!pace->tail_ns)
		return;
	pace->tail_ns = 0;
	if (ns > usual)
		add(&pace->spent_ns, ns - usual);
	else
		learn(pace, refs, ns);
}

static void tail(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;

	pace->is_counting = false;
	pace->seen_ns = rt_now_ns();
	pace->seen_refs = rt_thread_count(thread);
	if (!pace->tail_ns) {
		pace->tail_ns = pace->seen_ns;
		pace->tail_refs = pace->seen_refs;
	}
}

/* Who comes twice from a counting copy was in no other in between. */
void rt_pace_rest(struct rt_thread *thread, bool is_tracing)
{
	if (!rt.control->watching.overhead)
		return;
	if (is_tracing) {
		tail(thread);
		return;
	}
	tail_over(&thread->pace);
	if (thread->pace.is_counting)
		counted(thread);
	count_from_here(thread, true);
}

void rt_pace_burst(struct rt_thread *thread)
{
	if (thread->pace.is_counting)
		counted(thread);
	tail_over(&thread->pace);
	count_from_here(thread, false);
}

void rt_pace_burst_over(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t ns = rt_now_ns() - pace->since_ns;
	uint64_t refs = rt_thread_count(thread) - pace->since_refs, usual = usual_ns(pace, refs);

	ns = least(ns, usual + BURST_NS + BURST_REF_NS * refs);
	add(&rt.control->watching.burst_ns, ns);
	add(&pace->spent_ns, ns > usual ? ns - usual : 0);
}

void rt_pace_trap(struct rt_thread *thread, uint64_t ns)
{
	add(&rt.control->watching.trap_ns, ns + KERNEL_TRAP_NS);
	add(&thread->pace.spent_ns, ns + KERNEL_TRAP_NS);
}

/* With c for a sample, t for a reference and the share s: one sample in c / (s t) references. */
static uint64_t wanted(const struct rt_pace *pace)
{
	unsigned __int128 period =
		(unsigned __int128)pace->spent_ns * SHARE_UNITS * (pace->counted_refs + 1);

	period /= (unsigned __int128)pace->samples * rt.control->watching.overhead *
		(pace->counted_ns + 1);
	return period < MOST_PERIOD ? (uint64_t)period : MOST_PERIOD;
}

static uint64_t between(uint64_t n, uint64_t low, uint64_t high)
{
	return n < low ? low : least(n, high);
}

/* It comes nearer to what is wanted slowly: no single sample changes much. */
uint64_t rt_pace_period(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t period = pace->period;

	if (!rt.control->watching.overhead)
		return period;
	if (pace->samples) {
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
