/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns of loops as most are, for who sees many of them between two touches that are told: what is
 * pushed and popped in between nobody hears of. */
#ifndef LOCI_ANALYSE_WALK_QUICK_H
#define LOCI_ANALYSE_WALK_QUICK_H

#include "analyse/batch.h"

#define LOCI_QUICK static inline __attribute__((always_inline))

/* Of the stack of running loops. */
struct loci_walk_untold {
	size_t told;  /* its length when it was last told */
	size_t kept;  /* so many of these entries are the same still */
	size_t limit; /* of its length: no room for more, or more than may be told at once */
};

LOCI_QUICK struct loci_walk_untold loci_walk_all_told(const struct loci_walk *walk)
{
	size_t n = walk->level->n_loops, cap = walk->level->loop_cap;

	return (struct loci_walk_untold){ n, n,
		n + LOCI_LOOP_DEPTH < cap ? n + LOCI_LOOP_DEPTH : cap };
}

LOCI_QUICK bool loci_walk_is_told(
	const struct loci_walk *walk, const struct loci_walk_untold *untold)
{
	return untold->kept == untold->told && walk->level->n_loops == untold->told;
}

/* The header of a loop within the innermost one, or the frame's first. */
LOCI_QUICK bool loci_walk_enter_quickly(struct loci_walk *walk, uint32_t number, uint64_t address,
	const struct loci_walk_untold *untold, uint64_t *use)
{
	struct loci_walk_level *level = walk->level;
	size_t n = level->n_loops;
	struct loci_loop_entry *top = level->loop + n;
	const struct loci_loop *loop = &walk->loop[number];

	if (address <= walk->loop_begin || address > walk->loop_end || n >= untold->limit)
		return false;
	*use += 1ull << LOCI_USE_CLOCK;
	top->time = ++walk->clock;
	top->loop = number;
	top->address = walk->loop_begin = address;
	top->end = walk->loop_end = loop->end;
	level->n_loops = n + 1;
	walk->innermost = loop->proven ? number : LOCI_NO_LOOP;
	return true;
}

/* The header of the loop around the innermost one, from within this. */
LOCI_QUICK bool loci_walk_repeat_quickly(struct loci_walk *walk, uint32_t number, uint64_t address,
	uint64_t last, struct loci_walk_untold *untold)
{
	struct loci_walk_level *level = walk->level;
	size_t n = level->n_loops - 1;
	struct loci_loop *loop = &walk->loop[number];
	struct loci_loop_entry *entry;

	if (level->n_loops < walk->frame->loops + 2ull || address >= walk->loop_begin)
		return false;
	entry = &level->loop[n - 1];
	if (entry->loop != number || !loop->proven)
		return false;
	level->n_loops = n;
	if (__builtin_expect(untold->kept > n, 0)) {
		untold->kept = n;
		if (untold->limit > n + LOCI_LOOP_DEPTH)
			untold->limit = n + LOCI_LOOP_DEPTH;
	}
	loop->iterations++;
	if (loop->end < last)
		loop->end = last;
	walk->loop_begin = address;
	walk->loop_end = entry->end = loop->end;
	walk->innermost = number;
	return true;
}

/* Whether the innermost loop begins again, and nothing else. */
LOCI_QUICK bool loci_walk_again_quickly(struct loci_walk *walk, uint32_t number, uint64_t last)
{
	struct loci_loop *loop = &walk->loop[number];

	if (number != walk->innermost || last > walk->loop_end || loop->end != walk->loop_end)
		return false;
	loop->iterations++;
	return true;
}

/* A block of the top frame's function, without flags, starts after the instruction at last, which
 * is another: what loci_walk_passes and loci_walk_turn_plainly do, but for telling it. False:
 * nothing was done. A loop entered is time that goes on, also in *use. may_be_fixed: its loops may
 * be known. */
LOCI_QUICK bool loci_walk_turn_quickly(struct loci_walk *walk, const struct loci_code_block *block,
	uint64_t last, bool may_be_fixed, struct loci_walk_untold *untold, uint64_t *use)
{
	uint64_t address = block->address;
	uint32_t number = block->loop;

	if (may_be_fixed && !walk->learns) {
		if (number != walk->innermost)
			return false;
		walk->loop[number].iterations += address <= last;
		return true;
	}
	if (!number)
		return address > last && address <= walk->loop_end;
	if (address > last)
		return loci_walk_enter_quickly(walk, number, address, untold, use);
	if (address == last)
		return false;
	return loci_walk_again_quickly(walk, number, last) ||
		loci_walk_repeat_quickly(walk, number, address, last, untold);
}

#endif
