// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/strand.h"

#include <stdlib.h>
#include <string.h>

void loci_strand_free(struct loci_strand *strand)
{
	if (!strand)
		return;
	loci_source_close(strand->ring);
	free(strand->kept);
	free(strand);
}

ssize_t loci_strand_copy(
	const struct loci_strand *strand, uint64_t *words, size_t cap, struct loci_err *err)
{
	size_t kept = strand->n_kept - strand->kept_at, n;

	if (kept) {
		n = kept < cap ? kept : cap;
		memcpy(words, strand->kept + strand->kept_at, n * sizeof(*words));
		if (n < kept)
			n = loci_ring_whole(words, n);
	} else if (strand->view.n_words) {
		n = loci_ring_copy(strand->ring, words, cap, strand->view.n_words);
	} else {
		return 0;
	}
	return n || cap <= LOCI_RAW_MAX ? (ssize_t)n : loci_ring_senseless(strand->ring, err);
}

void loci_strand_take(struct loci_strand *strand, size_t n_words)
{
	strand->given += n_words;
	if (strand->kept_at < strand->n_kept) {
		strand->kept_at += n_words;
		if (strand->kept_at == strand->n_kept) {
			free(strand->kept); /* seldom needed, and large then */
			strand->kept = NULL;
			strand->kept_at = strand->n_kept = strand->cap = 0;
		}
		return;
	}
	loci_ring_give_back(strand->ring, n_words, &strand->view);
	strand->view.n_words -= n_words;
}

int loci_strand_keep(struct loci_strand *strand, struct loci_err *err)
{
	size_t kept = strand->n_kept - strand->kept_at, n = strand->view.n_words;

	if (!n)
		return 0;
	if (strand->kept_at > kept) {
		memmove(strand->kept, strand->kept + strand->kept_at, kept * sizeof(*strand->kept));
		strand->kept_at = 0;
		strand->n_kept = kept;
	}
	if (strand->n_kept + n > strand->cap) {
		size_t cap = 2 * (strand->n_kept + n);
		void *larger = realloc(strand->kept, cap * sizeof(*strand->kept));

		if (!larger)
			return loci_err_nomem(err);
		strand->kept = larger;
		strand->cap = cap;
	}
	loci_ring_copy(strand->ring, strand->kept + strand->n_kept, n, n);
	strand->n_kept += n;
	loci_ring_give_back(strand->ring, n, &strand->view);
	strand->view.n_words = 0;
	return 0;
}
