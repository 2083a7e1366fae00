/* SPDX-License-Identifier: BSD-2-Clause */
/* Which samples are followed until a reuse that is far away. What a watch meets has a time distance
 * only. But reuses of one site that are equally far away are mostly alike, and a few that are
 * followed all the way, reference by reference, tell the stack distance of the others, and how many
 * touches their references are (analyse/donors.h). So where a watch has met a reuse, the next
 * samples of that site are followed for as long, if time allows: how long a sample is followed
 * depends on others, and not on its own reuse, so that it stands for as many as any.
 *
 * Lock held. */
#ifndef LOCI_COLLECT_RUNTIME_WATCH_FAR_H
#define LOCI_COLLECT_RUNTIME_WATCH_FAR_H

#include <stdint.h>

struct rt_thread;

void rt_far_begin(void); /* a process */
/* A watch has met a reuse of a sample of this site, so many references later. */
void rt_far_met(uint64_t site, uint64_t refs);
/* For how many references a sample of this site is to be followed, more than usual; 0: as usual. */
uint64_t rt_far_refs(const struct rt_thread *thread, uint64_t site);
/* A reuse was seen, and its stack distance counted. */
void rt_far_seen(uint64_t site, uint64_t refs);

#endif
