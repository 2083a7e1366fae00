/* SPDX-License-Identifier: GPL-2.0-or-later */
/* References as stream words. Every distinct (access, size) is one block of one reference, or of a
 * load and a store for a modify, defined in the stream when first met; as long as the same one
 * repeats only addresses follow. */
#ifndef LOCI_IMPORT_EMITTER_H
#define LOCI_IMPORT_EMITTER_H

#include "stream/stream.h"

#include <stdbool.h>

/* The first three are also the enum loci_op they stand for. */
enum loci_access {
	LOCI_ACCESS_LOAD,
	LOCI_ACCESS_STORE,
	LOCI_ACCESS_FETCH,
	LOCI_ACCESS_MODIFY,
	LOCI_ACCESSES
};

#define LOCI_EMIT_MAX   32         /* words one call may write, and more */
#define LOCI_EMIT_SMALL 1024       /* sizes below are found by index, others by search */
#define LOCI_SIZE_LIMIT (1u << 31) /* sizes must be less */

struct loci_emitter_large; /* a hash table's entry */

struct loci_emitter {
	uint64_t current; /* the BLOCK in effect, 0: none */
	uint64_t small[LOCI_ACCESSES]
		      [LOCI_EMIT_SMALL]; /* BLOCK by access and size; 0: not defined */
	struct loci_emitter_large *large;
	uint32_t n_large, large_cap;
	uint32_t n_blocks;
	/* What a person should hear at the end. */
	uint64_t n_empty;      /* accesses of size 0, given as 1 */
	uint64_t n_huge;       /* objects of LOCI_SIZE_LIMIT or more, given as one less */
	uint64_t n_left_out;   /* records that are no references */
	uint64_t n_unknown_op; /* operations nobody knows, given as loads */
};

void loci_emitter_fini(struct loci_emitter *emitter);

/* All sizes, all addresses. NULL when out of memory. size_bytes is less than LOCI_SIZE_LIMIT; 0
 * counts as 1. */
uint64_t *loci_emit_any(struct loci_emitter *emitter, uint64_t *out, uint64_t address,
	uint32_t size_bytes, enum loci_access access);

/* What follows belongs to another thread. */
static inline uint64_t *loci_emit_switch(
	struct loci_emitter *emitter, uint64_t *out, uint32_t thread)
{
	emitter->current = 0;
	*out++ = loci_mark_word(LOCI_MARK_SWITCH, 0, thread);
	return out;
}

/* Writes what is written most of the time without a branch that depends on the data. */
static inline uint64_t *loci_emit(struct loci_emitter *emitter, uint64_t *out, uint64_t address,
	uint32_t size_bytes, enum loci_access access)
{
	uint64_t block = size_bytes < LOCI_EMIT_SMALL ? emitter->small[access][size_bytes] : 0;

	if (__builtin_expect(!block || address >> 63, 0))
		return loci_emit_any(emitter, out, address, size_bytes, access);
	*out = block;
	out += block != emitter->current;
	emitter->current = block;
	out[0] = out[1] = address;
	return out + 1 + (access == LOCI_ACCESS_MODIFY);
}

#endif
