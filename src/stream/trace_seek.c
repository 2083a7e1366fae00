// SPDX-License-Identifier: GPL-2.0-or-later
/* Starting in the middle of a trace: what a decoder must know of the frames before comes first. */
#include "stream/trace_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static int enter_frame(struct loci_trace_reader *trace, size_t i, struct loci_err *err)
{
	const struct loci_trace_entry *entry = &trace->frames.entry[i];
	int r;

	if (lseek(trace->fd, (off_t)entry->offset, SEEK_SET) < 0)
		return loci_err_set(
			err, errno, "%s: cannot seek: %s", trace->name, strerror(errno));
	trace->offset = entry->offset;
	trace->word = entry->first_word;
	trace->n_frames = i;
	r = loci_trace_next_frame(trace, err);
	if (r == 0 && !trace->in_frame)
		return loci_trace_damaged(trace, err, "it is not where the index says");
	return r;
}

/* Keeps only the markers that later frames may lean on. */
static size_t keep_definitions(uint64_t *words, size_t n_words)
{
	size_t kept = 0, n;

	for (size_t i = 0; i < n_words; i += n) {
		n = loci_word_is_marker(words[i]) ? 1 + loci_word_n_raw(words[i]) : 1;
		if (loci_word_is_marker(words[i]) && loci_word_defines(words[i])) {
			memmove(words + kept, words + i, n * sizeof(*words));
			kept += n;
		}
	}
	return kept;
}

/* The definitions of frames before the target, 0 when there are no more and the target is next. */
static ssize_t earlier_definitions(
	struct loci_trace_reader *trace, uint64_t *words, size_t cap, struct loci_err *err)
{
	for (;;) {
		ssize_t n = 0;
		int r;

		if (trace->in_frame)
			n = loci_trace_frame_words(trace, words, cap, err);
		if (n < 0)
			return n;
		n = (ssize_t)keep_definitions(words, (size_t)n);
		if (n > 0)
			return n;
		if (trace->in_frame)
			continue;
		while (trace->next_definitions < trace->target &&
			!(trace->frames.entry[trace->next_definitions].flags &
				LOCI_TRACE_DEFINITIONS))
			trace->next_definitions++;
		r = enter_frame(trace, trace->next_definitions, err);
		if (r < 0)
			return r;
		if (trace->next_definitions++ == trace->target) {
			trace->n_state = trace->frame.n_state_words;
			trace->target = 0;
			return 0;
		}
	}
}

static ssize_t state_words(
	struct loci_trace_reader *trace, uint64_t *words, size_t cap, struct loci_err *err)
{
	size_t n = 0, next;

	while (n < trace->n_state) {
		next = n + 1;
		if (loci_word_is_marker(trace->state[n]))
			next += loci_word_n_raw(trace->state[n]);
		if (next > trace->n_state)
			return loci_trace_damaged(
				trace, err, "the state in which it begins makes no sense");
		if (next > cap)
			break;
		n = next;
	}
	memcpy(words, trace->state, n * sizeof(*words));
	trace->state += n;
	trace->n_state -= n;
	return (ssize_t)n;
}

ssize_t loci_trace_seek_words(
	struct loci_trace_reader *trace, uint64_t *words, size_t cap, struct loci_err *err)
{
	ssize_t n = 0;

	if (trace->target)
		n = earlier_definitions(trace, words, cap, err);
	if (n == 0 && trace->n_state)
		n = state_words(trace, words, cap, err);
	return n;
}

static int find_frames(struct loci_trace_reader *trace, struct loci_err *err)
{
	int r;

	if (trace->have_frames)
		return 0;
	r = loci_trace_frames_read(&trace->frames, trace->fd, trace->name, err);
	trace->have_frames = r == 0;
	return r;
}

int loci_trace_seek(struct loci_source *source, uint64_t word, struct loci_err *err)
{
	struct loci_trace_reader *trace = (struct loci_trace_reader *)source;
	int r;

	if (source->ops != &loci_trace_ops || trace->started)
		return loci_err_set(
			err, EINVAL, "only a trace that was not read yet can be searched");
	r = find_frames(trace, err);
	if (r < 0)
		return r;
	if (word >= trace->frames.n_words)
		return loci_err_set(err, ERANGE, "%s: has no word %" PRIu64 ": there are %" PRIu64,
			trace->name, word, trace->frames.n_words);
	trace->target = loci_trace_frames_find(&trace->frames, word);
	trace->next_definitions = 0;
	if (trace->target == 0)
		return 0; /* that is where reading starts anyway */
	trace->word = trace->frames.entry[trace->target].first_word;
	return 0;
}

uint64_t loci_trace_tell(const struct loci_source *source)
{
	const struct loci_trace_reader *trace = (const struct loci_trace_reader *)source;

	return trace->target ? trace->frames.entry[trace->target].first_word : trace->word;
}

int loci_trace_extent(
	struct loci_source *source, uint64_t *ret_words, uint64_t *ret_frames, struct loci_err *err)
{
	struct loci_trace_reader *trace = (struct loci_trace_reader *)source;
	int r;

	if (source->ops != &loci_trace_ops)
		return loci_err_set(err, EINVAL, "not a trace");
	r = find_frames(trace, err);
	if (r < 0)
		return r;
	*ret_words = trace->frames.n_words;
	*ret_frames = trace->frames.n;
	return 0;
}
