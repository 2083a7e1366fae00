/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns of loops as most are, for who sees many of them between two touches that are told: what is
 * pushed and popped in between nobody hears of. */
#ifndef LOCI_ANALYSE_WALK_QUICK_H
#define LOCI_ANALYSE_WALK_QUICK_H

#include "analyse/batch.h"

#define LOCI_QUICK static inline __attribute__((always_inline))

/* Of the stack of running loops. */
struct loci_walk_untold {
	size_t told; /* its length when it was last told */
	size_t kept; /* so many of these entries are the same still */
};

LOCI_QUICK struct loci_walk_untold loci_walk_all_told(const struct loci_walk *walk)
{
	return (struct loci_walk_untold){ walk->level->n_loops, walk->level->n_loops };
}

LOCI_QUICK bool loci_walk_is_told(const struct loci_walk *walk, struct loci_walk_untold untold)
{
	return untold.kept == untold.told && walk->level->n_loops == untold.told;
}

/* The header of a loop within the innermost one. What stands above the stack is often an earlier
 * entry of the same loop. */
LOCI_QUICK bool loci_walk_enter_quickly(struct loci_walk *walk, uint32_t number, uint64_t address,
	const struct loci_walk_untold *untold, uint64_t *use)
{
	struct loci_walk_level *level = walk->level;
	size_t n = level->n_loops;
	struct loci_loop_entry *top = level->loop + n;
	const struct loci_loop *loop = &walk->loop[number];

	if (n == level->loop_cap || n - untold->kept >= LOCI_LOOP_DEPTH ||
		(n > walk->frame->loops && (top[-1].address >= address || top[-1].end < address)))
		return false;
	top->time = ++walk->clock;
	*use += 1ull << LOCI_USE_CLOCK;
	if (top->loop != number || top->end != loop->end) {
		top->address = loop->address;
		top->end = loop->end;
		top->loop = number;
	}
	level->n_loops = n + 1;
	walk->loop_end = loop->end;
	walk->innermost = loop->proven ? number : LOCI_NO_LOOP;
	return true;
}

/* The header of the loop around the innermost one, from within this. */
LOCI_QUICK bool loci_walk_repeat_quickly(struct loci_walk *walk, uint32_t number, uint64_t address,
	uint64_t last, struct loci_walk_untold *untold)
{
	struct loci_walk_level *level = walk->level;
	size_t n = level->n_loops;
	struct loci_loop_entry *top = level->loop + n;
	struct loci_loop *loop = &walk->loop[number];

	if (n < walk->frame->loops + 2ull || top[-2].loop != number || top[-2].address != address ||
		top[-2].end < address || !loop->proven ||
		(top[-1].address <= address && top[-1].end >= address))
		return false;
	level->n_loops = --n;
	if (untold->kept > n)
		untold->kept = n;
	loop->iterations++;
	if (loop->end < last)
		loop->end = last;
	walk->loop_end = top[-2].end = loop->end;
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
 * nothing was done. A loop entered is time that goes on, also in *use. */
LOCI_QUICK bool loci_walk_turn_quickly(struct loci_walk *walk, const struct loci_code_block *block,
	uint64_t last, struct loci_walk_untold *untold, uint64_t *use)
{
	uint64_t address = block->address;
	uint32_t number = block->loop;

	if (!walk->learns) {
		if (number != walk->innermost)
			return false;
		walk->loop[number].iterations += address <= last;
		return true;
	}
	if (!number)
		return address > last && address <= walk->loop_end;
	if (address > last)
		return address >= walk->entry &&
			loci_walk_enter_quickly(walk, number, address, untold, use);
	if (address == last)
		return false;
	return loci_walk_again_quickly(walk, number, last) ||
		(address >= walk->entry &&
			loci_walk_repeat_quickly(walk, number, address, last, untold));
}

#endif
