// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/sequence.h"

#define STRIDE      16 /* words that are looked at together */
#define HIGH_BITS   48 /* above them stand what a word is, and how many raw words follow */
#define BLOCK_HIGH  (loci_mark_word(LOCI_MARK_BLOCK, 0, 0) >> HIGH_BITS)
#define MARKER_HIGH (LOCI_WORD_MARKER >> HIGH_BITS)

/* Addresses and BLOCKs are nearly all there is: they are passed over many at a time. */
static int is_other(uint64_t word)
{
	uint64_t high = word >> HIGH_BITS;

	return (high >= MARKER_HIGH) & (high != BLOCK_HIGH);
}

size_t loci_sequence_marker(const uint64_t *words, size_t n_words, size_t at)
{
	while (at + STRIDE <= n_words) {
		int found = 0;

		for (unsigned i = 0; i < STRIDE; i++)
			found |= is_other(words[at + i]);
		if (found)
			break;
		at += STRIDE;
	}
	while (at < n_words && !is_other(words[at]))
		at++;
	return at;
}

/* The raw word it stands in, and one more. */
static const uint8_t place[128] = {
	[LOCI_MARK_THREAD_START] = 3 + 1,
	[LOCI_MARK_THREAD_EXIT] = 1 + 1,
	[LOCI_MARK_ALLOC] = 1 + 1,
	[LOCI_MARK_FREE] = 1 + 1,
	[LOCI_MARK_RESIZE] = 2 + 1,
	[LOCI_MARK_MAP] = 2 + 1,
	[LOCI_MARK_UNMAP] = 2 + 1,
	[LOCI_MARK_OBJECT] = 1 + 1,
	[LOCI_MARK_OBJECT_END] = 1 + 1,
	[LOCI_MARK_OBJECT_PART] = 2 + 1,
	[LOCI_MARK_PHASE] = 0 + 1,
	[LOCI_MARK_PAUSE] = 0 + 1,
	[LOCI_MARK_MODULE_LOAD] = 4 + 1,
	[LOCI_MARK_MODULE_UNLOAD] = 0 + 1,
};

uint64_t loci_sequence_of(const uint64_t *marker, size_t n_words)
{
	unsigned at = place[loci_word_kind(*marker)];

	return at && at <= loci_word_n_raw(*marker) && at < n_words ? marker[at] : 0;
}

size_t loci_sequence_first(const uint64_t *words, size_t n_words, uint64_t *ret)
{
	size_t at = 0;

	while ((at = loci_sequence_marker(words, n_words, at)) < n_words) {
		*ret = loci_sequence_of(words + at, n_words - at);
		at += 1 + loci_word_n_raw(words[at]);
		if (*ret)
			return at < n_words ? at : n_words;
	}
	return 0;
}
