/* SPDX-License-Identifier: BSD-2-Clause */
/* Teams of OpenMP, in turn (turns.h). All begin a region at the clock of who forks it, and whoever
 * takes a turn within it waits until they have begun: until then it is not known which threads they
 * are. They leave a barrier at the clock of the last that arrived. */
#ifndef LOCI_COLLECT_RUNTIME_TEAMS_H
#define LOCI_COLLECT_RUNTIME_TEAMS_H

#include "collect/runtime/turns.h"

/* A region, by its place (openmp.h), is forked; one of n has begun it, or of them one that is not
 * recorded (NULL); who forked it goes on, at the clock of the last. */
void rt_team_fork(const struct rt_thread *parent, uint64_t place);
void rt_team_begin(struct rt_thread *thread, uint64_t place, unsigned n);
void rt_team_end(struct rt_thread *thread, uint64_t place);
/* Of the last of them that arrived somewhere there (rt_turn_reach). */
uint64_t *rt_team_clock(uint64_t place);

/* Where they are parked at a barrier: no address. */
static inline const void *rt_team_barrier(uint64_t place)
{
	uintptr_t at = place | 1ull << 63;

	return (const void *)at;
}

#endif
