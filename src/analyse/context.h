/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calling context tree of one process. A node is a function called from a place in its parent.
 *
 * Recursion is folded: a call that is among its own last callers already is that caller's node, and
 * so is, from a function's third place among them on, any call of it, or else one that calls itself
 * from k places would have a node for every order of these. */
#ifndef LOCI_ANALYSE_CONTEXT_H
#define LOCI_ANALYSE_CONTEXT_H

#include "analyse/keymap.h"
#include "engine/recent.h"

#include <stdbool.h>
#include <stddef.h>

#define LOCI_CONTEXT_ROOT  0u /* where no frame is known */
#define LOCI_CONTEXT_BITS  17
#define LOCI_CONTEXT_DEPTH 200 /* deeper ones are their caller's */
#define LOCI_CONTEXT_FOLD  64  /* callers looked at */

struct loci_context {
	uint32_t parent;
	uint32_t entry, call; /* sites: the function's first, and where it was called from */
	uint32_t depth;
	uint64_t refs;              /* its own */
	uint64_t near[LOCI_RECENT]; /* as a row's */
};

struct loci_contexts {
	struct loci_context *node;
	size_t n, cap;
	struct loci_keymap ids;
	bool full; /* some contexts are counted with their callers' */
};

int loci_contexts_init(struct loci_contexts *contexts); /* 0 or -ENOMEM, as all below */
void loci_contexts_fini(struct loci_contexts *contexts);
int loci_contexts_child(struct loci_contexts *contexts, uint32_t parent, uint32_t entry,
	uint32_t call, uint32_t *ret);
/* Where two contexts' ways to the root meet. */
uint32_t loci_contexts_common(const struct loci_contexts *contexts, uint32_t a, uint32_t b);

#endif
