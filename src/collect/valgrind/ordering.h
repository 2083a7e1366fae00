/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SYNC markers: each object has numbers of its own. Threads run one at a time here, so that the
 * stream has them in order anyway; but a reader may put the threads into another one that they
 * keep. */
#ifndef LOCI_COLLECT_VALGRIND_ORDERING_H
#define LOCI_COLLECT_VALGRIND_ORDERING_H

#include "collect/valgrind/core.h"
#include "stream/stream.h"

/* Objects that have no address, nor are threads. Those of OpenMP are of all teams together. */
enum ordering_object {
	FIXED_TEAM = 1ul << 62, /* barriers, and the ends of tasks */
	FIXED_CRITICAL,
	FIXED_ATOMIC,
	FIXED_ORDERED,
	FIXED_REDUCE,
	FIXED_ENDED, /* threads that have, and with them what they held */
};

/* The current thread's. Objects are addresses, or ids of threads, which no address is. */
void ordering_tell(enum loci_sync kind, UWord object);
/* A new stream begins. */
void ordering_begin(void);

#endif
