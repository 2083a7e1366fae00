/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the stream was told about the code: the blocks of every superblock that is translated now.
 * They are kept, because a child's stream begins with them, and because a fault in the middle of a
 * superblock must be counted up to its instruction. */
#ifndef LOCI_COLLECT_VALGRIND_BLOCK_H
#define LOCI_COLLECT_VALGRIND_BLOCK_H

#include "collect/valgrind/core.h"
#include "stream/stream.h"

struct block_ref {
	uint64_t descriptor; /* loci_ref_word */
	Addr site;
};

struct block {
	struct block *next; /* of the superblock */
	uint64_t id;
	UInt module;
	UInt flags; /* enum loci_block_flag */
	Addr code;
	Addr end; /* of the superblock's code */
	UInt n_refs;
	struct block_ref *refs;
};

void block_init(void);

/* One superblock at a time is put together, and told to the stream at its end. The address is the
 * one that block_discard will be called with. */
void block_superblock_begin(Addr address);
uint64_t block_begin(Addr code, UInt module, UInt flags);
void block_add_ref(uint64_t descriptor, Addr site);
void block_superblock_end(Addr code_end);

/* A block that belongs to no superblock and is never discarded. */
uint64_t block_lasting(Addr code, UInt module, UInt flags, uint64_t descriptor, Addr site);

void block_discard(Addr address, VexGuestExtents extents);
/* Tells a new stream of all that exist. */
void block_tell_all(void);
/* NULL if it is not there. */
const struct block *block_find(uint64_t id);

#endif
