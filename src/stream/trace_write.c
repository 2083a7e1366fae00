// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing trace files. Every word passes a decoder, so that a trace that was written can be read,
 * and so that each frame can say in which state it begins. */
#define _GNU_SOURCE
#include "base/cleanup.h"
#include "stream/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#define ZSTD_LEVEL  1    /* 3 gains 7 % in size on a gzip trace and takes a quarter more time */
#define SLICE_WORDS 1024 /* decoded, then packed: both find them in the first-level cache */
#define SLICE_REFS  512

struct loci_trace_writer {
	int fd;
	char *path, *temporary; /* temporary is NULL where we write to path itself */
	struct loci_stream_info info;
	struct loci_decoder *decoder;
	struct loci_packer *packer;
	ZSTD_CCtx *zstd;
	size_t frame_words; /* at which a frame is full */
	uint32_t n_words;   /* of this frame */
	uint64_t *state;    /* in which it begins */
	size_t n_state, state_cap;
	uint8_t *content, *stored;
	size_t content_cap, stored_cap;
	uint64_t offset;
	struct loci_trace_frames frames;
	int failed; /* an error after which nothing can be written */
	struct loci_ref refs[SLICE_REFS];
};

static int write_all(
	struct loci_trace_writer *writer, const void *bytes, size_t n, struct loci_err *err)
{
	const uint8_t *at = bytes;

	while (n) {
		ssize_t r = write(writer->fd, at, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return loci_err_set(
				err, errno, "%s: cannot write: %s", writer->path, strerror(errno));
		at += r;
		n -= (size_t)r;
		writer->offset += (uint64_t)r;
	}
	return 0;
}

static int open_temporary(struct loci_trace_writer *writer)
{
	struct stat st;

	if (stat(writer->path, &st) == 0 && !S_ISREG(st.st_mode)) {
		writer->fd = open(writer->path, O_WRONLY | O_CLOEXEC);
		return writer->fd < 0 ? -errno : 0;
	}
	for (unsigned try = 0; try < 100; try++) {
		free(writer->temporary);
		if (asprintf(&writer->temporary, "%s.%ld-%u.tmp", writer->path, (long)getpid(),
			    try) < 0) {
			writer->temporary = NULL;
			return -ENOMEM;
		}
		writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (writer->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	free(writer->temporary);
	writer->temporary = NULL;
	return -errno;
}

static int write_header(struct loci_trace_writer *writer, struct loci_err *err)
{
	struct loci_trace_header header = { .version = LOCI_TRACE_VERSION, .info = writer->info };

	memcpy(header.magic, LOCI_TRACE_MAGIC, sizeof(header.magic));
	header.crc = loci_trace_crc(&header, sizeof(header), &header.crc);
	return write_all(writer, &header, sizeof(header), err);
}

int loci_trace_create(const char *path, const struct loci_stream_info *info,
	struct loci_trace_writer **ret, struct loci_err *err)
{
	struct loci_trace_writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (!writer)
		return loci_err_nomem(err);
	writer->fd = -1;
	writer->frame_words = LOCI_TRACE_FRAME_WORDS;
	writer->info = *info;
	writer->path = realpath(path, NULL); /* through links, so that they stay */
	if (!writer->path)
		writer->path = strdup(path);
	writer->zstd = ZSTD_createCCtx();
	r = writer->path && writer->zstd ? 0 : loci_err_nomem(err);
	if (r == 0)
		r = loci_decoder_new(&writer->decoder, err);
	if (r == 0)
		r = loci_packer_new(&writer->packer, err);
	if (r == 0) {
		loci_decoder_keep_runs(writer->decoder);
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
		r = open_temporary(writer);
		if (r < 0)
			loci_err_set(err, -r, "%s: cannot create: %s", path, strerror(-r));
	}
	if (r == 0)
		r = write_header(writer, err);
	if (r < 0) {
		loci_trace_free(writer);
		return r;
	}
	*ret = writer;
	return 0;
}

void loci_trace_set_frame(struct loci_trace_writer *writer, size_t n_words)
{
	writer->frame_words = n_words < 1 ? 1 : n_words;
	if (writer->frame_words > LOCI_TRACE_FRAME_WORDS)
		writer->frame_words = LOCI_TRACE_FRAME_WORDS;
}

static int need(void *buffer, size_t *cap, size_t want, struct loci_err *err)
{
	void *larger;

	if (want <= *cap)
		return 0;
	larger = realloc(*(void **)buffer, want + want / 2);
	if (!larger)
		return loci_err_nomem(err);
	*(void **)buffer = larger;
	*cap = want + want / 2;
	return 0;
}

/* State and columns, one after the other, into content. */
static int assemble(struct loci_trace_writer *writer, struct loci_trace_frame *frame,
	size_t *ret_bytes, struct loci_err *err)
{
	const uint8_t *column[LOCI_PACK_COLUMNS];
	size_t bytes[LOCI_PACK_COLUMNS], total = writer->n_state * sizeof(*writer->state);
	uint8_t *at;
	int r;

	loci_packer_columns(writer->packer, column, bytes);
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++) {
		total += bytes[c];
		frame->column_bytes[c] = (uint32_t)bytes[c];
	}
	if (total > LOCI_TRACE_CONTENT_MAX)
		return loci_err_set(err, EOVERFLOW,
			"%s: the state of %zu words in which a frame begins is too large",
			writer->path, writer->n_state);
	r = need(&writer->content, &writer->content_cap, total, err);
	if (r < 0)
		return r;
	at = writer->content;
	memcpy(at, writer->state, writer->n_state * sizeof(*writer->state));
	at += writer->n_state * sizeof(*writer->state);
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++) {
		memcpy(at, column[c], bytes[c]);
		at += bytes[c];
	}
	*ret_bytes = total;
	return 0;
}

static int end_frame(struct loci_trace_writer *writer, struct loci_err *err)
{
	struct loci_trace_frame frame = { .magic = LOCI_TRACE_FRAME_MAGIC,
		.first_word = writer->frames.n_words,
		.n_words = writer->n_words,
		.coding = LOCI_TRACE_CODING,
		.n_state_words = (uint32_t)writer->n_state };
	uint64_t offset = writer->offset;
	size_t bytes = 0, stored;
	int r;

	if (writer->n_words == 0)
		return 0;
	if (loci_packer_has_definitions(writer->packer))
		frame.flags |= LOCI_TRACE_DEFINITIONS;
	r = assemble(writer, &frame, &bytes, err);
	if (r == 0)
		r = need(&writer->stored, &writer->stored_cap, ZSTD_compressBound(bytes), err);
	if (r < 0)
		return r;
	stored = ZSTD_compress2(
		writer->zstd, writer->stored, writer->stored_cap, writer->content, bytes);
	if (ZSTD_isError(stored))
		return loci_err_set(err, ENOMEM, "%s: cannot compress: %s", writer->path,
			ZSTD_getErrorName(stored));
	frame.stored_bytes = (uint32_t)stored;
	frame.crc = loci_trace_crc(&frame, sizeof(frame), &frame.crc);
	r = write_all(writer, &frame, sizeof(frame), err);
	if (r == 0)
		r = write_all(writer, writer->stored, stored, err);
	if (r < 0)
		return r;
	writer->n_words = 0;
	if (loci_trace_frames_add(&writer->frames,
		    (struct loci_trace_entry){ .offset = offset,
			    .first_word = frame.first_word,
			    .n_words = frame.n_words,
			    .flags = frame.flags }) < 0)
		return loci_err_nomem(err);
	return loci_packer_next(writer->packer, writer->decoder, err);
}

/* Notes the state in which the next frame begins. */
static int begin_frame(struct loci_trace_writer *writer, struct loci_err *err)
{
	size_t n = loci_decoder_state(writer->decoder, NULL, 0), bytes = writer->state_cap;
	int r = need(&writer->state, &bytes, n * sizeof(*writer->state), err);

	if (r < 0)
		return r;
	writer->state_cap = bytes;
	writer->n_state = loci_decoder_state(writer->decoder, writer->state, n);
	return 0;
}

/* The most words from the first on that are whole markers and fit into room; one marker at least.
 */
static size_t whole(const uint64_t *words, size_t n_words, size_t room)
{
	size_t n = 0;

	while (n < n_words) {
		size_t next = n + 1;

		if (loci_word_is_marker(words[n]))
			next += loci_word_n_raw(words[n]);
		if (next > n_words || (next > room && n > 0))
			break;
		n = next;
		if (n >= room)
			break;
	}
	return n;
}

/* Returns how many of the words are good; fewer than all only with a negative *ret_error. */
static size_t decode(struct loci_trace_writer *writer, const uint64_t *words, size_t n_words,
	int *ret_error, struct loci_err *err)
{
	size_t pos = 0;

	*ret_error = 0;
	while (pos < n_words && *ret_error == 0) {
		struct loci_event event;
		size_t n_refs;

		*ret_error = loci_decoder_next(writer->decoder, words, n_words, &pos, writer->refs,
			SLICE_REFS, &n_refs, &event, err);
	}
	return pos;
}

static int write_slice(struct loci_trace_writer *writer, const uint64_t *words, size_t n_words,
	struct loci_err *err)
{
	int malformed, r = 0;
	size_t good;

	if (writer->n_words == 0)
		r = begin_frame(writer, err);
	if (r < 0)
		return r;
	good = decode(writer, words, n_words, &malformed, err);
	r = loci_packer_add(writer->packer, writer->decoder, words, good, err);
	writer->n_words += (uint32_t)good;
	if (r == 0 && writer->n_words >= writer->frame_words)
		r = end_frame(writer, err);
	if (r < 0)
		return writer->failed = r;
	return malformed;
}

int loci_trace_write(struct loci_trace_writer *writer, const uint64_t *words, size_t n_words,
	struct loci_err *err)
{
	while (n_words) {
		size_t room = writer->frame_words - writer->n_words;
		size_t n = whole(words, n_words, room < SLICE_WORDS ? room : SLICE_WORDS);
		int r;

		if (writer->failed)
			return loci_err_set(err, -writer->failed, "%s: an earlier write failed: %s",
				writer->path, strerror(-writer->failed));
		if (n == 0)
			return loci_err_set(err, EBADMSG,
				"%s: the last marker's raw words are missing", writer->path);
		r = write_slice(writer, words, n, err);
		if (r < 0)
			return r;
		words += n;
		n_words -= n;
	}
	return 0;
}

static int write_index(struct loci_trace_writer *writer, struct loci_err *err)
{
	size_t entries = writer->frames.n * sizeof(struct loci_trace_entry);
	loci_autofree struct loci_trace_index *index = calloc(1, sizeof(*index) + entries);
	struct loci_trace_trailer trailer = { .index_offset = writer->offset,
		.n_words = writer->frames.n_words,
		.n_frames = writer->frames.n,
		.magic = LOCI_TRACE_TRAILER_MAGIC };
	int r;

	if (!index)
		return loci_err_nomem(err);
	index->magic = LOCI_TRACE_INDEX_MAGIC;
	index->n_frames = writer->frames.n;
	if (entries)
		memcpy(index + 1, writer->frames.entry, entries);
	index->crc = loci_trace_crc(index, sizeof(*index) + entries, &index->crc);
	trailer.crc = loci_trace_crc(&trailer, sizeof(trailer), &trailer.crc);
	r = write_all(writer, index, sizeof(*index) + entries, err);
	return r < 0 ? r : write_all(writer, &trailer, sizeof(trailer), err);
}

static int finish(struct loci_trace_writer *writer, struct loci_err *err)
{
	int fd = writer->fd, r = writer->failed;

	if (r < 0)
		return loci_err_set(
			err, -r, "%s: an earlier write failed: %s", writer->path, strerror(-r));
	r = end_frame(writer, err);
	if (r == 0)
		r = write_index(writer, err);
	if (r < 0)
		return r;
	writer->fd = -1;
	if (close(fd) < 0)
		return loci_err_set(
			err, errno, "%s: cannot write: %s", writer->path, strerror(errno));
	if (writer->temporary && rename(writer->temporary, writer->path) < 0)
		return loci_err_set(err, errno, "%s: cannot rename %s: %s", writer->path,
			writer->temporary, strerror(errno));
	free(writer->temporary);
	writer->temporary = NULL;
	return 0;
}

int loci_trace_close(struct loci_trace_writer *writer, struct loci_err *err)
{
	int r = finish(writer, err);

	loci_trace_free(writer);
	return r;
}

void loci_trace_free(struct loci_trace_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	if (writer->temporary)
		unlink(writer->temporary);
	loci_decoder_free(writer->decoder);
	loci_packer_free(writer->packer);
	ZSTD_freeCCtx(writer->zstd);
	loci_trace_frames_fini(&writer->frames);
	free(writer->state);
	free(writer->content);
	free(writer->stored);
	free(writer->path);
	free(writer->temporary);
	free(writer);
}
