/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The consumer's end of a ring, as a source. See ring_layout.h for how rings work and
 * ring_producer.h for the other end. */
#ifndef LOCI_STREAM_RING_H
#define LOCI_STREAM_RING_H

#include "stream/ring_layout.h"
#include "stream/rundir.h"
#include "stream/source.h"

#include <stdbool.h>

/* Makes a ring in the run's directory and reads from it. n_words 0 takes the default. The source
 * lives no longer than dir; closing it removes the file and sends the producer into silence.
 * Reading waits for the producer and ends when it has left or died and all it wrote has been given.
 */
int loci_ring_create(const struct loci_rundir *dir, const char *name,
	const struct loci_stream_info *info, size_t n_words, struct loci_source **ret,
	struct loci_err *err);

/* The same with a ring that its producer made (loci_ring_format) in the directory. */
int loci_ring_open(const struct loci_rundir *dir, const char *name, struct loci_source **ret,
	struct loci_err *err);

/* What a producer opens. */
const char *loci_ring_path(const struct loci_source *source);

/* The ring's memory, for a producer in this very process (loci_ring_producer_attach). */
void *loci_ring_memory(const struct loci_source *source, size_t *ret_bytes);

/* The producer is known to write no more, or never came: reading ends when what is there has been
 * given. From any thread, or a signal handler. */
void loci_ring_stop(struct loci_source *source);
/* The producer may go on, but reading ends with what it has published by now. From any thread, when
 * no other does. */
void loci_ring_cut(struct loci_source *source);

/* For a ring whose consumer is known to have died: tells a producer that may still wait there,
 * since with the file goes its way of finding out. What is no ring is let alone. */
void loci_ring_abandon(int dir, const char *name);

/* Reading several rings at once, without waiting: look, copy, and give back what was used. */
struct loci_ring_view {
	uint64_t n_words; /* can be read */
	bool ended;       /* there will be no more */
};
int loci_ring_look(
	const struct loci_source *source, struct loci_ring_view *ret, struct loci_err *err);
/* The word with this number is known to have been reached by a producer that appends without a
 * call: the view grows up to there. */
void loci_ring_look_to(
	const struct loci_source *source, uint64_t number, struct loci_ring_view *view);
/* Copies n_words, or as many whole markers of them as cap holds: 0 where the words make no sense.
 */
size_t loci_ring_copy(
	const struct loci_source *source, uint64_t *words, size_t cap, uint64_t n_words);
void loci_ring_give_back(
	struct loci_source *source, uint64_t n_words, const struct loci_ring_view *view);
int loci_ring_senseless(const struct loci_source *source, struct loci_err *err);
/* The largest number of words, at most cap, that ends at a marker's end; there are cap of them. */
size_t loci_ring_whole(const uint64_t *words, size_t cap);
uint64_t loci_ring_words(const struct loci_source *source);
uint64_t loci_ring_chunk_words(const struct loci_source *source);

/* The process's ring: a number that changes with each other ring of that process, and 0 where the
 * producer does not count them. */
uint32_t loci_ring_others(const struct loci_source *source);

/* Asks the kernel whether the producer's process has ended, and remembers it. */
bool loci_ring_has_died(struct loci_source *source);

/* The producer will ring (a futex that changes) when there is half a ring to read, with samples
 * anything, or no more to come; false: that is so already. Then awaited, whatever came of it. */
struct loci_ring_bell {
	const uint32_t *bell;
	uint32_t value;
};
bool loci_ring_await(struct loci_source *source, struct loci_ring_bell *ret);
void loci_ring_awaited(struct loci_source *source);
/* Rings itself, for who reads it in another thread. */
void loci_ring_wake(struct loci_source *source);

#endif
