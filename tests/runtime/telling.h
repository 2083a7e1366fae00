/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program of the tests of synchronisation tells, for tests/runtime/happens_before.h: events
 * that must stand in an order, as references to addresses that no memory has. Each kind k of what
 * is tried has a counter, which a program changes only where it may:
 *
 *	WRITE k, i	its change from i to i + 1: after WRITE k, i - 1
 *	READ k, i	it was seen to be i: after WRITE k, i - 1, and before WRITE k, i
 *	AFTER k, i	WRITE k, i - 1 has been */
#ifndef LOCI_TESTS_RUNTIME_TELLING_H
#define LOCI_TESTS_RUNTIME_TELLING_H

#include <loci/mark.h>

#include <stdint.h>

#define EVENT_SHIFT 40
#define EVENT_BASE  0x1000u /* added to the tag: bits that no address has */
#define KINDS       256u

enum { WRITE = 0, READ = KINDS, AFTER = 2 * KINDS, ALL_TAGS = 3 * KINDS };

extern uint64_t counter[KINDS]; /* the program's */

static inline void tell(unsigned tag, uint64_t index)
{
	loci_access((void *)((uint64_t)(EVENT_BASE + tag) << EVENT_SHIFT | index), 1, LOCI_STORE);
}

static inline void tell_write(unsigned kind)
{
	tell(WRITE + kind, counter[kind]++);
}

static inline void tell_read(unsigned kind)
{
	tell(READ + kind, counter[kind]);
}

#endif
