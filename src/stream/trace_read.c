// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading trace files. Nothing in the file is trusted. */
#include "base/cleanup.h"
#include "stream/trace_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static struct loci_trace_reader *trace_of(struct loci_source *source)
{
	return (struct loci_trace_reader *)source;
}

int loci_trace_damaged(struct loci_trace_reader *trace, struct loci_err *err, const char *what)
{
	return loci_err_set(err, EBADMSG,
		"%s: damaged: frame %" PRIu64 " at byte %" PRIu64 ": %s; the %" PRIu64
		" words before it are good",
		trace->name, trace->n_frames + 1, trace->frame_at, what, trace->frame.first_word);
}

static void torn(struct loci_trace_reader *trace, const char *where)
{
	snprintf(trace->source.note, sizeof(trace->source.note),
		"torn %s (byte %" PRIu64 "): %" PRIu64 " whole frames, %" PRIu64 " words were read",
		where, trace->offset, trace->n_frames, trace->word);
	trace->source.incomplete = true;
	trace->ended = true;
}

/* Returns how many bytes were there, n at most, or -errno. */
static ssize_t read_some(
	struct loci_trace_reader *trace, void *bytes, size_t n, struct loci_err *err)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = read(trace->fd, (uint8_t *)bytes + got, n - got);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return loci_err_set(
				err, errno, "%s: cannot read: %s", trace->name, strerror(errno));
		if (r == 0)
			break;
		got += (size_t)r;
		trace->offset += (uint64_t)r;
	}
	return (ssize_t)got;
}

static int need(void *buffer, size_t *cap, size_t want, struct loci_err *err)
{
	void *larger;

	if (want <= *cap)
		return 0;
	larger = realloc(*(void **)buffer, want);
	if (!larger)
		return loci_err_nomem(err);
	*(void **)buffer = larger;
	*cap = want;
	return 0;
}

static int check_header(
	const struct loci_trace_header *header, size_t n, const char *name, struct loci_err *err)
{
	static const char magic[8] = LOCI_TRACE_MAGIC;

	if (n == 0)
		return loci_err_set(err, EBADMSG, "%s: is empty", name);
	if (memcmp(header->magic, magic, n < 8 ? n : 8)) {
		if (n >= 6 && !memcmp(header->magic, magic, 5))
			return loci_err_set(err, EBADMSG,
				"%s: a loci trace whose first bytes were changed: was it "
				"transferred as "
				"text?",
				name);
		return loci_err_set(err, EBADMSG, "%s: is not a loci trace", name);
	}
	if (n >= 12 && header->version > LOCI_TRACE_VERSION)
		return loci_err_set(err, EPROTONOSUPPORT,
			"%s: written by a newer loci (trace version %" PRIu32
			", this one reads up to %d): upgrade to read it",
			name, header->version, LOCI_TRACE_VERSION);
	if (n < sizeof(*header))
		return loci_err_set(
			err, EBADMSG, "%s: torn within its header, after %zu bytes", name, n);
	if (header->crc != loci_trace_crc(header, sizeof(*header), &header->crc) ||
		header->version == 0)
		return loci_err_set(
			err, EBADMSG, "%s: damaged: its header has a wrong checksum", name);
	if (header->info.version > LOCI_STREAM_VERSION)
		return loci_err_set(err, EPROTONOSUPPORT,
			"%s: written by a newer loci (stream version %" PRIu32
			", this one reads up to %d): upgrade to read it",
			name, header->info.version, LOCI_STREAM_VERSION);
	if (header->info.unit > LOCI_UNIT_OBJECT)
		return loci_err_set(err, EPROTONOSUPPORT,
			"%s: its addresses have a unit (%" PRIu32 ") unknown to this version", name,
			header->info.unit);
	return 0;
}

int loci_trace_open_fd(int fd, const char *name, struct loci_source **ret, struct loci_err *err)
{
	struct loci_trace_reader *trace = calloc(1, sizeof(*trace));
	struct loci_trace_header header;
	struct stat st;
	ssize_t n = 0;
	int r;

	if (!trace)
		return loci_err_nomem(err);
	trace->source.ops = &loci_trace_ops;
	trace->fd = fd;
	trace->name = strdup(name);
	trace->zstd = ZSTD_createDCtx();
	r = trace->name && trace->zstd ? 0 : loci_err_nomem(err);
	if (r == 0)
		r = loci_unpacker_new(&trace->unpacker, err);
	if (r == 0) {
		n = read_some(trace, &header, sizeof(header), err);
		r = n < 0 ? (int)n : check_header(&header, (size_t)n, name, err);
	}
	if (r < 0) {
		trace->fd = -1;
		loci_source_close(&trace->source);
		return r;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		trace->size = (uint64_t)st.st_size;
	trace->source.info = header.info;
	trace->source.info.origin[sizeof(header.info.origin) - 1] = 0;
	*ret = &trace->source;
	return 0;
}

/* Reads the entries that follow, compares their checksum and the trailer, and ends. */
static int read_end(
	struct loci_trace_reader *trace, const void *start, size_t have, struct loci_err *err)
{
	struct loci_trace_index head;
	struct loci_trace_trailer trailer;
	loci_autofree uint8_t *bytes = NULL;
	size_t n;
	ssize_t r;
	char extra;

	if (have < sizeof(head)) {
		torn(trace, "in its index");
		return 0;
	}
	memcpy(&head, start, sizeof(head));
	if (head.n_frames != trace->n_frames)
		return loci_trace_damaged(
			trace, err, "the index counts other frames than there are");
	n = sizeof(head) + trace->n_frames * sizeof(struct loci_trace_entry);
	bytes = malloc(n + sizeof(trailer) + have);
	if (!bytes)
		return loci_err_nomem(err);
	memcpy(bytes, start, have);
	if (n + sizeof(trailer) > have) {
		r = read_some(trace, bytes + have, n + sizeof(trailer) - have, err);
		if (r < 0)
			return (int)r;
		have += (size_t)r;
	}
	if (have < n + sizeof(trailer)) {
		torn(trace, "in its index");
		return 0;
	}
	memcpy(&trailer, bytes + n, sizeof(trailer));
	if (head.crc != loci_trace_crc(bytes, n, &((struct loci_trace_index *)bytes)->crc) ||
		trailer.magic != LOCI_TRACE_TRAILER_MAGIC ||
		trailer.crc != loci_trace_crc(&trailer, sizeof(trailer), &trailer.crc) ||
		trailer.n_words != trace->word)
		return loci_trace_damaged(
			trace, err, "the index that follows it has a wrong checksum");
	trace->ended = true;
	r = read_some(trace, &extra, 1, err);
	if (r > 0 || have > n + sizeof(trailer))
		snprintf(trace->source.note, sizeof(trace->source.note),
			"bytes after the trace's end were ignored");
	return r < 0 ? (int)r : 0;
}

/* The compressed bytes of the frame in trace->frame, to content. */
static int decompress(struct loci_trace_reader *trace, struct loci_err *err)
{
	const struct loci_trace_frame *frame = &trace->frame;
	size_t column_bytes[LOCI_PACK_COLUMNS], content = frame->n_state_words * 8ull, n;
	int r;

	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++)
		content += column_bytes[c] = frame->column_bytes[c];
	if (ZSTD_getFrameContentSize(trace->stored, frame->stored_bytes) != content)
		return loci_trace_damaged(trace, err, "its compressed size is wrong");
	r = need(&trace->content, &trace->content_cap, content + LOCI_PACK_PADDING, err);
	if (r < 0)
		return r;
	n = ZSTD_decompressDCtx(
		trace->zstd, trace->content, content, trace->stored, frame->stored_bytes);
	if (ZSTD_isError(n) || n != content)
		return loci_trace_damaged(
			trace, err, "its compressed words or their checksum are wrong");
	memset(trace->content + content, 0, LOCI_PACK_PADDING);
	loci_unpacker_start(
		trace->unpacker, trace->content + frame->n_state_words * 8ull, column_bytes);
	trace->state = (const uint64_t *)trace->content;
	trace->n_state = 0;
	trace->frame_left = frame->n_words;
	trace->in_frame = true;
	return 0;
}

int loci_trace_next_frame(struct loci_trace_reader *trace, struct loci_err *err)
{
	struct loci_trace_frame frame;
	ssize_t n;
	int r;

	trace->frame_at = trace->offset;
	trace->frame.first_word = trace->word;
	n = read_some(trace, &frame, sizeof(frame), err);
	if (n < 0)
		return (int)n;
	if (n >= 4 && frame.magic == LOCI_TRACE_INDEX_MAGIC)
		return read_end(trace, &frame, (size_t)n, err);
	if (n < (ssize_t)sizeof(frame)) {
		torn(trace, n ? "in a frame's header" : "after a frame");
		return 0;
	}
	if (!loci_trace_frame_valid(&frame))
		return loci_trace_damaged(
			trace, err, "its header makes no sense or has a wrong checksum");
	if (frame.first_word != trace->word)
		return loci_trace_damaged(trace, err, "frames are missing or repeated before it");
	if (frame.coding != LOCI_TRACE_CODING)
		return loci_err_set(err, EPROTONOSUPPORT,
			"%s: frame %" PRIu64 " at byte %" PRIu64 " has coding %" PRIu32
			", written by a newer loci: upgrade to read it",
			trace->name, trace->n_frames + 1, trace->frame_at, frame.coding);
	trace->frame = frame;
	r = need(&trace->stored, &trace->stored_cap, frame.stored_bytes, err);
	if (r < 0)
		return r;
	n = read_some(trace, trace->stored, frame.stored_bytes, err);
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)frame.stored_bytes) {
		torn(trace, "in a frame");
		return 0;
	}
	return decompress(trace, err);
}

ssize_t loci_trace_frame_words(
	struct loci_trace_reader *trace, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct loci_err what = { "" };
	ssize_t n = loci_unpacker_read(trace->unpacker, words, cap, &what);

	if (n == -ENOMEM)
		return loci_err_nomem(err);
	if (n < 0)
		return loci_trace_damaged(trace, err, what.text);
	if ((size_t)n > trace->frame_left || (n == 0 && trace->frame_left))
		return loci_trace_damaged(
			trace, err, "it holds another number of words than it says");
	trace->frame_left -= (uint32_t)n;
	if (n == 0) {
		trace->in_frame = false;
		trace->n_frames++;
	}
	return n;
}

static ssize_t trace_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct loci_trace_reader *trace = trace_of(source);
	ssize_t n;
	int r;

	trace->started = true;
	n = loci_trace_seek_words(trace, words, cap, err);
	if (n)
		return n;
	while (!trace->ended) {
		if (trace->in_frame) {
			n = loci_trace_frame_words(trace, words, cap, err);
			if (n > 0)
				trace->word += (uint64_t)n;
			if (n)
				return n;
		}
		r = loci_trace_next_frame(trace, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void trace_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct loci_trace_reader *trace = (const struct loci_trace_reader *)source;

	*ret_done = trace->offset;
	*ret_total = trace->size;
}

static void trace_close(struct loci_source *source)
{
	struct loci_trace_reader *trace = trace_of(source);

	if (trace->fd >= 0)
		close(trace->fd);
	ZSTD_freeDCtx(trace->zstd);
	loci_unpacker_free(trace->unpacker);
	loci_trace_frames_fini(&trace->frames);
	free(trace->stored);
	free(trace->content);
	free(trace->name);
	free(trace);
}

const struct loci_source_ops loci_trace_ops = {
	.read = trace_read,
	.progress = trace_progress,
	.close = trace_close,
};
