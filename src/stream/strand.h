/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One of the rings of a braid, and the words of it that had to be taken from it into memory. */
#ifndef LOCI_STREAM_STRAND_H
#define LOCI_STREAM_STRAND_H

#include "stream/ring.h"

struct loci_strand {
	struct loci_strand *next; /* on its way to the braid */
	struct loci_source *ring;
	uint32_t number; /* of the ring; a handler's is above that of what it interrupts */
	uint32_t thread;
	bool told;                   /* that it is to end */
	bool started;                /* its first word has been looked at */
	bool is_handler;             /* it began with SWITCH: a signal handler's */
	bool opened;                 /* SIGNAL_ENTER was given, SIGNAL_LEAVE was not */
	uint64_t undue;              /* the sequence number at its front that others precede; 0 */
	uint64_t given;              /* words, of all */
	uint64_t executes_at;        /* where the last EXEC ends; 0: there was none */
	struct loci_ring_view view;  /* of the ring, as of the last look */
	uint64_t *kept;              /* words before those of the ring .. */
	size_t kept_at, n_kept, cap; /* .. from kept_at on */
};

void loci_strand_free(struct loci_strand *strand);

static inline uint64_t loci_strand_words(const struct loci_strand *strand)
{
	return strand->n_kept - strand->kept_at + strand->view.n_words;
}

/* As many whole markers as there are and cap allows. -EBADMSG if that is none, though there are
 * words and cap is no less than LOCI_RAW_MAX + 1. */
ssize_t loci_strand_copy(
	const struct loci_strand *strand, uint64_t *words, size_t cap, struct loci_err *err);
/* n_words of those copied have been used. */
void loci_strand_take(struct loci_strand *strand, size_t n_words);
/* Empties the ring into memory. */
int loci_strand_keep(struct loci_strand *strand, struct loci_err *err);

#endif
