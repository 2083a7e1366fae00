// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/decode_runs.h"

#include "stream/decode_state.h"

bool loci_runs_begin(const struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	size_t pos, struct loci_runs *ret)
{
	const struct loci_cursor *cursor = &decoder->threads.cursor;
	const struct loci_block *block = loci_definitions_find(&decoder->defs, cursor->block);

	*ret = (struct loci_runs){ .word = words + pos,
		.end = words + n_words,
		.next = cursor->next,
		.left = cursor->last - cursor->next,
		.block = block,
		.direct = decoder->defs.direct,
		.n_direct = decoder->defs.n_direct,
		.changes = decoder->defs.changes };
	return !cursor->half && cursor->first != cursor->last && block->first == cursor->first &&
		block->n_refs == cursor->last - cursor->first && block->n_words == block->n_refs;
}

void loci_runs_end(struct loci_decoder *decoder, const struct loci_runs *runs,
	const uint64_t *words, size_t *pos)
{
	struct loci_cursor *cursor = &decoder->threads.cursor;
	size_t at = (size_t)(runs->word - words);

	/* one of no table entry is the one that the cursor was in */
	if (runs->block >= runs->direct && runs->block < runs->direct + runs->n_direct)
		cursor->block = (uint64_t)(runs->block - runs->direct);
	cursor->first = runs->block->first;
	cursor->last = cursor->first + runs->block->n_refs;
	cursor->next = runs->next;
	decoder->done += at - *pos;
	*pos = at;
}

size_t loci_decoder_runs(struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	size_t *pos, struct loci_ref_run *runs, size_t cap)
{
	struct loci_runs reader;
	size_t n = 0;

	if (!loci_runs_begin(decoder, words, n_words, *pos, &reader))
		return 0;
	while (n < cap && loci_runs_next(&reader)) {
		struct loci_ref_run run = { reader.word, reader.next, 0 };

		do {
			reader.word++;
			run.n++;
		} while (run.n < reader.left && loci_runs_goes_on(&reader));
		loci_runs_read(&reader, reader.left - run.n);
		runs[n++] = run;
	}
	loci_runs_end(decoder, &reader, words, pos);
	return n;
}

int loci_decoder_switch(struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	size_t *pos, struct loci_err *err)
{
	uint64_t id;

	if (*pos == n_words)
		return 0;
	id = words[*pos] - loci_mark_word(LOCI_MARK_SWITCH, 0, 0);
	if (id > UINT32_MAX) /* for who decodes the rest */
		return 0;
	if (loci_threads_switch(&decoder->threads, &decoder->defs, (uint32_t)id) < 0)
		return loci_err_nomem(err);
	++*pos;
	decoder->done++;
	return 0;
}
