/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which blocks are in the top of the per-set engine, and who is more recent. Included by the
 * kernels. Blocks of the same hash are a list, so that one that is not in the top is known at once.
 */
#ifndef LOCI_ENGINE_SETS_TOP_H
#define LOCI_ENGINE_SETS_TOP_H

#include "engine/ranks.h"
#include "engine/sets_state.h"

static inline unsigned top_hash(uint64_t block)
{
	return (unsigned)(block * 0x9e3779b97f4a7c15u >> (64 - SETS_HINT_BITS));
}

static inline void top_unlink(struct sets_top *top, unsigned place)
{
	uint8_t *link = &top->hint[top_hash(top->block[place])];

	while (__builtin_expect(*link != place, 0))
		link = &top->next[*link];
	*link = top->next[place];
}

static inline void top_link(struct sets_top *top, unsigned place, uint64_t block)
{
	uint8_t *link = &top->hint[top_hash(block)];

	top->next[place] = *link;
	*link = (uint8_t)place;
	top->block[place] = block;
}

static inline unsigned top_find(const struct sets_top *top, uint64_t block)
{
	unsigned place = top->hint[top_hash(block)];

	while (top->block[place] != block && place != SETS_NOBODY)
		place = top->next[place];
	return place;
}

#endif
