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

#define LOCI_FAR_SLOTS    (1u << 17) /* 2 MiB, .. */
#define LOCI_FAR_FIRST    (1u << 10) /* .. of which so many are used to begin with */
#define LOCI_FAR_TOGETHER 16         /* slots of neighbours that are neighbours, too */

struct loci_far_slot {
	uint64_t number; /* of 64 blocks, and 1; 0: free */
	uint64_t blocks; /* a bit each */
};

/* All zero to begin with. */
struct loci_far_blocks {
	uint64_t n; /* blocks */
	uint64_t n_slots;
	uint64_t doubled; /* so often: LOCI_FAR_FIRST << doubled slots are used */
	struct loci_far_slot slot[LOCI_FAR_SLOTS];
};

static inline uint64_t loci_far_used(const struct loci_far_blocks *far)
{
	return (uint64_t)LOCI_FAR_FIRST << far->doubled;
}

/* Where it is, or the free slot where it would be. */
static inline struct loci_far_slot *loci_far_seek(struct loci_far_blocks *far, uint64_t number)
{
	uint64_t at = number / LOCI_FAR_TOGETHER * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (at = at * LOCI_FAR_TOGETHER + number % LOCI_FAR_TOGETHER;; at++) {
		struct loci_far_slot *slot = &far->slot[at % loci_far_used(far)];

		if (!slot->number || slot->number == number + 1)
			return slot;
	}
}

/* Twice as many slots. From behind a free one on each that is taken out finds its place in those
 * that it stood behind, in its own, or as far on in the other half, and none in between is taken
 * out later. */
static inline void loci_far_double(struct loci_far_blocks *far)
{
	uint64_t used = loci_far_used(far), first = 0;

	while (far->slot[first].number)
		first++;
	far->doubled++;
	for (uint64_t i = 1; i < used; i++) {
		struct loci_far_slot *slot = &far->slot[(first + i) % used];
		struct loci_far_slot its = *slot;

		slot->number = slot->blocks = 0;
		if (its.number)
			*loci_far_seek(far, its.number - 1) = its;
	}
}

/* Of 64 blocks; NULL: there is no room. */
static inline struct loci_far_slot *loci_far_slot(struct loci_far_blocks *far, uint64_t number)
{
	struct loci_far_slot *slot = loci_far_seek(far, number);

	if (slot->number)
		return slot;
	if (far->n_slots >= LOCI_FAR_SLOTS / 4 * 3)
		return NULL;
	if (far->n_slots >= loci_far_used(far) / 4 * 3) {
		loci_far_double(far);
		slot = loci_far_seek(far, number);
	}
	far->n_slots++;
	slot->number = number + 1;
	return slot;
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
