// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int loci_threads_init(struct loci_threads *threads)
{
	*threads = (struct loci_threads){ 0 };
	threads->thread = calloc(4, sizeof(*threads->thread));
	if (!threads->thread)
		return -ENOMEM;
	threads->cap = 4;
	threads->n = 1;
	return loci_idmap_put(&threads->ids, 0, 0);
}

void loci_threads_fini(struct loci_threads *threads)
{
	for (size_t i = 0; i < threads->n; i++)
		free(threads->thread[i].interrupted);
	free(threads->thread);
	loci_idmap_fini(&threads->ids);
	*threads = (struct loci_threads){ 0 };
}

void loci_cursor_check(struct loci_cursor *cursor, const struct loci_definitions *defs)
{
	const struct loci_block *block;

	if (!cursor->current)
		return;
	block = loci_definitions_find(defs, cursor->block);
	if (!loci_block_is_defined(block) || block->first != cursor->first ||
		block->first + block->n_refs != cursor->last)
		*cursor = (struct loci_cursor){ 0 };
}

/* The reference of the block whose word or words start at most n_words into it. */
static uint32_t reference_at(
	const struct loci_definitions *defs, const struct loci_block *block, uint32_t n_words)
{
	uint32_t low = block->first, high = block->first + block->n_refs;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (defs->origin[mid].words_before <= n_words)
			low = mid;
		else
			high = mid;
	}
	return low;
}

int loci_cursor_resume(struct loci_cursor *cursor, const struct loci_definitions *defs,
	uint64_t marker, const uint64_t *raw, struct loci_err *err)
{
	uint64_t id = loci_word_payload(marker);
	const struct loci_block *block = loci_definitions_find(defs, id);

	if (!loci_block_is_defined(block))
		return loci_err_set(err, EBADMSG, "block %" PRIu64 " has no definition", id);
	if (raw[0] > block->n_words)
		return loci_err_set(err, EBADMSG,
			"resumes block %" PRIu64 " after %" PRIu64 " of its %" PRIu32 " words", id,
			raw[0], block->n_words);
	loci_cursor_start(cursor, block, id);
	if (raw[0] == block->n_words)
		return 0;
	cursor->next = reference_at(defs, block, (uint32_t)raw[0]);
	cursor->half = defs->origin[cursor->next].words_before < raw[0];
	if (cursor->half && loci_word_n_raw(marker) < 2) {
		*cursor = (struct loci_cursor){ 0 };
		return loci_err_set(err, EBADMSG,
			"resumes block %" PRIu64 " within a range without its address", id);
	}
	cursor->address = cursor->half ? raw[1] : 0;
	return 0;
}

int loci_threads_switch(
	struct loci_threads *threads, const struct loci_definitions *defs, uint32_t id)
{
	uint32_t i = loci_idmap_get(&threads->ids, id);

	if (i == LOCI_IDMAP_NONE) {
		if (threads->n == threads->cap) {
			size_t cap = 2 * threads->cap;
			void *moved = realloc(threads->thread, cap * sizeof(*threads->thread));

			if (!moved)
				return -ENOMEM;
			threads->thread = moved;
			threads->cap = cap;
		}
		i = (uint32_t)threads->n;
		if (loci_idmap_put(&threads->ids, id, i) < 0)
			return -ENOMEM;
		threads->thread[threads->n++] = (struct loci_thread){ .id = id };
	}
	threads->thread[threads->at].cursor = threads->cursor;
	threads->at = i;
	threads->cursor = threads->thread[i].cursor;
	loci_cursor_check(&threads->cursor, defs);
	return 0;
}

int loci_threads_enter(struct loci_threads *threads, uint64_t signal)
{
	struct loci_thread *thread = &threads->thread[threads->at];

	if (thread->depth == LOCI_SIGNAL_DEPTH) {
		memmove(thread->interrupted, thread->interrupted + 1,
			(LOCI_SIGNAL_DEPTH - 1) * sizeof(*thread->interrupted));
		thread->depth--;
	} else if (thread->depth == thread->cap) {
		unsigned cap = thread->cap ? 2 * thread->cap : 2;
		void *moved = realloc(thread->interrupted, cap * sizeof(*thread->interrupted));

		if (!moved)
			return -ENOMEM;
		thread->interrupted = moved;
		thread->cap = cap;
	}
	thread->interrupted[thread->depth++] =
		(struct loci_interrupted){ .cursor = threads->cursor, .signal = signal };
	threads->cursor = (struct loci_cursor){ 0 };
	return 0;
}

void loci_threads_leave(struct loci_threads *threads, const struct loci_definitions *defs)
{
	struct loci_thread *thread = &threads->thread[threads->at];

	threads->cursor = (struct loci_cursor){ 0 };
	if (thread->depth == 0)
		return;
	threads->cursor = thread->interrupted[--thread->depth].cursor;
	loci_cursor_check(&threads->cursor, defs);
}

struct word_sink {
	uint64_t *words;
	size_t n, cap;
};

static void put(struct word_sink *sink, uint64_t word)
{
	if (sink->n < sink->cap)
		sink->words[sink->n] = word;
	sink->n++;
}

static void put_cursor(struct word_sink *sink, const struct loci_definitions *defs,
	const struct loci_cursor *cursor)
{
	struct loci_cursor valid = *cursor;
	uint64_t given = 0;

	loci_cursor_check(&valid, defs);
	if (!valid.current)
		return;
	if (valid.next < valid.last)
		given = defs->origin[valid.next].words_before + valid.half;
	put(sink, loci_mark_word(LOCI_MARK_RESUME, valid.half ? 2 : 1, valid.block));
	put(sink, given);
	if (valid.half)
		put(sink, valid.address);
}

size_t loci_threads_words(const struct loci_threads *threads, const struct loci_definitions *defs,
	uint64_t *words, size_t cap)
{
	struct word_sink sink = { .words = words, .cap = cap };

	for (size_t k = 1; k <= threads->n; k++) {
		/* The current one last, so that it is current for the reader, too. */
		size_t i = (threads->at + k) % threads->n;
		const struct loci_thread *thread = &threads->thread[i];
		const struct loci_cursor *cursor =
			i == threads->at ? &threads->cursor : &thread->cursor;

		if (i != threads->at && !cursor->current && thread->depth == 0)
			continue;
		put(&sink, loci_mark_word(LOCI_MARK_SWITCH, 0, thread->id));
		for (unsigned d = 0; d < thread->depth; d++) {
			put_cursor(&sink, defs, &thread->interrupted[d].cursor);
			put(&sink,
				loci_mark_word(
					LOCI_MARK_SIGNAL_ENTER, 0, thread->interrupted[d].signal));
		}
		put_cursor(&sink, defs, cursor);
	}
	return sink.n;
}
