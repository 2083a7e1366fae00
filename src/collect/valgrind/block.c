// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/block.h"
#include "collect/valgrind/out.h"

/* Raw words of DEFINE before the references. */
#define DEFINE_HEADER 2

struct superblock {
	struct superblock *next; /* these two as VG_(HT_*) wants them */
	UWord address;
	struct block *first;
};

static struct {
	VgHashTable *superblocks;
	struct block *lasting;
	uint64_t n_ids; /* never used twice */
	struct superblock *open;
	struct block *last; /* of the open one */
	UInt cap;           /* references that there is room for in it */
} blocks;

void block_init(void)
{
	blocks.superblocks = VG_(HT_construct)("loci.superblocks");
}

void block_superblock_begin(Addr address)
{
	blocks.open = VG_(malloc)("loci.superblock", sizeof(*blocks.open));
	blocks.open->address = address;
	blocks.open->first = NULL;
	blocks.last = NULL;
}

static struct block *block_new(Addr code, UInt module, UInt flags, UInt cap)
{
	struct block *block = VG_(malloc)("loci.block", sizeof(*block));

	block->next = NULL;
	block->id = ++blocks.n_ids;
	block->module = module;
	block->flags = flags;
	block->code = code;
	block->end = code;
	block->n_refs = 0;
	block->refs = VG_(malloc)("loci.refs", cap * sizeof(*block->refs));
	return block;
}

uint64_t block_begin(Addr code, UInt module, UInt flags)
{
	struct block *block;

	blocks.cap = 8;
	block = block_new(code, module, flags, blocks.cap);
	if (blocks.last)
		blocks.last->next = block;
	else
		blocks.open->first = block;
	blocks.last = block;
	return block->id;
}

void block_add_ref(uint64_t descriptor, Addr site)
{
	struct block *block = blocks.last;

	if (block->n_refs == blocks.cap) {
		blocks.cap *= 2;
		block->refs =
			VG_(realloc)("loci.refs", block->refs, blocks.cap * sizeof(*block->refs));
	}
	block->refs[block->n_refs].descriptor = descriptor;
	block->refs[block->n_refs++].site = site;
}

static void tell(const struct block *block)
{
	UInt done = 0;

	do {
		UInt header = done ? 0 : DEFINE_HEADER;
		UInt n = (LOCI_RAW_MAX - header) / 2, i;
		uint64_t *at;

		if (n > block->n_refs - done)
			n = block->n_refs - done;
		at = out_reserve(1 + header + 2 * n);
		*at++ = loci_mark_word(
			done ? LOCI_MARK_DEFINE_MORE : LOCI_MARK_DEFINE, header + 2 * n, block->id);
		if (!done) {
			*at++ = (uint64_t)block->module << 32 | block->flags;
			*at++ = block->code;
		}
		for (i = 0; i < n; i++) {
			*at++ = block->refs[done + i].descriptor;
			*at++ = block->refs[done + i].site;
		}
		out_commit(at);
		done += n;
	} while (done < block->n_refs);
}

static void tell_list(const struct block *block)
{
	for (; block; block = block->next)
		tell(block);
}

static void free_superblock(struct superblock *superblock)
{
	struct block *block = superblock->first, *next;

	for (; block; block = next) {
		next = block->next;
		VG_(free)(block->refs);
		VG_(free)(block);
	}
	VG_(free)(superblock);
}

void block_superblock_end(Addr code_end)
{
	struct block *block;

	for (block = blocks.open->first; block; block = block->next)
		block->end = code_end;
	tell_list(blocks.open->first);
	if (blocks.open->first)
		VG_(HT_add_node)(blocks.superblocks, blocks.open);
	else
		free_superblock(blocks.open);
	blocks.open = NULL;
}

uint64_t block_lasting(Addr code, UInt module, UInt flags, uint64_t descriptor, Addr site)
{
	struct block *block = block_new(code, module, flags, 1);

	block->refs[block->n_refs].descriptor = descriptor;
	block->refs[block->n_refs++].site = site;
	block->next = blocks.lasting;
	blocks.lasting = block;
	tell(block);
	return block->id;
}

void block_discard(Addr address, VexGuestExtents extents)
{
	struct superblock *superblock = VG_(HT_remove)(blocks.superblocks, address);
	const struct block *block;

	(void)extents;
	if (!superblock)
		return;
	for (block = superblock->first; block; block = block->next)
		out_mark(LOCI_MARK_UNDEFINE, block->id, 0, NULL);
	free_superblock(superblock);
}

void block_tell_all(void)
{
	const struct superblock *superblock;

	tell_list(blocks.lasting);
	VG_(HT_ResetIter)(blocks.superblocks);
	while ((superblock = VG_(HT_Next)(blocks.superblocks)))
		tell_list(superblock->first);
}

const struct block *block_find(uint64_t id)
{
	const struct superblock *superblock;
	const struct block *block;

	VG_(HT_ResetIter)(blocks.superblocks);
	while ((superblock = VG_(HT_Next)(blocks.superblocks)))
		for (block = superblock->first; block; block = block->next)
			if (block->id == id)
				return block;
	return NULL;
}
