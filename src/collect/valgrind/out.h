/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool's end of the process's ring. Generated code appends to it inline; what the tool itself
 * has to say goes through out_reserve and out_commit.
 *
 * Generated code finds the ring through four words of its thread, kept where Valgrind has room for
 * shadow registers, one load from the guest state's register away. The cursor is the ring's own
 * head, so that whatever was committed is published by the same store. */
#ifndef LOCI_COLLECT_VALGRIND_OUT_H
#define LOCI_COLLECT_VALGRIND_OUT_H

#include "collect/valgrind/core.h"
#include "stream/ring_producer.h"

/* Words that a superblock may write after one look at the space. */
#define OUT_ROOM LOCI_RING_RESERVE_MAX

struct out_thread {
	uint64_t *head;  /* number of the next word; here the words become visible */
	uint64_t *words; /* where word 0 of the stream would be: word w is words[w] */
	uint64_t last;   /* the highest head from which OUT_ROOM words can be written */
	uint64_t calls;  /* watched calls of this thread that have not returned */
};

/* Makes the process's ring in the directory. Without one (no such directory, no space) all words go
 * nowhere. */
void out_open(const HChar *dir);
/* Says that the stream is over and lets words go nowhere. */
void out_close(void);
/* Tells the recorder that the process goes on as a program that cannot be watched. */
void out_leave(const HChar *dir);
/* Whether anybody listens. */
Bool out_is_quiet(void);

uint64_t *out_reserve(SizeT n_words);
void out_commit(uint64_t *end);
/* A marker whose raw words are all given. */
void out_mark(enum loci_marker kind, uint64_t payload, UInt n_raw, const uint64_t *raw);
/* A string, defined anew; returns its id. */
uint64_t out_string(const HChar *text);

/* Number of the next word, and the words of the chunk that it is in. */
uint64_t out_head(void);
uint64_t *out_word(uint64_t number);
uint64_t out_chunk_start(void);

/* Gives the thread what generated code needs, before it runs. */
void out_sync(ThreadId tid);

/* Called by generated code when head has passed last: begins a new chunk. */
void out_make_room(void *guest_state);

/* Offset of struct out_thread from the guest state. */
Int out_offset(const VexGuestLayout *layout);
struct out_thread *out_thread_of(void *guest_state);

#endif
