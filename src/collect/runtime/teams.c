// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/teams.h"
#include "stream/ring_x86_64.h"

#define SYS_SCHED_YIELD 24
#define SYS_NANOSLEEP   35
#define TEAMS           256 /* of regions under way; one whose place is taken is forgotten */
#define YIELDS          200
#define NAP_NS          50000
#define MOST_NAPS       8192 /* then they are waited for no more */

struct rt_team {
	uint64_t region, clock;
	uint64_t reached; /* the clock of the last that arrived at a barrier or the end */
	uint32_t begun;
};
static struct rt_team teams[TEAMS];
static uint64_t reached_by_others;

static struct rt_team *team_of(uint64_t place)
{
	return &teams[(place >> 32) % TEAMS];
}

static bool is_of(const struct rt_team *team, uint64_t place)
{
	return __atomic_load_n(&team->region, __ATOMIC_ACQUIRE) == place >> 32;
}

void rt_team_fork(const struct rt_thread *parent, uint64_t place)
{
	struct rt_team *team = team_of(place);

	__atomic_store_n(&team->region, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&team->clock, rt_turn_clock(parent), __ATOMIC_RELAXED);
	__atomic_store_n(&team->reached, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&team->begun, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&team->region, place >> 32, __ATOMIC_RELEASE);
}

void rt_team_begin(struct rt_thread *thread, uint64_t place, unsigned n)
{
	struct rt_team *team = team_of(place);

	if (!rt.turn_shift || n < 2 || !is_of(team, place))
		return;
	if (thread && !thread->depth) {
		rt_turn_set(thread, __atomic_load_n(&team->clock, __ATOMIC_RELAXED));
		thread->turn.team = place;
		thread->turn.team_size = n;
	}
	__atomic_fetch_add(&team->begun, 1, __ATOMIC_SEQ_CST);
}

uint64_t *rt_team_clock(uint64_t place)
{
	struct rt_team *team = team_of(place);

	return is_of(team, place) ? &team->reached : &reached_by_others;
}

void rt_team_end(struct rt_thread *thread, uint64_t place)
{
	uint64_t clock = __atomic_load_n(rt_team_clock(place), __ATOMIC_RELAXED);

	if (thread->turn.team >> 32 == place >> 32)
		thread->turn.team = 0;
	if (rt_turn_clock(thread) < clock)
		rt_turn_set(thread, clock);
}

void rt_team_gather(struct rt_thread *thread)
{
	static const uint64_t nap[2] = { 0, NAP_NS };
	uint64_t place = thread->turn.team;
	uint32_t n = thread->turn.team_size;
	struct rt_team *team = team_of(place);
	unsigned i = 0;

	for (; is_of(team, place) && __atomic_load_n(&team->begun, __ATOMIC_SEQ_CST) < n; i++) {
		if (rt_mode() != RT_TRACE)
			break;
		if (i < YIELDS)
			loci_syscall3(SYS_SCHED_YIELD, 0, 0, 0);
		else if (i < YIELDS + MOST_NAPS)
			loci_syscall3(SYS_NANOSLEEP, (long)nap, 0, 0);
		else
			__atomic_store_n(&team->begun, n, __ATOMIC_RELAXED);
	}
	thread->turn.team = 0;
}
