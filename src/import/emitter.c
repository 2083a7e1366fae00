// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/emitter.h"

#include <stdlib.h>

struct loci_emitter_large {
	uint64_t block; /* its BLOCK word, 0: free */
	uint32_t size_bytes;
	uint32_t access;
};

void loci_emitter_fini(struct loci_emitter *emitter)
{
	free(emitter->large);
	emitter->large = NULL;
}

static struct loci_emitter_large *find(struct loci_emitter_large *table, uint32_t cap,
	uint32_t size_bytes, enum loci_access access)
{
	uint64_t hash = (size_bytes * 4ull + access) * 0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)(hash >> 32) & (cap - 1);

	while (table[at].block &&
		(table[at].size_bytes != size_bytes || table[at].access != (uint32_t)access))
		at = (at + 1) & (cap - 1);
	return &table[at];
}

/* Keeps the table at most half full. */
static bool grow(struct loci_emitter *emitter)
{
	uint32_t cap = emitter->large_cap ? 2 * emitter->large_cap : 256;
	struct loci_emitter_large *table;

	if (2 * (emitter->n_large + 1) <= emitter->large_cap)
		return true;
	table = calloc(cap, sizeof(*table));
	if (!table)
		return false;
	for (uint32_t i = 0; i < emitter->large_cap; i++) {
		const struct loci_emitter_large *old = &emitter->large[i];

		if (old->block)
			*find(table, cap, old->size_bytes, old->access) = *old;
	}
	free(emitter->large);
	emitter->large = table;
	emitter->large_cap = cap;
	return true;
}

static uint64_t *define(struct loci_emitter *emitter, uint64_t *out, uint32_t size_bytes,
	enum loci_access access, uint64_t *ret_block)
{
	static const struct {
		unsigned n_refs, flags;
		enum loci_op op[2];
	} shapes[LOCI_ACCESSES] = {
		[LOCI_ACCESS_LOAD] = { 1, 0, { LOCI_OP_LOAD } },
		[LOCI_ACCESS_STORE] = { 1, 0, { LOCI_OP_STORE } },
		[LOCI_ACCESS_FETCH] = { 1, 0, { LOCI_OP_FETCH } },
		[LOCI_ACCESS_MODIFY] = { 2, LOCI_REF_MODIFY, { LOCI_OP_LOAD, LOCI_OP_STORE } },
	};
	unsigned n = shapes[access].n_refs;
	uint32_t id = ++emitter->n_blocks;

	*out++ = loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * n, id);
	*out++ = 0; /* module, flags */
	*out++ = 0; /* code address */
	for (unsigned i = 0; i < n; i++) {
		*out++ = loci_ref_word(size_bytes, shapes[access].op[i], shapes[access].flags);
		*out++ = 0; /* site */
	}
	*ret_block = loci_mark_word(LOCI_MARK_BLOCK, 0, id);
	return out;
}

uint64_t *loci_emit_any(struct loci_emitter *emitter, uint64_t *out, uint64_t address,
	uint32_t size_bytes, enum loci_access access)
{
	unsigned n = access == LOCI_ACCESS_MODIFY ? 2 : 1;
	uint64_t *block;

	if (size_bytes == 0) {
		emitter->n_empty++;
		size_bytes = 1;
	}
	if (size_bytes < LOCI_EMIT_SMALL) {
		block = &emitter->small[access][size_bytes];
	} else {
		struct loci_emitter_large *entry;

		if (!grow(emitter))
			return NULL;
		entry = find(emitter->large, emitter->large_cap, size_bytes, access);
		if (!entry->block) {
			entry->size_bytes = size_bytes;
			entry->access = access;
			emitter->n_large++;
		}
		block = &entry->block;
	}
	if (!*block)
		out = define(emitter, out, size_bytes, access, block);
	if (*block != emitter->current)
		*out++ = emitter->current = *block;
	while (n--) {
		if (address >> 63)
			*out++ = loci_mark_word(LOCI_MARK_WIDE, 1, 0);
		*out++ = address;
	}
	return out;
}
