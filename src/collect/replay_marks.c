// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/replay_marks.h"

#include <string.h>

void loci_replay_put(struct loci_replay_marks *marks, enum loci_marker kind, uint64_t payload,
	unsigned n, const uint64_t *raw)
{
	marks->words[marks->n++] = loci_mark_word(kind, n, payload);
	for (unsigned i = 0; i < n; i++)
		marks->words[marks->n++] = raw[i];
}

/* As the next marker needs it. */
static void put_name(
	struct loci_replay_marks *marks, const struct loci_decoder *decoder, uint64_t id)
{
	const size_t most = (LOCI_REPLAY_NAME_WORDS - 8) * sizeof(uint64_t);
	const char *text = id ? loci_decoder_string(decoder, id) : NULL;
	size_t left = text ? strnlen(text, most) : 0;
	uint64_t word[LOCI_RAW_MAX];

	while (text) { /* the last piece has a NUL */
		size_t n = left < sizeof(word) ? left : sizeof(word);

		memset(word, 0, sizeof(word));
		memcpy(word, text, n);
		loci_replay_put(marks, LOCI_MARK_STRING, id,
			(unsigned)(n < sizeof(word) ? n / 8 + 1 : LOCI_RAW_MAX), word);
		text = n < sizeof(word) ? NULL : text + n;
		left -= n;
	}
}

void loci_replay_pass(struct loci_replay_marks *marks, const struct loci_decoder *decoder,
	const struct loci_event *event)
{
	static const struct {
		enum loci_marker kind;
		int name; /* the raw word that has it; -1: none */
	} passed[] = {
		{ LOCI_MARK_PROCESS, -1 },
		{ LOCI_MARK_THREAD_START, -1 },
		{ LOCI_MARK_THREAD_EXIT, -1 },
		{ LOCI_MARK_ALLOC, -1 },
		{ LOCI_MARK_FREE, -1 },
		{ LOCI_MARK_RESIZE, -1 },
		{ LOCI_MARK_MAP, 4 },
		{ LOCI_MARK_UNMAP, -1 },
		{ LOCI_MARK_OBJECT, 2 },
		{ LOCI_MARK_OBJECT_END, -1 },
		{ LOCI_MARK_OBJECT_PART, 3 },
		{ LOCI_MARK_MODULE_LOAD, 3 },
		{ LOCI_MARK_MODULE_UNLOAD, -1 },
		{ LOCI_MARK_LOST, -1 },
	};

	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++) {
		if (event->kind != passed[i].kind)
			continue;
		if (passed[i].name >= 0)
			put_name(marks, decoder, event->raw[passed[i].name]);
		loci_replay_put(marks, LOCI_MARK_SWITCH, event->thread, 0, NULL);
		loci_replay_put(marks, passed[i].kind, event->payload, event->n_raw, event->raw);
	}
}
