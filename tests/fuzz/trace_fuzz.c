// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary bytes as a trace file. The first byte chooses: as they are; with the checksums of the
 * headers made right, and a seek; or as the columns of a frame, which no checksum guards here. */
#define _GNU_SOURCE
#include "stream/decode.h"
#include "stream/trace_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REFS_MAX 100000 /* a RUN may stand for any number */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(struct loci_decoder *decoder, const uint64_t *words, size_t n_words)
{
	struct loci_ref refs[64];
	struct loci_event event;
	size_t pos = 0, n_refs, n_all = 0;
	int r = 0;

	while (r == 0 && pos < n_words) {
		if (n_all > REFS_MAX)
			loci_decoder_keep_runs(decoder);
		r = loci_decoder_next(
			decoder, words, n_words, &pos, refs, 64, &n_refs, &event, NULL);
		n_all += n_refs;
	}
}

static void repair(uint8_t *bytes, size_t n)
{
	size_t at = sizeof(struct loci_trace_header);
	struct loci_trace_header header;
	struct loci_trace_frame frame;

	if (n < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	memcpy(header.magic, LOCI_TRACE_MAGIC, sizeof(header.magic));
	header.version = LOCI_TRACE_VERSION;
	header.crc = loci_trace_crc(&header, sizeof(header), &header.crc);
	memcpy(bytes, &header, sizeof(header));
	while (n - at >= sizeof(frame)) {
		memcpy(&frame, bytes + at, sizeof(frame));
		if (frame.magic != LOCI_TRACE_FRAME_MAGIC)
			break;
		frame.crc = loci_trace_crc(&frame, sizeof(frame), &frame.crc);
		memcpy(bytes + at, &frame, sizeof(frame));
		at += sizeof(frame);
		if (frame.stored_bytes > n - at)
			break;
		at += frame.stored_bytes;
	}
}

static void read_file(uint8_t *bytes, size_t n, int seek)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct loci_decoder *decoder;
	struct loci_source *source;
	struct loci_err err = { "" };
	uint64_t words[1024];
	ssize_t got;

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) < 0 ||
		loci_decoder_new(&decoder, &err) < 0)
		abort();
	if (loci_trace_open_fd(fd, "fuzz", &source, &err) < 0) {
		if (!err.text[0])
			abort();
		close(fd);
		loci_decoder_free(decoder);
		return;
	}
	if (seek)
		loci_trace_seek(source, (uint64_t)seek * 7, &err);
	while ((got = source->ops->read(source, words, 1024, &err)) > 0)
		decode(decoder, words, (size_t)got);
	if (got < 0 && !err.text[0])
		abort();
	loci_source_close(source);
	loci_decoder_free(decoder);
}

static void unpack(const uint8_t *bytes, size_t n)
{
	size_t column_bytes[LOCI_PACK_COLUMNS], left;
	struct loci_unpacker *unpacker;
	struct loci_decoder *decoder;
	uint64_t words[1024];
	uint8_t *content;
	ssize_t got;

	if (n < 2 * LOCI_PACK_COLUMNS)
		return;
	left = n - 2 * LOCI_PACK_COLUMNS;
	content = calloc(1, left + LOCI_PACK_PADDING);
	if (!content || loci_unpacker_new(&unpacker, NULL) < 0 ||
		loci_decoder_new(&decoder, NULL) < 0)
		abort();
	memcpy(content, bytes + 2 * LOCI_PACK_COLUMNS, left);
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++) {
		size_t want = bytes[2 * c] | (size_t)bytes[2 * c + 1] << 8;

		column_bytes[c] = want < left ? want : left;
		left -= column_bytes[c];
	}
	loci_unpacker_start(unpacker, content, column_bytes);
	while ((got = loci_unpacker_read(unpacker, words, 1024, NULL)) > 0)
		decode(decoder, words, (size_t)got);
	loci_decoder_free(decoder);
	loci_unpacker_free(unpacker);
	free(content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;

	if (size == 0)
		return 0;
	bytes = malloc(size);
	if (!bytes)
		abort();
	memcpy(bytes, data + 1, size - 1);
	if (data[0] % 3 == 1)
		repair(bytes, size - 1);
	if (data[0] % 3 == 2)
		unpack(bytes, size - 1);
	else
		read_file(bytes, size - 1, data[0] % 3 == 1 ? data[0] / 3 : 0);
	free(bytes);
	return 0;
}
