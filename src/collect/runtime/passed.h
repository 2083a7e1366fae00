/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks that a thread touched of late, so that a reuse that is seen has its stack distance:
 * how many distinct other blocks were touched since. What a time distance leaves to a model is
 * counted there.
 *
 * Freestanding C: part of what ends up in users' programs. */
#ifndef LOCI_COLLECT_RUNTIME_PASSED_H
#define LOCI_COLLECT_RUNTIME_PASSED_H

#include <stdint.h>

#define LOCI_PASSED 16384 /* touches that are remembered; a power of two, less than 2^16 */

struct loci_passed {
	uint64_t n;                     /* touches so far, numbered from 0 */
	uint64_t block[LOCI_PASSED];    /* by number, modulo */
	uint16_t slot[2 * LOCI_PASSED]; /* while they are counted: 1 + where a block stands */
};

/* So many blocks, one after the other. */
static inline void loci_passed_add(struct loci_passed *passed, uint64_t first, uint64_t n)
{
	uint64_t over = n > LOCI_PASSED ? n - LOCI_PASSED : 0;

	passed->n += over;
	for (uint64_t i = over; i < n; i++)
		passed->block[passed->n++ % LOCI_PASSED] = first + i;
}

/* Distinct blocks of touches from a number up to another, less one that does not count, and 1 more;
 * 0: that is not known, for they are too many. */
static inline uint64_t loci_passed_distinct(
	struct loci_passed *passed, uint64_t from, uint64_t to, uint64_t except)
{
	uint64_t slots = 8, distinct = 0;
	unsigned shift = 64 - 3;

	if (to < from || to > passed->n || passed->n - from > LOCI_PASSED)
		return 0;
	for (; slots < 2 * (to - from); shift--)
		slots *= 2;
	for (uint64_t i = 0; i < slots; i++)
		passed->slot[i] = 0;
	for (uint64_t i = from; i < to; i++) {
		uint64_t block = passed->block[i % LOCI_PASSED];
		uint64_t at = block * UINT64_C(0x9e3779b97f4a7c15) >> shift;

		while (passed->slot[at] && passed->block[passed->slot[at] - 1] != block)
			at = (at + 1) % slots;
		if (passed->slot[at] || block == except)
			continue;
		passed->slot[at] = (uint16_t)(i % LOCI_PASSED + 1);
		distinct++;
	}
	return distinct + 1;
}

#endif
