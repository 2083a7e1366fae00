// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/sequence.h"

#define STRIDE     16 /* words that are looked at together */
#define BLOCK_HIGH (loci_mark_word(LOCI_MARK_BLOCK, 0, 0) >> 32)
#define KIND_HIGH  0xffff0000u /* what a word is, and how many raw words follow */

/* Two words, the high half of each second. */
typedef uint32_t two_words __attribute__((vector_size(16), aligned(8), may_alias));

static int is_other(uint64_t word)
{
	return (word >> 63) & ((word >> 32 & KIND_HIGH) != BLOCK_HIGH);
}

/* Addresses and BLOCKs are nearly all there is: they are passed over many at a time. */
static int has_other(const uint64_t *words)
{
	const two_words kinds = { 0, KIND_HIGH, 0, KIND_HIGH };
	const two_words blocks = { 1, BLOCK_HIGH, 1, BLOCK_HIGH };
	two_words others = { 0 };

	for (unsigned i = 0; i < STRIDE; i += 2) {
		two_words words_2 = *(const two_words *)(words + i);

		others |= words_2 & ~(two_words)((words_2 & kinds) == blocks);
	}
	return (others[1] | others[3]) >> 31;
}

size_t loci_sequence_marker(const uint64_t *words, size_t n_words, size_t at)
{
	while (at + STRIDE <= n_words && !has_other(words + at))
		at += STRIDE;
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
