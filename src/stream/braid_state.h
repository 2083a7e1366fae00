/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside a braid: braid.c is the source, braid_process.c passes the process's ring on, braid_turn.c
 * what its strands give in their turns. */
#ifndef LOCI_STREAM_BRAID_STATE_H
#define LOCI_STREAM_BRAID_STATE_H

#include "stream/braid.h"
#include "stream/strand.h"

#include <pthread.h>

#define LOCI_BRAID_MARKER (LOCI_RAW_MAX + 1)          /* words */
#define LOCI_BRAID_ROOM   (2 * LOCI_BRAID_MARKER + 3) /* for words, what is held, and SWITCHes */

struct loci_braid {
	struct loci_source source; /* first */
	struct loci_source *process;
	struct loci_ring_view process_view;
	bool process_told; /* that it is to end */
	loci_braid_more *more;
	void *more_data;
	struct loci_strand **strand;
	size_t n_strands, cap, turn, n_handlers;
	uint32_t others; /* loci_ring_others when it was asked for more; 0: not yet, or always */
	uint32_t thread; /* whose words the reader takes them for */
	uint64_t due;    /* the next sequence number */
	/* Markers of the process's ring that are not due yet, and END. */
	uint64_t *held;
	size_t n_held, held_cap;
	uint64_t end; /* the word END; 0: has not come */
	uint64_t given_words;
	bool became_another;
	unsigned idle_rounds; /* without a word */
	bool hungry;          /* there is not much: take it as it comes */
	uint64_t late_ns;     /* since when a number has been missing; 0: none is */
	uint64_t late_due;    /* which */
	uint64_t looked_ns;   /* when the kernel was asked whether the process lives */
	/* Between threads. */
	pthread_mutex_t lock;
	struct loci_strand *arrived;
	enum { BRAID_GOES_ON, BRAID_STOPPED, BRAID_CUT } end_asked;
};

/* What the reader gets. */
struct loci_braid_out {
	uint64_t *words;
	size_t n, cap;
};

void loci_braid_switch(struct loci_braid *braid, struct loci_braid_out *out, uint32_t thread);
/* All that the process's ring has. 1: there was no room for all of it. */
int loci_braid_process(struct loci_braid *braid, struct loci_braid_out *out, struct loci_err *err);
/* The number of the first marker that is held; 0: none is. */
uint64_t loci_braid_held(const struct loci_braid *braid);
/* Passes on what was held and is due. */
void loci_braid_release(struct loci_braid *braid, struct loci_braid_out *out);
/* Looks whose strand it is: a handler's says so first. */
int loci_braid_start(struct loci_braid *braid, struct loci_strand *strand, struct loci_err *err);
/* What the strand may give, as far as there is room. */
int loci_braid_turn(struct loci_braid *braid, struct loci_strand *strand,
	struct loci_braid_out *out, struct loci_err *err);
/* The smallest number that waits for others; 0: none. */
uint64_t loci_braid_waiting(const struct loci_braid *braid);
/* Goes on without the numbers before the next one that is there; some do wait. */
int loci_braid_pass(struct loci_braid *braid, struct loci_err *err);
/* The strand has ended and given all. */
void loci_braid_retire(
	struct loci_braid *braid, const struct loci_strand *strand, struct loci_braid_out *out);

#endif
