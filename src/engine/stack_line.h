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

/* The set bits after a slot in its line, from where it is cleared. */
INLINE uint64_t kernel_take_bit(struct loci_stack_slots *slots, uint32_t slot)
{
	unsigned word = slot >> 6 & 7;
	uint64_t *l = slots->line[slot >> 9].word, counts = l[0], bits = l[word];

	l[0] = counts - kernel_words_before[word];
	l[word] = bits & ~(1ull << (slot & 63));
	return kernel_popcount(bits >> 1 >> (slot & 63)) + (counts >> (9 * (word - 1)) & 511);
}

/* So many less in a line that is counted in the levels. */
INLINE void kernel_lower(struct loci_stack_slots *slots, uint32_t line, uint32_t n)
{
	uint32_t group = line / LOCI_STACK_NEAR;

	kernel_lower_near(slots->near, line, n);
	for (unsigned i = 0, n_far = slots->n_far; i < n_far; i++) {
		kernel_lower_far(slots->far[i], group, n);
		group /= LOCI_STACK_FAR;
	}
}

/* The set bits in the lines after one, but for the open line. */
INLINE uint64_t kernel_after_line(const struct loci_stack_slots *slots, uint32_t line)
{
	uint32_t group = line / LOCI_STACK_NEAR;
	uint64_t after = slots->near[line];

	for (unsigned i = 0, n_far = slots->n_far; i < n_far; i++) {
		after += slots->far[i][group];
		group /= LOCI_STACK_FAR;
	}
	return after;
}

/* The same, of a line that has one less from here on. */
INLINE uint64_t kernel_take_of_line(struct loci_stack_slots *slots, uint32_t line)
{
	uint32_t group = line / LOCI_STACK_NEAR;
	uint64_t after = slots->near[line];

	kernel_lower_near(slots->near, line, 1);
	for (unsigned i = 0, n_far = slots->n_far; i < n_far; i++) {
		after += slots->far[i][group];
		kernel_lower_far(slots->far[i], group, 1);
		group /= LOCI_STACK_FAR;
	}
	return after;
}

/* The set bits after a slot, which is cleared. */
INLINE uint64_t kernel_take_slot(struct loci_stack_slots *slots, uint32_t slot)
{
	uint32_t line = slot >> 9;
	uint64_t after = kernel_take_bit(slots, slot);

	if (line == slots->open) {
		slots->open_live--;
		return after;
	}
	return after + slots->open_live + kernel_take_of_line(slots, line);
}

/* Tells the levels what they do not know of. */
static __attribute__((noinline, unused)) void kernel_lift_finger(struct loci_stack_slots *slots)
{
	struct loci_stack_finger *finger = &slots->finger;

	if (finger->n_taken)
		kernel_lower(slots, finger->line, finger->n_taken);
	finger->n_takes += finger->n_taken;
	finger->n_taken = 0;
	finger->line = LOCI_STACK_NO_LINE;
}

static __attribute__((noinline, unused)) void kernel_move_finger(
	struct loci_stack_slots *slots, uint32_t line)
{
	struct loci_stack_finger *finger = &slots->finger;

	kernel_lift_finger(slots);
	finger->n_moves++;
	finger->line = line;
	finger->after = kernel_after_line(slots, line);
}

/* As kernel_take_slot, but for the finger. */
INLINE uint64_t kernel_take_by_finger(struct loci_stack_slots *slots, uint32_t slot)
{
	struct loci_stack_finger *finger = &slots->finger;
	uint32_t line = slot >> 9;
	uint64_t after = kernel_take_bit(slots, slot);

	if (line == slots->open) {
		slots->open_live--;
		return after;
	}
	if (__builtin_expect(line != finger->line, 0))
		kernel_move_finger(slots, line);
	finger->n_taken++;
	return after + slots->open_live + finger->after;
}

/* At the end of a chunk: the next ones shall do without if it moved too often. */
INLINE void kernel_rest_finger(struct loci_stack_slots *slots)
{
	struct loci_stack_finger *finger = &slots->finger;

	kernel_lift_finger(slots);
	if (finger->n_moves * LOCI_STACK_FINGER_TAKES > finger->n_takes)
		finger->rest = LOCI_STACK_FINGER_REST;
	finger->n_moves = finger->n_takes = 0;
}

/* The next slot, for the block that leaves the top. */
INLINE uint32_t kernel_new_slot(struct loci_stack_slots *slots, bool by_finger)
{
	uint32_t slot = slots->next++;
	uint64_t *l = slots->line[slot >> 9].word;

	l[0] += kernel_words_before[slot >> 6 & 7];
	l[slot >> 6 & 7] |= 1ull << (slot & 63);
	slots->open_live++;
	if (__builtin_expect((slot & 511) == 511, 0)) {
		if (by_finger)
			kernel_lift_finger(slots);
		loci_stack_slots_close_line(slots);
	}
	return slot;
}

#endif
