/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The markers that a replay writes: its own, and those of the stream that hold whatever is recorded
 * of the references. */
#ifndef LOCI_COLLECT_REPLAY_MARKS_H
#define LOCI_COLLECT_REPLAY_MARKS_H

#include "stream/decode.h"

/* Words that one of the stream's own markers may take, with a name that belongs to it. */
#define LOCI_REPLAY_NAME_WORDS 1024
#define LOCI_REPLAY_PASS_WORDS (2 + LOCI_RAW_MAX + LOCI_REPLAY_NAME_WORDS)

/* Where there is room. */
struct loci_replay_marks {
	uint64_t *words;
	size_t n;
};

void loci_replay_put(struct loci_replay_marks *marks, enum loci_marker kind, uint64_t payload,
	unsigned n, const uint64_t *raw);
/* What the stream says of code, memory, threads and processes; all else is left out. A name that is
 * too long is cut off. */
void loci_replay_pass(struct loci_replay_marks *marks, const struct loci_decoder *decoder,
	const struct loci_event *event);

#endif
