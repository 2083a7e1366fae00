// SPDX-License-Identifier: BSD-2-Clause
/* A sample costs its burst, its trap, and what code is slower that cannot leave its tracing copy at
 * once, after the burst and whenever the thread looks because the sample is watched. A burst costs
 * what it takes longer than the thread takes for as many references in the mean; of a program that
 * waits for memory that is far less than it takes. That is right where references take about as
 * long everywhere. Where they do not it is too much, for no burst costs less than nothing, and too
 * little for some fifty samples after they have become faster. A reference in a tracing copy is
 * taken to be slower by a constant. Shares are of the time that the thread takes without samples:
 * 100 % makes it take twice as long.
 *
 * Where pages are watched, faults beside the block and single steps are part of that, the
 * latter from the end of the fault's handler on: the kernel takes several times as long for them as
 * for a fault on a virtual machine. System calls, all of which are led then, are not: what they
 * take comes off the share, of which samples keep half whatever it is. So is what it takes to
 * follow samples to far reuses (watch_far.h), unless that has a share of the references: at most a
 * quarter of the share, or if samples have a fixed period as much as these take. Of that all that
 * such bursts take counts, for a mean of references that were slower would make them free. */
#include "collect/runtime/watch.h"
#include "collect/runtime/watching.h"

#define SHARE_UNITS  10000
#define LEAST_PERIOD 10000
#define MOST_PERIOD  (1ull << 28) /* lest too few samples correct a wrong guess */
#define KEPT_SAMPLES 64           /* of late */
#define SLOWER_PS    400          /* a word that nobody reads; 200 to 250 were seen */
#define LOOK_NS      100
#define FAR_NS       20 /* a reference, about */
#define FAR_PART     4
#define LEAST_PART   16
#define SECOND_NS    1000000000ull

/* As measured on a virtual machine; rt_watch_room measures anew. */
struct rt_pace_kernel rt_pace_kernel = { 6000, 3000 };

void rt_pace_set_kernel(const struct rt_pace_kernel *kernel)
{
	__atomic_store_n(&rt_pace_kernel.before_ns, kernel->before_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&rt_pace_kernel.after_ns, kernel->after_ns, __ATOMIC_RELAXED);
}

static uint64_t kernel_before_ns(void)
{
	return __atomic_load_n(&rt_pace_kernel.before_ns, __ATOMIC_RELAXED);
}

static uint64_t kernel_ns(void)
{
	return kernel_before_ns() + __atomic_load_n(&rt_pace_kernel.after_ns, __ATOMIC_RELAXED);
}

static void add(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

static void look_from_here(struct rt_thread *thread)
{
	__atomic_store_n(&thread->pace.traps_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->pace.since_ns, rt_now_ns(), __ATOMIC_RELAXED);
	thread->pace.since_refs = rt_thread_count(thread);
}

void rt_pace_begin(struct rt_thread *thread)
{
	thread->pace = (struct rt_pace){ .period = rt.control->period,
		.last_ns = rt_own_ns(),
		.begun_ns = rt_own_ns(),
		.last_refs = rt_thread_count(thread) };
	look_from_here(thread);
}

void rt_pace_rest(struct rt_thread *thread, uint64_t words)
{
	add(&thread->pace.spent_ns, LOOK_NS + SLOWER_PS * words / 1000);
	look_from_here(thread);
}

void rt_pace_burst(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t refs = rt_thread_count(thread);

	pace->burst_ns = rt_own_ns();
	if (pace->burst_ns < pace->last_ns) {
		/* A vfork's child has a clock of its own: what it begins takes nothing, whoever
		 * ends it. */
		pace->burst_ns = UINT64_MAX;
		return;
	}
	pace->own_ns += pace->burst_ns - pace->last_ns;
	pace->refs += refs - pace->last_refs;
	pace->last_ns = pace->burst_ns;
	pace->last_refs = refs;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What the thread took by itself, of late; some, though samples may be taken for more than all. */
static uint64_t unwatched_ns(const struct rt_pace *pace)
{
	uint64_t ns = less(pace->own_ns, pace->spent_ns + pace->led_ns);

	return ns > pace->own_ns / LEAST_PART ? ns : pace->own_ns / LEAST_PART + 1;
}

static uint64_t unwatched_refs_ns(const struct rt_pace *pace, uint64_t refs)
{
	return pace->refs ? (uint64_t)((unsigned __int128)refs * unwatched_ns(pace) / pace->refs)
			  : 0;
}

void rt_pace_burst_over(struct rt_thread *thread, uint64_t far_refs)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t refs = less(rt_thread_count(thread), pace->last_refs);
	uint64_t took_ns = less(rt_own_ns(), pace->burst_ns);
	uint64_t ns = less(took_ns, unwatched_refs_ns(pace, refs));

	add(&rt.control->watching.burst_ns, ns);
	add(far_refs ? &pace->led_ns : &pace->spent_ns, ns);
	pace->far_ns += far_refs ? took_ns : 0;
	pace->far_refs += far_refs;
	look_from_here(thread);
}

void rt_pace_parts(struct rt_thread *thread, uint64_t ns)
{
	add(&rt.control->watching.burst_ns, ns);
	add(&thread->pace.spent_ns, ns);
}

bool rt_pace_may_follow(const struct rt_thread *thread, uint64_t refs)
{
	const struct rt_pace *pace = &thread->pace;
	const struct loci_control_watching *control = &rt.control->watching;
	uint64_t own_ns = pace->last_ns - pace->begun_ns, may_ns = pace->past_ns + pace->spent_ns;

	if (control->far != LOCI_CONTROL_FAR)
		return pace->far_refs + refs <=
			rt_thread_count(thread) / SHARE_UNITS * control->far;
	if (control->overhead)
		may_ns = own_ns / SHARE_UNITS * control->overhead / FAR_PART;
	return pace->far_ns + refs * FAR_NS <= may_ns;
}

void rt_pace_trap(struct rt_thread *thread, uint64_t ns)
{
	ns += kernel_ns();
	add(&rt.control->watching.trap_ns, ns);
	add(&thread->pace.spent_ns, ns);
	add(&thread->pace.traps_ns, ns);
}

/* The child of a fork begins in the midst of it, and its own time anew. */
uint64_t rt_watch_took(enum rt_watch_work work, uint64_t begun_ns)
{
	struct rt_thread *self = rt_self;
	uint64_t now = rt_own_ns();
	uint64_t ns = less(now, begun_ns) + (work != RT_WATCH_BEFORE ? kernel_ns() : 0);

	add(&rt.control->watching.page_ns, ns);
	if (self) {
		add(work == RT_WATCH_LED ? &self->pace.led_ns : &self->pace.spent_ns, ns);
		add(&self->pace.traps_ns, ns);
	}
	return now;
}

/* Another thread asks too, while this one may be changing it: the time is a little out then. */
static uint64_t last_seen(const struct rt_thread *thread)
{
	return __atomic_load_n(&thread->pace.since_ns, __ATOMIC_RELAXED) +
		__atomic_load_n(&thread->pace.traps_ns, __ATOMIC_RELAXED);
}

uint64_t rt_pace_since(const struct rt_thread *thread)
{
	return less(rt_now_ns(), last_seen(thread));
}

uint64_t rt_pace_until(const struct rt_thread *thread, uint64_t ns)
{
	return less(ns, last_seen(thread) + kernel_before_ns());
}

static uint64_t between(uint64_t n, uint64_t low, uint64_t high)
{
	return n < low ? low : n < high ? n : high;
}

/* Of the share, in SHARE_UNITS. */
static uint64_t left_of_share(const struct rt_pace *pace)
{
	uint64_t share = rt.control->watching.overhead;
	uint64_t led =
		(uint64_t)((unsigned __int128)pace->led_ns * SHARE_UNITS / unwatched_ns(pace));

	return between(less(share, led), (share + 1) / 2, share);
}

/* With c for a sample, t for a reference by itself and the share s: one sample in c / (s t)
 * references; with r a second at the most, one in 1 / (r t) at least. */
static uint64_t wanted(const struct rt_pace *pace)
{
	unsigned __int128 period = (unsigned __int128)pace->spent_ns * SHARE_UNITS * pace->refs;
	uint64_t per_second = rt.control->watching.per_second;
	uint64_t least = per_second ? (uint64_t)((unsigned __int128)pace->refs * SECOND_NS /
					      (pace->own_ns + 1) / per_second)
				    : 0;

	period /= (unsigned __int128)pace->samples * left_of_share(pace) * unwatched_ns(pace);
	return between(period < MOST_PERIOD ? (uint64_t)period : MOST_PERIOD, least, MOST_PERIOD);
}

/* It comes nearer to what is wanted slowly: no single sample changes much. */
uint64_t rt_pace_period(struct rt_thread *thread)
{
	struct rt_pace *pace = &thread->pace;
	uint64_t period = pace->period;

	if (pace->samples && rt.control->watching.overhead) {
		period = between(
			(period + wanted(pace)) / 2, period - period / 4, period + period / 2);
		pace->period = between(period, LEAST_PERIOD, MOST_PERIOD);
	}
	if (++pace->samples >= KEPT_SAMPLES) {
		pace->samples /= 2;
		pace->past_ns += pace->spent_ns - pace->spent_ns / 2;
		pace->spent_ns /= 2;
		pace->led_ns /= 2;
		pace->own_ns /= 2;
		pace->refs /= 2;
	}
	__atomic_store_n(&rt.control->watching.last_period, pace->period, __ATOMIC_RELAXED);
	return pace->period;
}
