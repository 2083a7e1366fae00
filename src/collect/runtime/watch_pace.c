// SPDX-License-Identifier: BSD-2-Clause
/* A sample costs what its burst took beyond what the same references take otherwise, and its trap.
 * What cannot be measured from within is estimated: what the kernel does before and after a
 * handler, and what code is slower until it is back in its counting copy. */
#include "collect/runtime/watching.h"
#include "stream/ring_x86_64.h"

#include <time.h>

#define SYS_CLOCK_GETTIME 228
#define THREAD_CPUTIME    3
#define SHARE_UNITS       10000
#define LEAST_PERIOD      10000
#define MOST_PERIOD       (1ull << 36)
#define KEPT_SAMPLES      32 /* of late */
#define KERNEL_TRAP_NS    9000
#define PREEMPTED         8 /* a burst that takes so many times as long as others was */

static uint64_t cpu_ns(void)
{
	struct timespec now = { 0 };

	loci_syscall3(SYS_CLOCK_GETTIME, THREAD_CPUTIME, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void add(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

void rt_pace_begin(struct rt_thread *thread)
{
	thread->pace = (struct rt_pace){ .period = rt.control->period, .ns_before = cpu_ns() };
}

void rt_pace_burst(struct rt_thread *thread)
{
	thread->pace.begun_ns = rt_now_ns();
	thread->pace.begun_refs = rt_thread_count(thread);
}

/* What these references would have taken, by those before; of the first none are known. */
static uint64_t usual_ns(const struct rt_pace *pace, uint64_t refs)
{
	uint64_t ns = pace->ns > pace->spent_ns ? pace->ns - pace->spent_ns : 0;

	return pace->refs ? (uint64_t)((unsigned __int128)ns * refs / pace->refs) : 0;
}

void rt_pace_burst_over(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t ns = rt_now_ns() - pace->begun_ns;
	uint64_t most = pace->samples ? PREEMPTED * pace->spent_ns / pace->samples : 0;
	uint64_t usual = usual_ns(pace, rt_thread_count(thread) - pace->begun_refs);

	if (most && ns > usual + most) /* others ran meanwhile */
		ns = usual + most;
	add(&rt.control->watching.burst_ns, ns);
	pace->spent_ns += ns > usual ? ns - usual : 0;
}

void rt_pace_trap(struct rt_thread *thread, uint64_t ns)
{
	add(&rt.control->watching.trap_ns, ns + KERNEL_TRAP_NS);
	add(&thread->pace.spent_ns, ns + KERNEL_TRAP_NS);
}

static void halve(struct rt_pace *pace)
{
	pace->samples /= 2;
	pace->refs /= 2;
	pace->ns /= 2;
	pace->spent_ns /= 2;
}

/* With the share s of its time, c for a sample and r references in the time that is left, one
 * sample in c r / s references. */
static uint64_t wanted(const struct rt_pace *pace)
{
	uint64_t ns = pace->ns > pace->spent_ns ? pace->ns - pace->spent_ns : 1;
	unsigned __int128 period = (unsigned __int128)pace->spent_ns * SHARE_UNITS / pace->samples;

	period = period * pace->refs / ns / rt.control->watching.overhead;
	return period < MOST_PERIOD ? (uint64_t)period : MOST_PERIOD;
}

static uint64_t between(uint64_t n, uint64_t least, uint64_t most)
{
	return n < least ? least : n > most ? most : n;
}

uint64_t rt_pace_period(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t ns, refs;

	if (!rt.control->watching.overhead)
		return pace->period;
	ns = cpu_ns();
	refs = rt_thread_count(thread);
	pace->samples++;
	pace->refs += refs - pace->refs_before;
	pace->ns += ns - pace->ns_before;
	pace->refs_before = refs;
	pace->ns_before = ns;
	if (pace->spent_ns)
		pace->period = between(between((3 * pace->period + wanted(pace)) / 4,
					       pace->period / 2, 2 * pace->period),
			LEAST_PERIOD, MOST_PERIOD);
	if (pace->samples >= KEPT_SAMPLES)
		halve(pace);
	__atomic_store_n(&rt.control->watching.last_period, pace->period, __ATOMIC_RELAXED);
	return pace->period;
}
