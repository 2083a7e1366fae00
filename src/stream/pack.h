/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a trace's frame holds words. Every frame stands alone: nothing is carried over from the one
 * before. The words are spread over four columns of bytes, which zstd then compresses well:
 *
 *	tokens  what comes next, a byte each
 *	blocks  numbers of blocks, in order of first use in the frame
 *	deltas  little-endian differences, zigzag, as many bytes as the token says
 *	extras  the rest: LEB128 numbers
 *
 *	token           stands for
 *	00..08          an address: its difference has 0..8 bytes
 *	10..18          BLOCK and an address
 *	20..28 30..38   the same with WIDE (payload 0, one raw word) for the address
 *	40              BLOCK alone
 *	41              no word: the address that follows belongs to the block given in `blocks`, at
 *	                the position in `extras`
 *	42              any other marker, in `extras`: kind, n, payload, raw words; payload and raw
 *words as zigzag differences to those of the marker of this kind before (raw words from the sixth
 *on: to that two before)
 *
 * A block number below e0 is one byte; e0..fe and a byte: e0 + (b - e0) * 256 + byte; ff and four
 * bytes, little-endian. The number that is one more than all before it introduces a block: its id
 * and the number of words of one execution (0: unknown) are in `extras`.
 *
 * An address is predicted to be what it was the last time at the same position of the same block:
 * the difference is to that. Positions count from BLOCK and start again when the block's words are
 * used up. Predictions live in SLOTS places, reused when there are more positions (0 at first).
 * Prediction ignores threads: told apart per thread, addresses of one block differ no less. */
#ifndef LOCI_STREAM_PACK_H
#define LOCI_STREAM_PACK_H

#include "base/err.h"
#include "stream/decode.h"
#include "stream/idmap.h"

#include <stdbool.h>
#include <sys/types.h>

#define LOCI_PACK_SLOTS   (1u << 15)
#define LOCI_PACK_PADDING 8 /* readable bytes after a content that is unpacked */

enum loci_pack_token {
	LOCI_PACK_LEN = 0x0f,
	LOCI_PACK_BLOCK = 0x10,
	LOCI_PACK_WIDE = 0x20,
	LOCI_PACK_OTHER = 0x40, /* this and above: no address */
	LOCI_PACK_BLOCK_ALONE = 0x40,
	LOCI_PACK_AT = 0x41,
	LOCI_PACK_MARKER = 0x42,
};

enum loci_pack_number {
	LOCI_PACK_NUMBER_2 = 0xe0,
	LOCI_PACK_NUMBER_4 = 0xff,
	LOCI_PACK_NUMBER_2_END =
		LOCI_PACK_NUMBER_2 + (LOCI_PACK_NUMBER_4 - LOCI_PACK_NUMBER_2) * 256,
};

enum loci_pack_column {
	LOCI_PACK_TOKENS,
	LOCI_PACK_BLOCKS,
	LOCI_PACK_DELTAS,
	LOCI_PACK_EXTRAS,
	LOCI_PACK_COLUMNS,
};

struct loci_pack_block {
	uint64_t id;
	uint32_t base; /* of its slots */
	uint32_t n_words;
};

/* What packer and unpacker both know at a word. */
struct loci_pack_model {
	uint64_t slot[LOCI_PACK_SLOTS];
	uint64_t payload[128]; /* by kind */
	uint64_t raw[128][8];  /* by kind and position */
	struct loci_pack_block *block;
	uint32_t n_blocks, block_cap;
	uint64_t n_slots;                 /* of all blocks so far */
	uint32_t base, n_words, position; /* of the current block */
};

/* For a new frame. */
void loci_pack_model_reset(struct loci_pack_model *model);
void loci_pack_model_fini(struct loci_pack_model *model);
/* 0 or -ENOMEM. */
int loci_pack_model_add(struct loci_pack_model *model, uint64_t id, uint32_t n_words);

static inline void loci_pack_model_start(struct loci_pack_model *model, uint32_t block)
{
	model->base = model->block[block].base;
	model->n_words = model->block[block].n_words;
	model->position = 0;
}

/* Where the prediction for the next address of the block stands. */
static inline uint64_t *loci_pack_model_slot(struct loci_pack_model *model)
{
	uint32_t position = model->position++;

	if (model->position == model->n_words)
		model->position = 0;
	return &model->slot[(model->base + position) % LOCI_PACK_SLOTS];
}

/* Where the value stands that raw word i of a marker is relative to. */
static inline uint64_t *loci_pack_model_raw(
	struct loci_pack_model *model, unsigned kind, unsigned i)
{
	return &model->raw[kind][i < 6 ? i : 6 + (i & 1)];
}

static inline uint64_t loci_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t loci_unzigzag(uint64_t zigzag)
{
	return zigzag >> 1 ^ (0 - (zigzag & 1));
}

/* Markers that a reader who starts in the middle must have seen. */
static inline bool loci_word_defines(uint64_t marker)
{
	static const uint64_t kinds = 1u << LOCI_MARK_DEFINE | 1u << LOCI_MARK_DEFINE_MORE |
		1u << LOCI_MARK_UNDEFINE | 1u << LOCI_MARK_STRING | 1u << LOCI_MARK_THREAD_START |
		1u << LOCI_MARK_PROCESS | 1u << LOCI_MARK_MODULE_LOAD |
		1u << LOCI_MARK_MODULE_UNLOAD;
	unsigned kind = loci_word_kind(marker);

	return kind < 64 && kinds >> kind & 1;
}

struct loci_packer;

int loci_packer_new(struct loci_packer **ret, struct loci_err *err);
void loci_packer_free(struct loci_packer *packer);
/* Whole markers only. The decoder has seen these words: it knows the blocks' lengths. */
int loci_packer_add(struct loci_packer *packer, const struct loci_decoder *decoder,
	const uint64_t *words, size_t n_words, struct loci_err *err);
/* The columns of the frame so far, good until the next call. */
void loci_packer_columns(const struct loci_packer *packer, const uint8_t *ret[LOCI_PACK_COLUMNS],
	size_t ret_bytes[LOCI_PACK_COLUMNS]);
/* Whether the frame so far holds a marker that later frames may lean on. */
bool loci_packer_has_definitions(const struct loci_packer *packer);
/* Starts the next frame. */
int loci_packer_next(
	struct loci_packer *packer, const struct loci_decoder *decoder, struct loci_err *err);

struct loci_unpacker;

int loci_unpacker_new(struct loci_unpacker **ret, struct loci_err *err);
void loci_unpacker_free(struct loci_unpacker *unpacker);
/* Content is the columns, one after the other, and LOCI_PACK_PADDING bytes; it is borrowed. */
void loci_unpacker_start(struct loci_unpacker *unpacker, const uint8_t *content,
	const size_t bytes[LOCI_PACK_COLUMNS]);
/* Gives the next words, at most cap, which is at least 1024; whole markers only. 0 at the end of
 * the frame, -EBADMSG with err filled where the content makes no sense. */
ssize_t loci_unpacker_read(
	struct loci_unpacker *unpacker, uint64_t *words, size_t cap, struct loci_err *err);

#endif
