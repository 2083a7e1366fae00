/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a thread samples, on a clock of the test's own: whatever a sample costs, by its burst,
 * its trap or faults beside its block, samples take the share that was asked for of what the thread
 * takes without them, be it all of that, or less if there are to be no more than so many a second;
 * what system calls take comes off that, down to half, and so does what it takes to follow samples
 * to far reuses, a quarter at most. */
#include "check.h"
#include "collect/runtime/watch.h"
#include "collect/runtime/watching.h"

#include <stdlib.h>

#define SHARE       500 /* of 10000 */
#define REF_NS      2
#define SLOW_REF_NS 100
#define FAR_NS      15 /* while a sample is followed far, beside that */

struct rt_image rt;
__thread struct rt_thread *rt_self;
static uint64_t now_ns, count;
static uint64_t since; /* references, the last system call */

uint64_t rt_now_ns(void)
{
	return 3 * now_ns; /* others run, too */
}

uint64_t rt_own_ns(void)
{
	return now_ns;
}

uint64_t rt_thread_count(const struct rt_thread *thread)
{
	(void)thread;
	return count;
}

/* What it costs beside its references. */
struct costs {
	uint64_t burst_ns, trap_ns; /* 0: no trap */
	uint64_t burst_refs;        /* that a burst has, which take their own time, too */
	unsigned faults;            /* beside the block */
	uint64_t led_refs;          /* one system call in so many references; 0: none */
	uint64_t far_refs;          /* samples are followed for, as often as they may be */
};

#define HANDLER_NS 2000

static void work(enum rt_watch_work kind)
{
	uint64_t begun = now_ns;

	now_ns += HANDLER_NS;
	rt_watch_took(kind, begun);
	now_ns += rt_pace_kernel.before_ns + rt_pace_kernel.after_ns;
}

/* For a step the kernel takes longer than for a fault. */
static void step_beside(void)
{
	uint64_t fault_ns = rt_pace_kernel.before_ns + rt_pace_kernel.after_ns;
	uint64_t begun = now_ns += fault_ns, stepped;

	now_ns += HANDLER_NS;
	stepped = rt_watch_took(RT_WATCH_BESIDE, begun);
	CHECK_U64(stepped, now_ns);
	now_ns += 3 * fault_ns + HANDLER_NS;
	rt_watch_took(RT_WATCH_BEFORE, stepped);
}

static void run(uint64_t refs, const struct costs *costs)
{
	while (refs) {
		uint64_t n = costs->led_refs && refs > costs->led_refs - since
			? costs->led_refs - since
			: refs;

		count += n;
		now_ns += n * REF_NS;
		refs -= n;
		since = costs->led_refs ? since + n : 0;
		if (costs->led_refs && since == costs->led_refs) {
			work(RT_WATCH_LED);
			since = 0;
		}
	}
}

/* What samples take, once their period has settled, of what the thread takes without them. */
static double share_of_samples(const struct costs *costs)
{
	uint64_t spent = 0, far_ns = 0, from = 0, first = 0;

	now_ns = count = since = 0;
	rt_pace_begin(rt_self);
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t period = rt_pace_period(rt_self), begun;
		bool is_far;

		if (i == 1000) {
			spent = far_ns = 0;
			from = now_ns;
			first = count;
		}
		if (period > costs->burst_refs) /* from one sample to the next */
			run(period - costs->burst_refs, costs);
		begun = now_ns;
		rt_pace_burst(rt_self);
		count += costs->burst_refs;
		now_ns += costs->burst_refs * REF_NS + costs->burst_ns;
		is_far = costs->far_refs && rt_pace_may_follow(rt_self, costs->far_refs);
		if (is_far) {
			count += costs->far_refs;
			now_ns += costs->far_refs * (FAR_NS + REF_NS);
			far_ns += costs->far_refs * (FAR_NS + REF_NS);
		}
		rt_pace_burst_over(rt_self, is_far ? costs->far_refs : 0);
		for (unsigned k = 0; k < costs->faults; k++)
			step_beside();
		if (costs->trap_ns) {
			rt_pace_trap(rt_self, costs->trap_ns);
			now_ns +=
				costs->trap_ns + rt_pace_kernel.before_ns + rt_pace_kernel.after_ns;
		}
		spent += now_ns - begun -
			(costs->burst_refs + (is_far ? costs->far_refs : 0)) * REF_NS;
	}
	if (costs->far_refs)
		CHECK_NEAR((double)far_ns / (double)(now_ns - from), SHARE / 10000.0 / 4, 0.002);
	return (double)spent / (double)((count - first) * REF_NS);
}

/* References become fast once many were slow: following samples far is no cheaper for that. */
static void check_far_after_slow(void)
{
	const uint64_t far_refs = 100000;
	uint64_t far_ns = 0;

	now_ns = count = 0;
	rt_pace_begin(rt_self);
	for (unsigned i = 0; i < 800; i++) {
		uint64_t period = rt_pace_period(rt_self);

		count += period;
		now_ns += period * (i < 500 ? SLOW_REF_NS : 1);
		rt_pace_burst(rt_self);
		if (i >= 500 && rt_pace_may_follow(rt_self, far_refs)) {
			count += far_refs;
			now_ns += far_refs * (FAR_NS + 1);
			far_ns += far_refs * (FAR_NS + 1);
			rt_pace_burst_over(rt_self, far_refs);
		} else {
			now_ns += 50000;
			rt_pace_burst_over(rt_self, 0);
		}
	}
	CHECK(far_ns > 0);
	if ((double)far_ns > 1.05 * SHARE / 10000.0 / 4 * (double)now_ns)
		CHECK_FAIL("far reuses took %.4f of the time", (double)far_ns / (double)now_ns);
}

static void check_share(const char *what, const struct costs *costs, double want)
{
	double got = share_of_samples(costs);

	if (got < 0.9 * want || got > 1.1 * want)
		CHECK_FAIL("%s: samples take %.4f of the thread's own time, want %.4f", what, got,
			want);
}

int main(void)
{
	const double share = SHARE / 10000.0;
	const double call_ns = HANDLER_NS + 9000;

	rt.control = calloc(1, sizeof(*rt.control));
	rt_self = calloc(1, sizeof(*rt_self));
	CHECK(rt.control && rt_self);
	rt.control->watching.overhead = SHARE;
	rt.control->period = 100000;
	check_share("bursts", &(struct costs){ .burst_ns = 50000 }, share);
	check_share("references of bursts",
		&(struct costs){ .burst_ns = 50000, .trap_ns = 7000, .burst_refs = 40000 }, share);
	/* 150 samples of 66 us are 1 % of a second; of a millisecond each they would be 15 %. */
	rt.control->watching.per_second = 150;
	check_share("rare", &(struct costs){ .burst_ns = 50000, .trap_ns = 7000 },
		150 * (50000 + 7000 + 9000) * 1e-9);
	check_share("rare and dear", &(struct costs){ .burst_ns = 1000000 }, share);
	rt.control->watching.per_second = 0;
	check_share(
		"long bursts", &(struct costs){ .burst_ns = 50000, .burst_refs = 200000 }, share);
	for (uint32_t part = 5000; part <= 10000; part += 5000) {
		rt.control->watching.overhead = part;
		check_share(
			"much", &(struct costs){ .burst_ns = 50000, .faults = 20 }, part / 10000.0);
	}
	rt.control->watching.overhead = SHARE;
	check_share("traps", &(struct costs){ .burst_ns = 50000, .trap_ns = 7000 }, share);
	check_share("faults", &(struct costs){ .burst_ns = 50000, .faults = 64 }, share);
	/* a fifth of the share: 1 % */
	check_share("few calls",
		&(struct costs){
			.burst_ns = 50000, .led_refs = (uint64_t)(call_ns * 0.99 / 0.01 / REF_NS) },
		0.8 * share);
	check_share(
		"many calls", &(struct costs){ .burst_ns = 50000, .led_refs = 10000 }, share / 2);
	rt.control->watching.far = LOCI_CONTROL_FAR;
	check_share("far reuses", &(struct costs){ .burst_ns = 50000, .far_refs = 200000 }, share);
	check_far_after_slow();
	CHECK(rt.control->watching.page_ns > 0 && rt.control->watching.trap_ns > 0);
	/* in the child of a fork, whose own time begins anew */
	rt.control->watching.page_ns = 0;
	rt_watch_took(RT_WATCH_LED, now_ns + 1);
	CHECK_U64(rt.control->watching.page_ns, rt_pace_kernel.before_ns + rt_pace_kernel.after_ns);
	rt_pace_burst(rt_self);
	now_ns = 0;
	rt.control->watching.burst_ns = 0;
	rt_pace_burst_over(rt_self, 0);
	CHECK_U64(rt.control->watching.burst_ns, 0);
	/* one that the child of a vfork begins is ended by its parent */
	now_ns = 10000000000;
	rt_pace_burst(rt_self);
	rt_pace_burst_over(rt_self, 0);
	rt.control->watching.burst_ns = rt_self->pace.spent_ns = 0;
	now_ns = 1000;
	rt_pace_burst(rt_self);
	now_ns = 20000000000;
	rt_pace_burst_over(rt_self, 0);
	CHECK_U64(rt.control->watching.burst_ns, 0);
	CHECK_U64(rt_self->pace.spent_ns, 0);
	free(rt_self);
	free(rt.control);
	return check_status();
}
