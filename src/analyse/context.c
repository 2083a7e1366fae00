// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/context.h"

#include "analyse/grow.h"

int loci_contexts_init(struct loci_contexts *contexts)
{
	*contexts = (struct loci_contexts){ .n = 1 };
	return loci_grow(&contexts->node, &contexts->cap, 1, sizeof(*contexts->node));
}

void loci_contexts_fini(struct loci_contexts *contexts)
{
	free(contexts->node);
	loci_keymap_fini(&contexts->ids);
	*contexts = (struct loci_contexts){ 0 };
}

/* The caller among the last ones that this call repeats, or LOCI_KEYMAP_NONE: the same call, or, of
 * a function that is there twice already, the nearer one. */
static uint32_t repeated(
	const struct loci_contexts *contexts, uint32_t parent, uint32_t entry, uint32_t call)
{
	uint32_t nearest = LOCI_KEYMAP_NONE;
	unsigned n = 0;

	for (unsigned i = 0; i < LOCI_CONTEXT_FOLD && parent != LOCI_CONTEXT_ROOT; i++) {
		const struct loci_context *node = &contexts->node[parent];

		if (node->entry == entry) {
			if (node->call == call)
				return parent;
			if (!n++)
				nearest = parent;
		}
		parent = node->parent;
	}
	return n >= 2 ? nearest : LOCI_KEYMAP_NONE;
}

int loci_contexts_child(struct loci_contexts *contexts, uint32_t parent, uint32_t entry,
	uint32_t call, uint32_t *ret)
{
	uint64_t key = (uint64_t)parent << 32 | entry;

	*ret = loci_keymap_get(&contexts->ids, key, call);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = repeated(contexts, parent, entry, call);
	if (*ret == LOCI_KEYMAP_NONE) {
		if (contexts->node[parent].depth == LOCI_CONTEXT_DEPTH ||
			contexts->n == (size_t)1 << LOCI_CONTEXT_BITS) {
			contexts->full = true;
			*ret = parent;
			return 0;
		}
		if (loci_grow(&contexts->node, &contexts->cap, contexts->n + 1,
			    sizeof(*contexts->node)) < 0)
			return -ENOMEM;
		*ret = (uint32_t)contexts->n;
		contexts->node[contexts->n++] = (struct loci_context){ .parent = parent,
			.entry = entry,
			.call = call,
			.depth = contexts->node[parent].depth + 1 };
	}
	return loci_keymap_put(&contexts->ids, key, call, *ret);
}

uint32_t loci_contexts_common(const struct loci_contexts *contexts, uint32_t a, uint32_t b)
{
	const struct loci_context *node = contexts->node;

	while (a != b)
		if (node[a].depth >= node[b].depth)
			a = node[a].parent;
		else
			b = node[b].parent;
	return a;
}
