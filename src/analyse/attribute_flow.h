/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where control goes between references. Most blocks only follow the one before, or start the
 * innermost loop's next iteration: that is inline. For the attribution's own files. */
#ifndef LOCI_ANALYSE_ATTRIBUTE_FLOW_H
#define LOCI_ANALYSE_ATTRIBUTE_FLOW_H

#include "analyse/attribute_touch.h"

/* Where the flow of control goes must be told before the next touch: makes room to tell it. */
int loci_flow_prepare(struct loci_attribution *a, struct loci_err *err);
/* The context, the thread or the time is another. */
void loci_flow_refresh(struct loci_attribution *a);
/* References counted so far go where they belong. */
void loci_flow_count(struct loci_attribution *a);

/* Before a reference whose kind is LOCI_CODE_SPECIAL. 1: it is none that counts. */
int loci_flow_special(
	struct loci_attribution *a, uint32_t definition, uint64_t address, struct loci_err *err);
/* The same where the reference begins a block of the top frame's function, which is no plain
 * successor. */
int loci_flow_turn(struct loci_attribution *a, struct loci_code_block *block, uint32_t definition,
	struct loci_err *err);
/* A load that may have been a return. */
int loci_flow_return(struct loci_attribution *a, uint64_t address, struct loci_err *err);

LOCI_HOT bool loci_flow_in_kernel(const struct loci_attribution *a, uint32_t definition)
{
	return a->code.blocks[a->code.block[definition]].flags & LOCI_CODE_KERNEL;
}

/* Before a special reference, which begins or stands in the block. As loci_flow_special. */
LOCI_HOT int loci_flow_start(struct loci_attribution *a, const struct loci_code_ref *ref,
	struct loci_code_block *block, uint32_t definition, uint64_t address, struct loci_err *err)
{
	if ((ref->kind & LOCI_CODE_SPECIAL) == LOCI_CODE_FIRST && !block->flags && a->flow &&
		block->function == a->walk.frame->function)
		return loci_walk_passes(&a->walk, block)
			? 0
			: loci_flow_turn(a, block, definition, err);
	return loci_flow_special(a, definition, address, err);
}

/* The last reference seen was this one. */
LOCI_HOT void loci_flow_leave(struct loci_attribution *a, const struct loci_code_ref *ref,
	const struct loci_code_block *block, uint32_t definition)
{
	a->walk.level->last = definition;
	if (__builtin_expect(!(block->flags & LOCI_CODE_OUTSIDE), 1))
		a->walk.frame->last = ref->address;
}

/* After the last reference of a run, which stands in the block. */
LOCI_HOT int loci_flow_end(struct loci_attribution *a, const struct loci_code_ref *ref,
	const struct loci_code_block *block, uint32_t definition, uint64_t address,
	struct loci_err *err)
{
	if (__builtin_expect(block->flags & LOCI_CODE_KERNEL, 0))
		return 0;
	loci_flow_leave(a, ref, block, definition);
	if (!(ref->kind & LOCI_CODE_RETURN) || address < a->walk.base[1] ||
		!a->walk.level->shadow.n)
		return 0;
	return loci_flow_return(a, address, err);
}

#endif
