/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of a trace file. Numbers are little-endian.
 *
 *	header    magic, version, the stream's info
 *	frame...  header, then one zstd frame with a checksum of its own
 *	index     where the frames are
 *	trailer   where the index is, at the very end
 *
 * A zstd frame holds the words that bring a decoder to the state in which the frame begins
 * (n_state_words of 8 bytes, see loci_decoder_state; read only after seeking) and the four columns
 *of pack.h. Headers, index and trailer carry the CRC-32 of themselves with that field zero. */
#ifndef LOCI_STREAM_TRACE_FILE_H
#define LOCI_STREAM_TRACE_FILE_H

#include "stream/pack.h"
#include "stream/trace.h"

#define LOCI_TRACE_VERSION       1
#define LOCI_TRACE_CODING        1           /* pack.h's columns in a zstd frame */
#define LOCI_TRACE_FRAME_WORDS   (1u << 18)  /* by default */
#define LOCI_TRACE_FRAME_MAX     (1u << 20)  /* words */
#define LOCI_TRACE_CONTENT_MAX   (1u << 26)  /* bytes */
#define LOCI_TRACE_FRAME_MAGIC   0x4d52464cu /* "LFRM" */
#define LOCI_TRACE_INDEX_MAGIC   0x5844494cu /* "LIDX" */
#define LOCI_TRACE_TRAILER_MAGIC 0x444e454cu /* "LEND" */

struct loci_trace_header {
	char magic[8];
	uint32_t version; /* of the file's layout; a reader refuses a greater one */
	uint32_t crc;
	struct loci_stream_info info;
	uint8_t reserved[48]; /* zero */
};
_Static_assert(sizeof(struct loci_trace_header) == 128, "fixed");

enum loci_trace_frame_flag {
	LOCI_TRACE_DEFINITIONS = 1, /* holds markers that later frames may lean on */
};

struct loci_trace_frame {
	uint32_t magic;
	uint32_t crc;
	uint64_t first_word; /* its number in the stream */
	uint32_t n_words;
	uint32_t flags;
	uint32_t coding;
	uint32_t n_state_words;
	uint32_t column_bytes[LOCI_PACK_COLUMNS];
	uint32_t stored_bytes; /* of the zstd frame that follows */
	uint32_t reserved[3];  /* zero */
};
_Static_assert(sizeof(struct loci_trace_frame) == 64, "fixed");

struct loci_trace_index {
	uint32_t magic;
	uint32_t crc; /* of this and of the entries that follow */
	uint64_t n_frames;
};

struct loci_trace_entry {
	uint64_t offset;
	uint64_t first_word;
	uint32_t n_words;
	uint32_t flags; /* the frame's */
};
_Static_assert(sizeof(struct loci_trace_entry) == 24, "fixed");

struct loci_trace_trailer {
	uint64_t index_offset;
	uint64_t n_words, n_frames;
	uint32_t crc;
	uint32_t magic; /* the file's last four bytes */
};
_Static_assert(sizeof(struct loci_trace_trailer) == 32, "fixed");

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "headers are written as they are");

/* The CRC-32 (zlib's) of n bytes, but for the four at crc, which lie within them. */
uint32_t loci_trace_crc(const void *bytes, size_t n, const uint32_t *crc);

/* Where the frames are, for seeking. */
struct loci_trace_frames {
	struct loci_trace_entry *entry;
	size_t n, cap;
	uint64_t n_words;
};

int loci_trace_frames_add(struct loci_trace_frames *frames, struct loci_trace_entry entry);
void loci_trace_frames_fini(struct loci_trace_frames *frames);
/* From the file's index, or, if it has none that makes sense, from the headers of its frames. */
int loci_trace_frames_read(
	struct loci_trace_frames *frames, int fd, const char *name, struct loci_err *err);
/* The one that holds the word; there is one. */
size_t loci_trace_frames_find(const struct loci_trace_frames *frames, uint64_t word);

/* 1 if it is a frame's header, 0 if it is not or its sizes make no sense. */
int loci_trace_frame_valid(const struct loci_trace_frame *frame);

#endif
