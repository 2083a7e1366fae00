/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of blocks: which were touched since one sample, however long that is ago (passed.h has the
 * last some thousand touches of all samples). Blocks that are neighbours share a slot, so that a
 * sweep over megabytes takes little room.
 *
 * Freestanding C: part of what ends up in users' programs. */
#ifndef LOCI_COLLECT_RUNTIME_FAR_BLOCKS_H
#define LOCI_COLLECT_RUNTIME_FAR_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define LOCI_FAR_SLOTS    (1u << 17) /* 2 MiB, of which what is used is there */
#define LOCI_FAR_TOGETHER 16         /* slots of neighbours that are neighbours, too */

struct loci_far_slot {
	uint64_t number; /* of 64 blocks, and 1; 0: free */
	uint64_t blocks; /* a bit each */
};

/* All zero to begin with. */
struct loci_far_blocks {
	uint64_t n; /* blocks */
	uint64_t n_slots;
	struct loci_far_slot slot[LOCI_FAR_SLOTS];
};

/* Of 64 blocks; NULL: there is no room. */
static inline struct loci_far_slot *loci_far_slot(struct loci_far_blocks *far, uint64_t number)
{
	uint64_t at = number / LOCI_FAR_TOGETHER * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (at = at * LOCI_FAR_TOGETHER + number % LOCI_FAR_TOGETHER;; at++) {
		struct loci_far_slot *slot = &far->slot[at % LOCI_FAR_SLOTS];

		if (slot->number == number + 1)
			return slot;
		if (slot->number)
			continue;
		if (far->n_slots >= LOCI_FAR_SLOTS / 4 * 3)
			return NULL;
		far->n_slots++;
		slot->number = number + 1;
		return slot;
	}
}

/* So many blocks, one after the other. False: there is no room for all. */
static inline bool loci_far_add(struct loci_far_blocks *far, uint64_t first, uint64_t n)
{
	while (n) {
		uint64_t here = 64 - first % 64 < n ? 64 - first % 64 : n;
		uint64_t blocks = (here == 64 ? UINT64_MAX : (UINT64_C(1) << here) - 1)
			<< first % 64;
		struct loci_far_slot *slot = loci_far_slot(far, first / 64);

		if (!slot)
			return false;
		if (blocks & ~slot->blocks) {
			far->n += (uint64_t)__builtin_popcountll(blocks & ~slot->blocks);
			slot->blocks |= blocks;
		}
		first += here;
		n -= here;
	}
	return true;
}

#endif
