/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside a ring's consumer: ring.c opens, waits and closes, ring_look.c reads. */
#ifndef LOCI_STREAM_RING_STATE_H
#define LOCI_STREAM_RING_STATE_H

#include "stream/ring.h"

enum ring_end {
	RING_GOES_ON,
	RING_STOPPED, /* the producer writes no more */
	RING_CUT,     /* it may, but what is there now is all that is wanted */
};

struct ring {
	struct loci_source source;
	char *path;
	struct loci_ring_shared *shared;
	size_t mapped_bytes;
	const uint64_t *data;
	uint64_t n_words, chunk_words;
	uint64_t tail; /* ours; the shared one is for the producer */
	int pidfd;     /* of the producer, -1 until known */
	bool producer_dead;
	uint64_t cut;  /* where a cut ring ends; set before: */
	uint32_t stop; /* enum ring_end */
};

/* Nothing will be added to what can be read from now on. */
bool loci_ring_has_ended(const struct ring *ring);

#endif
