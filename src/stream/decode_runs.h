/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading executions of blocks straight from the words, for who does something for nearly every
 * word: as loci_decoder_runs decodes them, inline and without an array between. */
#ifndef LOCI_STREAM_DECODE_RUNS_H
#define LOCI_STREAM_DECODE_RUNS_H

#include "stream/decode.h"
#include "stream/definition.h"

#define LOCI_RUNS_BLOCK ((uint64_t)loci_mark_word(LOCI_MARK_BLOCK, 0, 0))

/* The word at hand is the address of reference next of the block, of which left are left. */
struct loci_runs {
	const uint64_t *word, *end;
	uint32_t next, left;
	const struct loci_block *block;
	const struct loci_block *direct; /* by id */
	uint64_t n_direct;
	uint64_t changes; /* of any block's definition, so far */
	bool plain;       /* blocks without references are wanted too: left is 0 then */
};

/* False: what comes is not for this reader. */
bool loci_runs_begin(const struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	size_t pos, struct loci_runs *ret);
/* The decoder goes on from here. */
void loci_runs_end(struct loci_decoder *decoder, const struct loci_runs *runs,
	const uint64_t *words, size_t *pos);

/* Whether there is another execution of a block, or the rest of one. */
static inline __attribute__((always_inline)) bool loci_runs_next(struct loci_runs *runs)
{
	while (runs->word < runs->end) {
		const struct loci_block *block;
		uint64_t id = *runs->word - LOCI_RUNS_BLOCK;

		if (!loci_word_is_marker(*runs->word))
			return runs->left;
		if (id >= runs->n_direct)
			return false;
		block = &runs->direct[id];
		/* A block whose execution has as many words as references has no ranges. */
		if (block->n_words != block->n_refs ||
			(!block->n_refs && !(runs->plain && block->definition)))
			return false;
		runs->block = block;
		runs->next = block->first;
		runs->left = block->n_refs;
		runs->word++;
		if (!block->n_refs)
			return true;
	}
	return false;
}

/* Whether the word at hand goes on with the execution that the one before was of, which is not the
 * block's last reference. */
static inline __attribute__((always_inline)) bool loci_runs_goes_on(const struct loci_runs *runs)
{
	return runs->word < runs->end && !loci_word_is_marker(*runs->word);
}

/* An execution, or a part of it, has been read, of which so many references are left. A block used
 * up begins again. */
static inline __attribute__((always_inline)) void loci_runs_read(
	struct loci_runs *runs, uint32_t left)
{
	if (left) {
		runs->next += runs->left - left;
		runs->left = left;
	} else {
		runs->next = runs->block->first;
		runs->left = runs->block->n_refs;
	}
}

#endif
