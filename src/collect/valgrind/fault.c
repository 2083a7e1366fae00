// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/fault.h"
#include "collect/valgrind/block.h"
#include "collect/valgrind/out.h"

static Bool is_block(uint64_t word)
{
	return loci_word_is_marker(word) && loci_word_kind(word) == LOCI_MARK_BLOCK;
}

/* The block begun last before head, and how many of its words follow; a superblock and what it
 * committed so far lie in one chunk. */
static const struct block *latest_block(uint64_t head, UInt *ret_done)
{
	uint64_t at = out_chunk_start(), id = 0;
	UInt n = 0;

	while (at < head) {
		uint64_t word = *out_word(at);

		if (is_block(word)) {
			id = loci_word_payload(word);
			n = 0;
		} else if (!loci_word_is_marker(word)) {
			n++;
		}
		at += 1 + (loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);
	}
	*ret_done = n;
	return id ? block_find(id) : NULL;
}

static Bool covers(const struct block *block, Addr address)
{
	return block && block->code <= address && address < block->end;
}

/* How many of the block's references, from the given one on, stand before the address. */
static UInt count_before(const struct block *block, UInt from, Addr address)
{
	UInt n = from;

	while (n < block->n_refs && block->refs[n].site < address)
		n++;
	return n > from ? n - from : 0;
}

void fault_commit(ThreadId tid)
{
	Addr address = VG_(get_IP)(tid);
	uint64_t head = out_head();
	UInt done = 0, n;
	const struct block *block;

	if (out_is_quiet())
		return;
	/* The superblock's first words are still to be committed, or an exit that was not taken did
	 * so with some. */
	block = is_block(*out_word(head)) ? block_find(loci_word_payload(*out_word(head))) : NULL;
	if (covers(block, address)) {
		n = count_before(block, 0, address);
		head += n ? 1 + n : 0;
	} else {
		block = latest_block(head, &done);
		if (!covers(block, address) || done > block->n_refs)
			return;
		head += count_before(block, done, address);
	}
	/* Blocks after a guarded access, whose own word may be missing. */
	while (head != out_head() && block->next && block->next->n_refs &&
		block->next->refs[0].site < address) {
		block = block->next;
		if (*out_word(head - 1) == loci_mark_word(LOCI_MARK_BLOCK, 0, block->id))
			head--;
		else if (*out_word(head) != loci_mark_word(LOCI_MARK_BLOCK, 0, block->id))
			break;
		head += 1 + count_before(block, 0, address);
	}
	out_reserve(0);
	out_commit(out_word(head));
}
