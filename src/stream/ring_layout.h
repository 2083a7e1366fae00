/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring: one thread's stream on its way to another process, in a file that both have mapped. The
 * layout is shared by programs and recorders of different versions; it is checked by its version.
 *
 * head and tail count words from the start of the stream and never go back; the words between them
 * are in the ring, word w at data[w % n_words]. The producer writes words first, then head
 * (release); the consumer takes words, then writes tail (release). The ring is divided into chunks:
 * a marker and its raw words never cross the end of one (PAD fills what is left), and a new chunk
 * is begun only when all of it is free, so that the way of appending words needs one comparison.
 * head may move at any marker's end, but the consumer is woken for whole chunks only.
 *
 * Waiting: the one who waits reads the bell, says that it waits, looks again, and sleeps (futex) if
 * the bell has not changed. The other one moves its counter, looks whether someone waits, and
 * rings: changes the bell and wakes. All four accesses are sequentially consistent, so one of the
 * two sees the other.
 *
 * Death: the consumer's process holds a lock (flock) on the file lock_path; a producer that has
 * waited a while tries it. Who removes a dead consumer's directory marks its rings first. The
 * producer's process is known by its id. Neither needs the other to be alive to get on: a producer
 * without a consumer goes quiet, a consumer without a producer takes what was written and ends. */
#ifndef LOCI_STREAM_RING_LAYOUT_H
#define LOCI_STREAM_RING_LAYOUT_H

#include "stream/stream.h"

#define LOCI_RING_MAGIC        "loci-rng" /* 8 bytes */
#define LOCI_RING_VERSION      1
#define LOCI_RING_HEADER_BYTES 4096
#define LOCI_RING_PATH_MAX     256
#define LOCI_RING_CHUNKS       8          /* by default */
#define LOCI_RING_WORDS        (1u << 15) /* by default: 256 KiB, stays in a second-level cache */
#define LOCI_RING_CHUNK_MIN    512        /* words: room for the longest marker, twice */

enum loci_ring_state {
	LOCI_RING_ABSENT = 0, /* not there yet */
	LOCI_RING_PRESENT = 1,
	LOCI_RING_GONE = 2, /* left in order */
};

/* A producer whose code appends words without a call (`loci cc`) keeps its place here instead of
 * moving head with every block: head moves with chunks and markers of the runtime. When such a
 * producer has left or died, the words up to cursor are good. Addresses are the producer's. */
struct loci_ring_inline {
	uint64_t cursor; /* where the next word goes */
	uint64_t limit;  /* for who checks the room; see cc_abi.h */
	uint64_t chunk;  /* address of the chunk's first word; 0: head is all there is */
	uint64_t base;   /* the number of that word in the stream */
};

struct loci_ring_shared {
	/* Set before the ring is used. */
	char magic[8];
	uint32_t version;
	uint32_t chunk_words;
	uint64_t n_words; /* a multiple of chunk_words */
	struct loci_stream_info info;
	char lock_path[LOCI_RING_PATH_MAX];
	/* Written by the producer. */
	_Alignas(64) uint64_t head;
	uint64_t lost_words; /* not written because the consumer was gone */
	uint32_t producer;   /* enum loci_ring_state */
	uint32_t producer_pid;
	uint32_t producer_waits;
	/* Written by the consumer. */
	_Alignas(64) uint64_t tail;
	uint32_t consumer; /* enum loci_ring_state */
	uint32_t consumer_pid;
	uint32_t consumer_waits; /* until there are so many words; 0: it does not */
	/* Futexes, changed by the one who rings. */
	_Alignas(64) uint32_t data_bell;
	_Alignas(64) uint32_t space_bell;
	_Alignas(64) struct loci_ring_inline inline_; /* the producer's */
	/* Of a process's ring, the producer's: changes when another ring of that process has been
	 * given its name, before there are words in it. 0: nobody counts. */
	uint32_t rings;
};
_Static_assert(sizeof(struct loci_ring_shared) <= LOCI_RING_HEADER_BYTES, "data follows it");

#endif
