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
/* A load that may have been a return. */
int loci_flow_return(struct loci_attribution *a, uint64_t address, struct loci_err *err);

static inline bool loci_flow_in_kernel(const struct loci_attribution *a, uint32_t definition)
{
	return a->code.blocks[a->code.block[definition]].flags & LOCI_CODE_KERNEL;
}

/* Whether nothing need be done before a special reference, or has been. */
static inline bool loci_flow_passes(struct loci_attribution *a, unsigned kind, uint32_t definition)
{
	const struct loci_code_block *block = &a->code.blocks[a->code.block[definition]];

	return (kind & LOCI_CODE_SPECIAL) == LOCI_CODE_FIRST && !block->flags && a->flow &&
		loci_walk_passes(&a->walk, block);
}

/* The last reference seen was of this definition. */
static inline void loci_flow_leave(struct loci_attribution *a, uint32_t definition)
{
	a->walk.level->last = definition;
	if (!(a->code.blocks[a->code.block[definition]].flags & LOCI_CODE_OUTSIDE))
		a->walk.frame->last = a->code.address[definition];
}

/* After the last reference of a run. */
static inline int loci_flow_end(struct loci_attribution *a, uint32_t definition, uint64_t address,
	uint64_t references, struct loci_err *err)
{
	a->here.refs += references;
	if (loci_flow_in_kernel(a, definition))
		return 0;
	loci_flow_leave(a, definition);
	if (!(a->code.ref[definition].kind & LOCI_CODE_RETURN) || address < a->walk.base[1] ||
		!a->walk.level->shadow.n)
		return 0;
	return loci_flow_return(a, address, err);
}

#endif
