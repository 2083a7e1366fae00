/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What trace_read.c and trace_seek.c share. */
#ifndef LOCI_STREAM_TRACE_READER_H
#define LOCI_STREAM_TRACE_READER_H

#include "stream/trace_file.h"

#include <zstd.h>

struct loci_trace_reader {
	struct loci_source source;
	int fd;
	char *name;
	uint64_t size;     /* of the file, 0: unknown */
	uint64_t offset;   /* bytes read, or where reading went on after a seek */
	uint64_t word;     /* number of the next in the stream */
	uint64_t frame_at; /* frame's offset */
	uint64_t n_frames; /* before the current one */
	struct loci_trace_frame frame;
	uint32_t frame_left; /* words of it not delivered */
	bool in_frame, started, ended;
	const uint64_t *state; /* to be delivered before the frame, in content */
	size_t n_state;
	uint8_t *stored, *content;
	size_t stored_cap, content_cap;
	ZSTD_DCtx *zstd;
	struct loci_unpacker *unpacker;
	/* After a seek: definitions of frames before this one are delivered first. */
	struct loci_trace_frames frames;
	bool have_frames;
	size_t next_definitions, target;
};

/* Where reading goes wrong: fills err with what and where, returns -EBADMSG. */
int loci_trace_damaged(struct loci_trace_reader *trace, struct loci_err *err, const char *what);
/* The next frame of the file; leaves in_frame unset at the end. */
int loci_trace_next_frame(struct loci_trace_reader *trace, struct loci_err *err);
/* Words of the current frame; 0 when it is used up. */
ssize_t loci_trace_frame_words(
	struct loci_trace_reader *trace, uint64_t *words, size_t cap, struct loci_err *err);
/* What comes before the frame sought; 0 when that is done. */
ssize_t loci_trace_seek_words(
	struct loci_trace_reader *trace, uint64_t *words, size_t cap, struct loci_err *err);

/* To tell our sources from others. */
extern const struct loci_source_ops loci_trace_ops;

#endif
