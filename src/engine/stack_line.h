/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding an entry of the map, taking and giving slots: the parts of the stack kernel that other
 * engines' kernels are made of, too. Included by kernels only. */
#ifndef LOCI_ENGINE_STACK_LINE_H
#define LOCI_ENGINE_STACK_LINE_H

#include "engine/stack_vector.h"

#define INLINE static inline __attribute__((always_inline))

static const uint64_t kernel_words_before[8] = { 0, 0, 0x1, 0x201, 0x40201, 0x8040201, 0x1008040201,
	0x201008040201 };

/* The slot of the entry of a hash, or of the empty one where it belongs, from a bucket on. Entries
 * fill in order, and empty ones have the key 0; a block may have the hash 0 too, but is then the
 * first such. */
INLINE uint32_t *kernel_find(struct loci_stack_bucket *b, uint64_t hash)
{
	for (;; b++) {
		unsigned match = kernel_match(b, hash);

		if (__builtin_expect(match != 0, 1))
			return &b->slot[__builtin_ctz(match)];
		if (!b->slot[2])
			return loci_stack_first_empty(b);
	}
}

/* The set bits after a slot, which is cleared. */
INLINE uint64_t kernel_take_slot(struct loci_stack_slots *slots, uint32_t slot)
{
	uint32_t line = slot >> 9, group = line / LOCI_STACK_NEAR;
	unsigned word = slot >> 6 & 7;
	uint64_t *l = slots->line[line].word, counts = l[0], bits = l[word];
	uint64_t after =
		kernel_popcount(bits >> 1 >> (slot & 63)) + (counts >> (9 * (word - 1)) & 511);

	l[0] = counts - kernel_words_before[word];
	l[word] = bits & ~(1ull << (slot & 63));
	if (line == slots->open) {
		slots->open_live--;
		return after;
	}
	after += slots->open_live + slots->near[line];
	kernel_decrement_near(slots->near, line);
	for (unsigned i = 0, n = slots->n_far; i < n; i++) {
		uint32_t *far = slots->far[i];

		after += far[group];
		kernel_decrement_far(far, group);
		group /= LOCI_STACK_FAR;
	}
	return after;
}

/* The next slot, for the block that leaves the top. */
INLINE uint32_t kernel_new_slot(struct loci_stack_slots *slots)
{
	uint32_t slot = slots->next++;
	uint64_t *l = slots->line[slot >> 9].word;

	l[0] += kernel_words_before[slot >> 6 & 7];
	l[slot >> 6 & 7] |= 1ull << (slot & 63);
	slots->open_live++;
	if (__builtin_expect((slot & 511) == 511, 0))
		loci_stack_slots_close_line(slots);
	return slot;
}

#endif
