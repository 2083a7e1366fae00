/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block definitions of a stream. References of all definitions stand in one array, those of a
 * block next to each other, and keep their place for ever, so that a number names one; a block that
 * is defined anew gets new numbers.
 *
 * Blocks are found through a table indexed by id, and a map for ids beyond it: a malformed stream
 * cannot make memory grow faster than by a constant times its own length (and that table). */
#ifndef LOCI_STREAM_DEFINITION_H
#define LOCI_STREAM_DEFINITION_H

#include "base/err.h"
#include "stream/idmap.h"
#include "stream/stream.h"

#include <stdbool.h>

#define LOCI_DEFINITION_DIRECT (1u << 22) /* ids below this are looked up in a table */

/* What a definition says of a reference, apart from its site. */
struct loci_ref_kind {
	uint32_t size_bytes;
	uint16_t flags;
	uint8_t op;
	uint8_t n_words; /* 1, or 2 for a range */
};

/* A block; all zeros, as a fresh table is, where it is not defined. */
struct loci_block {
	uint32_t first; /* number of its first reference */
	uint32_t n_refs;
	uint32_t n_words;    /* of one execution */
	uint32_t definition; /* number of its definition, plus one */
};

struct loci_definition {
	uint64_t id;
	uint64_t code_address;
	uint32_t module;
	uint32_t flags; /* enum loci_block_flag */
	uint32_t first;
};

struct loci_ref_origin {
	uint64_t site;
	uint32_t definition;
	uint32_t words_before; /* of the block, in one execution */
};

struct loci_definitions {
	struct loci_block *direct; /* by id */
	size_t n_direct;
	struct loci_block *sparse; /* by number in sparse_ids */
	size_t n_sparse, sparse_cap;
	struct loci_idmap sparse_ids;
	struct loci_ref_kind *kind; /* by reference */
	struct loci_ref_origin *origin;
	size_t n_refs, ref_cap;
	struct loci_definition *definition;
	size_t n_definitions, definition_cap;
	uint64_t open;    /* id that DEFINE_MORE may extend, or UINT64_MAX */
	uint64_t changes; /* of blocks, so far */
};

extern const struct loci_block loci_block_undefined;

static inline bool loci_block_is_defined(const struct loci_block *block)
{
	return block->definition != 0;
}

void loci_definitions_init(struct loci_definitions *defs);
void loci_definitions_fini(struct loci_definitions *defs);

/* The current definition of a block, or loci_block_undefined. Good until the next apply. */
static inline const struct loci_block *loci_definitions_find(
	const struct loci_definitions *defs, uint64_t id)
{
	uint32_t i;

	if (id < defs->n_direct)
		return &defs->direct[id];
	i = loci_idmap_get(&defs->sparse_ids, id);
	return i == LOCI_IDMAP_NONE ? &loci_block_undefined : &defs->sparse[i];
}

/* Whether a DEFINE with its raw words says of a block what is known of it. */
bool loci_definitions_agree(
	const struct loci_definitions *defs, uint64_t marker, const uint64_t *raw);

/* DEFINE, DEFINE_MORE or UNDEFINE with its raw words. Returns 1 when the block is not what it was,
 * 0 when nothing changed, -EBADMSG with err filled when the marker is malformed. */
int loci_definitions_apply(
	struct loci_definitions *defs, uint64_t marker, const uint64_t *raw, struct loci_err *err);

#endif
