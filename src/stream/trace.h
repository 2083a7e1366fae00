/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trace files: a stream's words on disk, delta-coded, in zstd frames with an index at the end, so
 * that a reader can start at any frame and a torn file is readable up to its last whole frame. The
 * layout is described in trace_file.h. */
#ifndef LOCI_STREAM_TRACE_H
#define LOCI_STREAM_TRACE_H

#include "stream/source.h"

#include <stdbool.h>

#define LOCI_TRACE_MAGIC "\x89loci\r\n\x1a" /* 8 bytes: catches text-mode damage, as PNG's does */

struct loci_trace_writer;

/* Writes to a temporary name beside path; close renames, free without close removes it. What exists
 * and is no regular file (a pipe, /dev/stdout) is written to directly. */
int loci_trace_create(const char *path, const struct loci_stream_info *info,
	struct loci_trace_writer **ret, struct loci_err *err);
/* Fewer or more words to a frame than the default; before the first write. For tests. */
void loci_trace_set_frame(struct loci_trace_writer *writer, size_t n_words);
/* Whole markers only. Words that no decoder would take are refused with -EBADMSG; what was written
 * before them is kept. After another error (a full disk) the writer is good only for being freed.
 */
int loci_trace_write(struct loci_trace_writer *writer, const uint64_t *words, size_t n_words,
	struct loci_err *err);
int loci_trace_close(struct loci_trace_writer *writer, struct loci_err *err); /* and frees */
void loci_trace_free(struct loci_trace_writer *writer);                       /* NULL allowed */

/* A file (seekable or not, at its start) as a source. A torn file is read up to its last whole
 * frame, and the source's note says so; damage inside a frame is an error. The source takes fd and
 * closes it; on failure fd stays the caller's. */
int loci_trace_open_fd(int fd, const char *name, struct loci_source **ret, struct loci_err *err);
/* Start at the frame holding word number `word` of the stream. First come the definitions, strings,
 * modules and threads of earlier frames, then the state of every thread (SWITCH, RESUME,
 * SIGNAL_ENTER), then the frame; allocations, regions and windows open at that point are not
 * repeated. Only before the first read, only on seekable files. */
int loci_trace_seek(struct loci_source *source, uint64_t word, struct loci_err *err);
/* How many words of the stream come before the next read; what a seek delivers first is not
 * counted. */
uint64_t loci_trace_tell(const struct loci_source *source);
/* How many words and frames the file holds; -ESPIPE where it is not seekable. */
int loci_trace_extent(struct loci_source *source, uint64_t *ret_words, uint64_t *ret_frames,
	struct loci_err *err);

#endif
