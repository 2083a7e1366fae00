/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which samples are followed until a far reuse: eight of a site and length, and more where many
 * were met, so that what they say of these is not chance's; no more tries than four for each. */
#include "check.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/watch_far.h"

#define REFS 100000

struct rt_image rt;
static struct loci_control control;
static bool may_follow = true;

bool rt_pace_may_follow(const struct rt_thread *thread, uint64_t refs)
{
	(void)thread;
	(void)refs;
	return may_follow;
}

static void meet(uint64_t site, uint64_t refs, unsigned n)
{
	while (n--)
		rt_far_met(site, refs);
}

/* Samples of a site until none is followed; each has its reuse so many references later, 0: never
 * while it is followed. */
static unsigned follow(uint64_t site, uint64_t reuse)
{
	unsigned n = 0;

	while (n < 100000 && rt_far_refs(NULL, site)) {
		n++;
		if (reuse)
			rt_far_seen(site, reuse);
	}
	return n;
}

int main(void)
{
	rt.control = &control;
	control.watching.burst_refs = 4096;
	rt_far_begin();

	CHECK_U64(rt_far_refs(NULL, 7), 0); /* nothing was met there */
	meet(7, REFS, 1);
	CHECK_U64(rt_far_refs(NULL, 7), REFS + REFS / 8);
	CHECK_U64(rt_far_refs(NULL, 8), 0);
	may_follow = false;
	CHECK_U64(rt_far_refs(NULL, 7), 0);
	may_follow = true;
	CHECK_U64(follow(7, REFS), 8);

	/* One in 32 of those that were met. */
	meet(7, REFS, 255);
	CHECK_U64(follow(7, REFS), 0);
	meet(7, REFS, 3200 - 256);
	CHECK_U64(follow(7, REFS), 100 - 8);

	/* Of another length a few were met: it has its own eight. */
	meet(7, 16 * REFS, 2);
	CHECK_U64(follow(7, 16 * REFS), 8);

	/* They do not come. */
	meet(9, REFS, 1);
	CHECK_U64(follow(9, 0), 32);
	meet(9, REFS, 640 - 1);
	CHECK_U64(follow(9, 0), 4 * 20 - 32);

	rt_far_begin(); /* another process */
	CHECK_U64(rt_far_refs(NULL, 7), 0);
	return check_status();
}
