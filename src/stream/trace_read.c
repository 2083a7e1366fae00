// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading trace files, front to back or from a frame on. Nothing in the file is trusted. */
#include "base/cleanup.h"
#include "stream/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

struct trace {
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

static const struct loci_source_ops trace_ops;

static struct trace *trace_of(struct loci_source *source)
{
	return (struct trace *)source;
}

static int damaged(struct trace *trace, struct loci_err *err, const char *what)
{
	return loci_err_set(err, EBADMSG,
		"%s: damaged: frame %" PRIu64 " at byte %" PRIu64 ": %s; the %" PRIu64
		" words before it are good",
		trace->name, trace->n_frames + 1, trace->frame_at, what, trace->frame.first_word);
}

static void torn(struct trace *trace, const char *where)
{
	snprintf(trace->source.note, sizeof(trace->source.note),
		"torn %s (byte %" PRIu64 "): %" PRIu64 " whole frames, %" PRIu64 " words were read",
		where, trace->offset, trace->n_frames, trace->word);
	trace->ended = true;
}

/* Returns how many bytes were there, n at most, or -errno. */
static ssize_t read_some(struct trace *trace, void *bytes, size_t n, struct loci_err *err)
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
	struct trace *trace = calloc(1, sizeof(*trace));
	struct loci_trace_header header;
	struct stat st;
	ssize_t n = 0;
	int r;

	if (!trace)
		return loci_err_nomem(err);
	trace->source.ops = &trace_ops;
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
static int read_end(struct trace *trace, const void *start, size_t have, struct loci_err *err)
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
		return damaged(trace, err, "the index counts other frames than there are");
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
		return damaged(trace, err, "the index that follows it has a wrong checksum");
	trace->ended = true;
	r = read_some(trace, &extra, 1, err);
	if (r > 0 || have > n + sizeof(trailer))
		snprintf(trace->source.note, sizeof(trace->source.note),
			"bytes after the trace's end were ignored");
	return r < 0 ? (int)r : 0;
}

/* The compressed bytes of the frame in trace->frame, to content. */
static int decompress(struct trace *trace, struct loci_err *err)
{
	const struct loci_trace_frame *frame = &trace->frame;
	size_t column_bytes[LOCI_PACK_COLUMNS], content = frame->n_state_words * 8ull, n;
	int r;

	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++)
		content += column_bytes[c] = frame->column_bytes[c];
	if (ZSTD_getFrameContentSize(trace->stored, frame->stored_bytes) != content)
		return damaged(trace, err, "its compressed size is wrong");
	r = need(&trace->content, &trace->content_cap, content + LOCI_PACK_PADDING, err);
	if (r < 0)
		return r;
	n = ZSTD_decompressDCtx(
		trace->zstd, trace->content, content, trace->stored, frame->stored_bytes);
	if (ZSTD_isError(n) || n != content)
		return damaged(trace, err, "its compressed words or their checksum are wrong");
	memset(trace->content + content, 0, LOCI_PACK_PADDING);
	loci_unpacker_start(
		trace->unpacker, trace->content + frame->n_state_words * 8ull, column_bytes);
	trace->state = (const uint64_t *)trace->content;
	trace->n_state = 0;
	trace->frame_left = frame->n_words;
	trace->in_frame = true;
	return 0;
}

/* The next frame of the file; leaves in_frame unset at the end. */
static int next_frame(struct trace *trace, struct loci_err *err)
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
		return damaged(trace, err, "its header makes no sense or has a wrong checksum");
	if (frame.first_word != trace->word)
		return damaged(trace, err, "frames are missing or repeated before it");
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

/* Words of the current frame; 0 when it is used up. */
static ssize_t frame_words(struct trace *trace, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct loci_err what = { "" };
	ssize_t n = loci_unpacker_read(trace->unpacker, words, cap, &what);

	if (n == -ENOMEM)
		return loci_err_nomem(err);
	if (n < 0)
		return damaged(trace, err, what.text);
	if ((size_t)n > trace->frame_left || (n == 0 && trace->frame_left))
		return damaged(trace, err, "it holds another number of words than it says");
	trace->frame_left -= (uint32_t)n;
	if (n == 0) {
		trace->in_frame = false;
		trace->n_frames++;
	}
	return n;
}

static int enter_frame(struct trace *trace, size_t i, struct loci_err *err)
{
	const struct loci_trace_entry *entry = &trace->frames.entry[i];
	int r;

	if (lseek(trace->fd, (off_t)entry->offset, SEEK_SET) < 0)
		return loci_err_set(
			err, errno, "%s: cannot seek: %s", trace->name, strerror(errno));
	trace->offset = entry->offset;
	trace->word = entry->first_word;
	trace->n_frames = i;
	r = next_frame(trace, err);
	if (r == 0 && !trace->in_frame)
		return damaged(trace, err, "it is not where the index says");
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
	struct trace *trace, uint64_t *words, size_t cap, struct loci_err *err)
{
	for (;;) {
		ssize_t n = 0;
		int r;

		if (trace->in_frame)
			n = frame_words(trace, words, cap, err);
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

static ssize_t state_words(struct trace *trace, uint64_t *words, size_t cap, struct loci_err *err)
{
	size_t n = 0, next;

	while (n < trace->n_state) {
		next = n + 1;
		if (loci_word_is_marker(trace->state[n]))
			next += loci_word_n_raw(trace->state[n]);
		if (next > trace->n_state)
			return damaged(trace, err, "the state in which it begins makes no sense");
		if (next > cap)
			break;
		n = next;
	}
	memcpy(words, trace->state, n * sizeof(*words));
	trace->state += n;
	trace->n_state -= n;
	return (ssize_t)n;
}

static ssize_t trace_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct trace *trace = trace_of(source);
	ssize_t n;
	int r;

	trace->started = true;
	if (trace->target) {
		n = earlier_definitions(trace, words, cap, err);
		if (n)
			return n;
	}
	if (trace->n_state)
		return state_words(trace, words, cap, err);
	while (!trace->ended) {
		if (trace->in_frame) {
			n = frame_words(trace, words, cap, err);
			if (n > 0)
				trace->word += (uint64_t)n;
			if (n)
				return n;
		}
		r = next_frame(trace, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void trace_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct trace *trace = (const struct trace *)source;

	*ret_done = trace->offset;
	*ret_total = trace->size;
}

static void trace_close(struct loci_source *source)
{
	struct trace *trace = trace_of(source);

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

static const struct loci_source_ops trace_ops = {
	.read = trace_read,
	.progress = trace_progress,
	.close = trace_close,
};

static int find_frames(struct trace *trace, struct loci_err *err)
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
	struct trace *trace = trace_of(source);
	int r;

	if (source->ops != &trace_ops || trace->started)
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
	const struct trace *trace = (const struct trace *)source;

	return trace->target ? trace->frames.entry[trace->target].first_word : trace->word;
}

int loci_trace_extent(
	struct loci_source *source, uint64_t *ret_words, uint64_t *ret_frames, struct loci_err *err)
{
	struct trace *trace = trace_of(source);
	int r;

	if (source->ops != &trace_ops)
		return loci_err_set(err, EINVAL, "not a trace");
	r = find_frames(trace, err);
	if (r < 0)
		return r;
	*ret_words = trace->frames.n_words;
	*ret_frames = trace->frames.n;
	return 0;
}
