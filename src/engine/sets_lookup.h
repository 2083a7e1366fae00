/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory of blocks that are not in the top, by sets of 2^16. Included by the kernels, which
 * define
 *
 *	match_words(word, wanted)	which of 64 equal wanted, as bits */
#ifndef LOCI_ENGINE_SETS_LOOKUP_H
#define LOCI_ENGINE_SETS_LOOKUP_H

#include "engine/sets_state.h"

#define SETS_RING (LOCI_SETS_WAYS - 1)

static inline void chunk_move(struct sets_chunk *chunk, unsigned to, unsigned from)
{
	chunk->middle[to] = chunk->middle[from];
	chunk->high[to] = chunk->high[from];
	chunk->dirty[to] = chunk->dirty[from];
}

/* Closes the gap from its nearer end. */
static inline void ring_close(
	struct sets_head *head, struct sets_chunk *chunk, unsigned slot, unsigned newer)
{
	unsigned older = head->n - 1u - newer;

	if (newer <= older) {
		for (; newer; newer--, slot++)
			chunk_move(chunk, slot & SETS_RING, (slot + 1) & SETS_RING);
	} else {
		for (; older; older--, slot--)
			chunk_move(chunk, slot & SETS_RING, (slot - 1) & SETS_RING);
		head->start = (head->start + 1) & SETS_RING;
	}
	head->n--;
}

static __attribute__((noinline)) bool ring_take(struct sets_head *head, struct sets_chunk *chunk,
	uint64_t block, sets_row *ret_dirty, unsigned *ret_position)
{
	uint64_t match = match_words(chunk->middle, (uint32_t)(block >> 16));

	for (; match; match &= match - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(match);
		unsigned age = (slot - head->start) & SETS_RING;

		if (age >= head->n || chunk->high[slot] != block >> 48)
			continue;
		*ret_dirty = chunk->dirty[slot];
		*ret_position = head->n - 1u - age;
		ring_close(head, chunk, slot, *ret_position);
		return true;
	}
	return false;
}

/* Removes a block, if it is there; gives its dirty levels, and how many blocks of its set are more
 * recent. */
static inline __attribute__((always_inline)) bool directory_take(struct sets_directory *directory,
	uint64_t block, sets_row *ret_dirty, unsigned *ret_position)
{
	struct sets_head *head = &directory->head[block & 0xffff];

	if (head->chunk)
		return ring_take(
			head, &directory->chunk[head->chunk - 1], block, ret_dirty, ret_position);
	for (unsigned i = head->n; i-- > 0;) {
		if (head->block[i] != block)
			continue;
		*ret_dirty = head->dirty[i];
		*ret_position = head->n - 1u - i;
		if (i + 1 < head->n) {
			head->block[i] = head->block[i + 1];
			head->dirty[i] = head->dirty[i + 1];
		}
		head->n--;
		return true;
	}
	return false;
}

/* As the most recent of its set. */
static inline void directory_put(struct sets_directory *directory, uint64_t block, sets_row dirty)
{
	struct sets_head *head = &directory->head[block & 0xffff];
	struct sets_chunk *chunk;
	unsigned slot;

	if (!head->chunk) {
		if (head->n < SETS_HEAD_BLOCKS) {
			head->block[head->n] = block;
			head->dirty[head->n++] = dirty;
			return;
		}
		sets_directory_promote(directory, head);
	}
	chunk = &directory->chunk[head->chunk - 1];
	slot = (head->start + head->n) & SETS_RING;
	chunk->middle[slot] = (uint32_t)(block >> 16);
	chunk->high[slot] = (uint16_t)(block >> 48);
	chunk->dirty[slot] = dirty;
	if (head->n < LOCI_SETS_WAYS)
		head->n++;
	else
		head->start = (head->start + 1) & SETS_RING;
}

#endif
