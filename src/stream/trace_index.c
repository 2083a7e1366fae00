// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

uint32_t loci_trace_crc(const void *bytes, size_t n, const uint32_t *crc)
{
	static const uint8_t zero[sizeof(*crc)];
	size_t before = (size_t)((const uint8_t *)crc - (const uint8_t *)bytes);
	uLong sum = crc32_z(0, bytes, before);

	sum = crc32_z(sum, zero, sizeof(zero));
	return (uint32_t)crc32_z(sum, (const uint8_t *)(crc + 1), n - before - sizeof(*crc));
}

int loci_trace_frames_add(struct loci_trace_frames *frames, struct loci_trace_entry entry)
{
	if (frames->n == frames->cap) {
		size_t cap = frames->cap ? 2 * frames->cap : 64;
		void *moved = realloc(frames->entry, cap * sizeof(*frames->entry));

		if (!moved)
			return -ENOMEM;
		frames->entry = moved;
		frames->cap = cap;
	}
	frames->entry[frames->n++] = entry;
	frames->n_words = entry.first_word + entry.n_words;
	return 0;
}

void loci_trace_frames_fini(struct loci_trace_frames *frames)
{
	free(frames->entry);
	*frames = (struct loci_trace_frames){ 0 };
}

int loci_trace_frame_valid(const struct loci_trace_frame *frame)
{
	uint64_t content = 8ull * frame->n_state_words;

	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++)
		content += frame->column_bytes[c];
	return frame->magic == LOCI_TRACE_FRAME_MAGIC &&
		frame->crc == loci_trace_crc(frame, sizeof(*frame), &frame->crc) &&
		frame->n_words > 0 && frame->n_words <= LOCI_TRACE_FRAME_MAX &&
		frame->stored_bytes > 0 && frame->stored_bytes <= LOCI_TRACE_CONTENT_MAX &&
		content <= LOCI_TRACE_CONTENT_MAX;
}

static bool read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
	uint8_t *at = bytes;

	while (n) {
		ssize_t r = pread(fd, at, n, (off_t)offset);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		at += r;
		n -= (size_t)r;
		offset += (uint64_t)r;
	}
	return true;
}

/* Whether entries follow each other in the stream and in the file. */
static bool consistent(const struct loci_trace_frames *frames, uint64_t end)
{
	uint64_t offset = sizeof(struct loci_trace_header), word = 0;

	for (size_t i = 0; i < frames->n; i++) {
		const struct loci_trace_entry *entry = &frames->entry[i];

		if (entry->offset < offset || entry->offset >= end || entry->first_word != word ||
			entry->n_words == 0)
			return false;
		offset = entry->offset + sizeof(struct loci_trace_frame);
		word += entry->n_words;
	}
	return word == frames->n_words;
}

/* 1 if the file has a good index, 0 if not. */
static int read_index(struct loci_trace_frames *frames, int fd, uint64_t size)
{
	struct loci_trace_trailer trailer;
	struct loci_trace_index *index;
	uint64_t bytes;
	int r = 0;

	if (size < sizeof(struct loci_trace_header) + sizeof(*index) + sizeof(trailer) ||
		!read_at(fd, &trailer, sizeof(trailer), size - sizeof(trailer)) ||
		trailer.magic != LOCI_TRACE_TRAILER_MAGIC ||
		trailer.crc != loci_trace_crc(&trailer, sizeof(trailer), &trailer.crc) ||
		trailer.n_frames > size / sizeof(struct loci_trace_entry))
		return 0;
	bytes = sizeof(*index) + trailer.n_frames * sizeof(struct loci_trace_entry);
	if (bytes + sizeof(trailer) > size ||
		trailer.index_offset != size - sizeof(trailer) - bytes)
		return 0;
	index = malloc(bytes);
	if (!index)
		return -ENOMEM;
	if (read_at(fd, index, bytes, trailer.index_offset) &&
		index->magic == LOCI_TRACE_INDEX_MAGIC && index->n_frames == trailer.n_frames &&
		index->crc == loci_trace_crc(index, bytes, &index->crc)) {
		const struct loci_trace_entry *entry = (const void *)(index + 1);

		for (uint64_t i = 0; r == 0 && i < index->n_frames; i++)
			r = loci_trace_frames_add(frames, entry[i]);
		if (r == 0)
			r = consistent(frames, trailer.index_offset) &&
				frames->n_words == trailer.n_words;
	}
	free(index);
	return r;
}

static int scan_headers(struct loci_trace_frames *frames, int fd, uint64_t size)
{
	uint64_t offset = sizeof(struct loci_trace_header);
	struct loci_trace_frame frame;

	while (read_at(fd, &frame, sizeof(frame), offset) && loci_trace_frame_valid(&frame) &&
		frame.first_word == frames->n_words &&
		offset + sizeof(frame) + frame.stored_bytes <= size) {
		int r = loci_trace_frames_add(frames,
			(struct loci_trace_entry){ .offset = offset,
				.first_word = frame.first_word,
				.n_words = frame.n_words,
				.flags = frame.flags });

		if (r < 0)
			return r;
		offset += sizeof(frame) + frame.stored_bytes;
	}
	return 0;
}

int loci_trace_frames_read(
	struct loci_trace_frames *frames, int fd, const char *name, struct loci_err *err)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0 || lseek(fd, 0, SEEK_CUR) < 0)
		return loci_err_set(err, ESPIPE,
			"%s: cannot start in the middle: it is not a file that can be searched",
			name);
	r = read_index(frames, fd, (uint64_t)st.st_size);
	if (r == 0) {
		loci_trace_frames_fini(frames);
		r = scan_headers(frames, fd, (uint64_t)st.st_size);
	}
	if (r < 0) {
		loci_trace_frames_fini(frames);
		return loci_err_nomem(err);
	}
	return 0;
}

size_t loci_trace_frames_find(const struct loci_trace_frames *frames, uint64_t word)
{
	size_t low = 0, high = frames->n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (frames->entry[mid].first_word <= word)
			low = mid;
		else
			high = mid;
	}
	return low;
}
