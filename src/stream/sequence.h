/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Markers in words, and the process's sequence numbers that some of them carry. */
#ifndef LOCI_STREAM_SEQUENCE_H
#define LOCI_STREAM_SEQUENCE_H

#include "stream/stream.h"

/* Where the next marker is that is not BLOCK, from `at` on; n_words if there is none. `at` is not
 * within a marker's raw words. */
size_t loci_sequence_marker(const uint64_t *words, size_t n_words, size_t at);

/* Of the word and the raw words that belong to it; no more than there are. */
static inline size_t loci_sequence_words(const uint64_t *words, size_t n_words)
{
	size_t n = 1 + (size_t)(loci_word_is_marker(*words) ? loci_word_n_raw(*words) : 0);

	return n < n_words ? n : n_words;
}

/* A marker's number; 0 if it has none, or is cut off after n_words. */
uint64_t loci_sequence_of(const uint64_t *marker, size_t n_words);

/* Up to the end of the first marker that has a number, which is put into *ret; 0 if there is none.
 */
size_t loci_sequence_first(const uint64_t *words, size_t n_words, uint64_t *ret);

#endif
