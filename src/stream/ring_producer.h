/* SPDX-License-Identifier: BSD-2-Clause */
/* The producer's end of a ring: freestanding C that runs inside users' programs and inside
 * Valgrind. It calls no library, takes no lock, leaves errno alone and never fails loudly: without
 * a consumer it goes quiet, and words go nowhere but into a count.
 *
 *	uint64_t *at = loci_ring_reserve(producer, 2);
 *	at[0] = ...; at[1] = ...;
 *	loci_ring_commit(producer, at + 2);
 *
 * Words that were committed reach the consumer whatever happens to this process then.
 *
 * fork: the child must not write to its parent's ring. loci_ring_producer_open puts the handle into
 * memory that the kernel gives the child as zeros (MADV_WIPEONFORK), which makes it quiet; with a
 * handle elsewhere the child calls loci_ring_producer_init on it before it appends anything. */
#ifndef LOCI_STREAM_RING_PRODUCER_H
#define LOCI_STREAM_RING_PRODUCER_H

#include "stream/ring_layout.h"

#define LOCI_RING_RESERVE_MAX (LOCI_RAW_MAX + 1) /* words at once */

/* Zeroed, it is a quiet one. */
struct loci_ring_producer {
	uint64_t *cursor, *limit; /* free words of the chunk */
	uint64_t *chunk;
	uint64_t base;  /* number of the chunk's first word in the stream */
	uint64_t *head; /* where commit publishes */
	uint64_t *data;
	struct loci_ring_shared *shared; /* NULL: quiet */
	uint64_t n_words;
	uint32_t chunk_words;
	uint32_t room_words;
	struct loci_ring_inline *place; /* of code that appends without a call; NULL: none does */
	uint64_t mapped_bytes;          /* by loci_ring_producer_open */
	uint64_t lost_words;            /* published instead of head while quiet */
	uint64_t sink[LOCI_RING_RESERVE_MAX];
};

/* Makes an empty ring of mapped memory that is all zeros, for the one who creates its file. The
 * words are what is left of the bytes after the header, in whole chunks. 0 or -EINVAL. */
int loci_ring_format(void *memory, size_t bytes, const struct loci_stream_info *info,
	uint32_t chunk_words, const char *lock_path);

void loci_ring_producer_init(struct loci_ring_producer *producer);

/* Takes a ring that is mapped already. -EPROTO: not a ring of this version; -EBUSY: it has had a
 * producer. */
int loci_ring_producer_attach(struct loci_ring_producer *producer, void *memory, size_t bytes);

/* Maps and takes a ring's file. */
int loci_ring_producer_open(const char *path, struct loci_ring_producer **ret);

/* Lets the consumer know that what was committed is all, and goes quiet; open's are unmapped. */
void loci_ring_producer_close(struct loci_ring_producer *producer);

/* Wakes the consumer for what was committed; before a wait of unknown length. */
void loci_ring_producer_flush(struct loci_ring_producer *producer);

/* From here on code that makes no call appends too: at the cursor in the ring's header, wherever it
 * is not beyond the limit there, from which room_words can be written. Before anything is reserved
 * this way, loci_ring_inline_take. */
void loci_ring_inline_begin(struct loci_ring_producer *producer, uint32_t room_words);

/* Takes over what such code has appended. 0, or -EBADMSG: the header was overwritten, and the words
 * since the last commit are lost. */
int loci_ring_inline_take(struct loci_ring_producer *producer);

uint64_t *loci_ring_next_chunk(struct loci_ring_producer *producer, size_t n_words);

/* Room for n_words, at most LOCI_RING_RESERVE_MAX; waits for the consumer if need be. The words of
 * a marker are reserved together. */
static inline uint64_t *loci_ring_reserve(struct loci_ring_producer *producer, size_t n_words)
{
	if ((size_t)(producer->limit - producer->cursor) < n_words)
		return loci_ring_next_chunk(producer, n_words);
	return producer->cursor;
}

/* Publishes the words up to end; end is a marker's end. */
static inline void loci_ring_commit(struct loci_ring_producer *producer, uint64_t *end)
{
	producer->cursor = end;
	if (producer->place)
		__atomic_store_n(&producer->place->cursor, (uint64_t)end, __ATOMIC_RELEASE);
	if (producer->head) /* not in a child that forked between reserve and commit */
		__atomic_store_n(producer->head, producer->base + (uint64_t)(end - producer->chunk),
			__ATOMIC_RELEASE);
}

#endif
