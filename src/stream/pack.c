// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_BLOCK UINT64_MAX
/* The most bytes that one word, or a marker and its raw words divided by their number, add to a
 * column, with room for storing 8 bytes at once. */
static const uint8_t column_growth[LOCI_PACK_COLUMNS] = { 2, 10, 8, 32 };
#define COLUMN_SPARE 64

struct column {
	uint8_t *bytes;
	size_t n, cap;
};

/* Where a thread was when another took over. */
struct place {
	uint64_t block; /* id, or NO_BLOCK */
	uint32_t position;
};

struct loci_packer {
	struct loci_pack_model model;
	struct column column[LOCI_PACK_COLUMNS];
	struct loci_idmap blocks; /* id -> number in the frame */
	struct place now;         /* its position is the model's */
	struct place *thread;     /* by number in threads */
	size_t n_threads, thread_cap;
	struct loci_idmap threads;
	uint32_t at;          /* the current thread */
	bool has_definitions; /* in this frame */
};

void loci_pack_model_reset(struct loci_pack_model *model)
{
	memset(model->slot, 0, sizeof(model->slot));
	memset(model->payload, 0, sizeof(model->payload));
	memset(model->raw, 0, sizeof(model->raw));
	model->n_blocks = 0;
	model->n_slots = 0;
	model->base = model->n_words = model->position = 0;
}

void loci_pack_model_fini(struct loci_pack_model *model)
{
	free(model->block);
	model->block = NULL;
}

int loci_pack_model_add(struct loci_pack_model *model, uint64_t id, uint32_t n_words)
{
	if (model->n_blocks == model->block_cap) {
		uint32_t cap = model->block_cap ? 2 * model->block_cap : 64;
		void *moved = realloc(model->block, cap * sizeof(*model->block));

		if (!moved)
			return -ENOMEM;
		model->block = moved;
		model->block_cap = cap;
	}
	model->block[model->n_blocks++] = (struct loci_pack_block){
		.id = id, .base = model->n_slots % LOCI_PACK_SLOTS, .n_words = n_words
	};
	model->n_slots += n_words;
	return 0;
}

int loci_packer_new(struct loci_packer **ret, struct loci_err *err)
{
	struct loci_packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return loci_err_nomem(err);
	packer->now.block = NO_BLOCK;
	packer->thread = calloc(1, sizeof(*packer->thread));
	packer->n_threads = packer->thread_cap = 1;
	if (!packer->thread || loci_idmap_put(&packer->threads, 0, 0) < 0) {
		loci_packer_free(packer);
		return loci_err_nomem(err);
	}
	*ret = packer;
	return 0;
}

void loci_packer_free(struct loci_packer *packer)
{
	if (!packer)
		return;
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++)
		free(packer->column[c].bytes);
	loci_pack_model_fini(&packer->model);
	loci_idmap_fini(&packer->blocks);
	loci_idmap_fini(&packer->threads);
	free(packer->thread);
	free(packer);
}

static int reserve(struct loci_packer *packer, size_t n_words)
{
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++) {
		struct column *column = &packer->column[c];
		size_t want = column->n + column_growth[c] * n_words + COLUMN_SPARE;
		uint8_t *moved;

		if (want <= column->cap)
			continue;
		moved = realloc(column->bytes, 2 * want);
		if (!moved)
			return -ENOMEM;
		column->bytes = moved;
		column->cap = 2 * want;
	}
	return 0;
}

static inline void put_byte(struct loci_packer *packer, enum loci_pack_column c, unsigned byte)
{
	struct column *column = &packer->column[c];

	column->bytes[column->n++] = (uint8_t)byte;
}

static void put_number(struct loci_packer *packer, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		put_byte(packer, LOCI_PACK_EXTRAS, 0x80 | (number & 0x7f));
	put_byte(packer, LOCI_PACK_EXTRAS, (unsigned)number);
}

static void put_block_number(struct loci_packer *packer, uint32_t number)
{
	if (number < LOCI_PACK_NUMBER_2) {
		put_byte(packer, LOCI_PACK_BLOCKS, number);
	} else if (number < LOCI_PACK_NUMBER_2_END) {
		number -= LOCI_PACK_NUMBER_2;
		put_byte(packer, LOCI_PACK_BLOCKS, LOCI_PACK_NUMBER_2 + (number >> 8));
		put_byte(packer, LOCI_PACK_BLOCKS, number & 0xff);
	} else {
		put_byte(packer, LOCI_PACK_BLOCKS, LOCI_PACK_NUMBER_4);
		for (unsigned shift = 0; shift < 32; shift += 8)
			put_byte(packer, LOCI_PACK_BLOCKS, number >> shift & 0xff);
	}
}

/* Refers to a block, introducing it if need be, and makes it current. */
static int put_block(struct loci_packer *packer, const struct loci_decoder *decoder, uint64_t id)
{
	uint32_t number = loci_idmap_get(&packer->blocks, id);

	if (number == LOCI_IDMAP_NONE) {
		uint32_t n_words = loci_decoder_block_words(decoder, id);

		number = packer->model.n_blocks;
		if (loci_idmap_put(&packer->blocks, id, number) < 0 ||
			loci_pack_model_add(&packer->model, id, n_words) < 0)
			return -ENOMEM;
		put_number(packer, id);
		put_number(packer, n_words);
	}
	put_block_number(packer, number);
	loci_pack_model_start(&packer->model, number);
	packer->now.block = id;
	return 0;
}

static inline void put_address(struct loci_packer *packer, unsigned token, uint64_t address)
{
	struct column *deltas = &packer->column[LOCI_PACK_DELTAS];
	uint64_t *slot = loci_pack_model_slot(&packer->model);
	uint64_t delta = loci_zigzag(address - *slot);
	unsigned len = (71 - (unsigned)__builtin_clzll(delta | 1)) / 8 - (delta == 0);

	*slot = address;
	memcpy(deltas->bytes + deltas->n, &delta, sizeof(delta));
	deltas->n += len;
	put_byte(packer, LOCI_PACK_TOKENS, token | len);
}

static void put_marker(struct loci_packer *packer, const uint64_t *words)
{
	unsigned kind = loci_word_kind(words[0]), n_raw = loci_word_n_raw(words[0]);
	uint64_t payload = loci_word_payload(words[0]);

	put_byte(packer, LOCI_PACK_TOKENS, LOCI_PACK_MARKER);
	put_byte(packer, LOCI_PACK_EXTRAS, kind);
	put_byte(packer, LOCI_PACK_EXTRAS, n_raw);
	put_number(packer, loci_zigzag(payload - packer->model.payload[kind]));
	packer->model.payload[kind] = payload;
	for (unsigned i = 0; i < n_raw; i++) {
		uint64_t *last = loci_pack_model_raw(&packer->model, kind, i);

		put_number(packer, loci_zigzag(words[1 + i] - *last));
		*last = words[1 + i];
	}
}

/* Says where in which block the next address is, unless none is known. */
static int put_place(
	struct loci_packer *packer, const struct loci_decoder *decoder, struct place place)
{
	int r;

	packer->now.block = NO_BLOCK;
	if (place.block == NO_BLOCK)
		return 0;
	put_byte(packer, LOCI_PACK_TOKENS, LOCI_PACK_AT);
	r = put_block(packer, decoder, place.block);
	put_number(packer, place.position);
	packer->model.position = place.position;
	return r;
}

static int switch_thread(
	struct loci_packer *packer, const struct loci_decoder *decoder, uint64_t id)
{
	uint32_t at = loci_idmap_get(&packer->threads, id);

	if (at == LOCI_IDMAP_NONE) {
		if (packer->n_threads == packer->thread_cap) {
			size_t cap = 2 * packer->thread_cap;
			void *moved = realloc(packer->thread, cap * sizeof(*packer->thread));

			if (!moved)
				return -ENOMEM;
			packer->thread = moved;
			packer->thread_cap = cap;
		}
		at = (uint32_t)packer->n_threads;
		if (loci_idmap_put(&packer->threads, id, at) < 0)
			return -ENOMEM;
		packer->thread[packer->n_threads++].block = NO_BLOCK;
	}
	packer->now.position = packer->model.position;
	packer->thread[packer->at] = packer->now;
	packer->at = at;
	return put_place(packer, decoder, packer->thread[at]);
}

static inline bool is_wide(const uint64_t *words)
{
	return words[0] == loci_mark_word(LOCI_MARK_WIDE, 1, 0);
}

static inline bool is_block(uint64_t word)
{
	return word >> LOCI_PAYLOAD_BITS ==
		loci_mark_word(LOCI_MARK_BLOCK, 0, 0) >> LOCI_PAYLOAD_BITS;
}

/* A marker that is neither BLOCK nor WIDE. */
static int add_marker(
	struct loci_packer *packer, const struct loci_decoder *decoder, const uint64_t *words)
{
	put_marker(packer, words);
	packer->has_definitions |= loci_word_defines(words[0]);
	if (loci_word_kind(words[0]) == LOCI_MARK_SWITCH)
		return switch_thread(packer, decoder, loci_word_payload(words[0]));
	return 0;
}

int loci_packer_add(struct loci_packer *packer, const struct loci_decoder *decoder,
	const uint64_t *words, size_t n_words, struct loci_err *err)
{
	const uint64_t *p = words, *end = words + n_words;
	int r = reserve(packer, n_words);

	while (r == 0 && p < end) {
		unsigned token = 0;

		if (is_block(*p)) {
			r = put_block(packer, decoder, loci_word_payload(*p++));
			if (p == end || (loci_word_is_marker(*p) && !is_wide(p))) {
				put_byte(packer, LOCI_PACK_TOKENS, LOCI_PACK_BLOCK_ALONE);
				continue;
			}
			token = LOCI_PACK_BLOCK;
		}
		if (!loci_word_is_marker(*p)) {
			put_address(packer, token, *p++);
		} else if (is_wide(p)) {
			put_address(packer, token | LOCI_PACK_WIDE, p[1]);
			p += 2;
		} else {
			r = add_marker(packer, decoder, p);
			p += 1 + loci_word_n_raw(*p);
		}
	}
	return r < 0 ? loci_err_nomem(err) : 0;
}

void loci_packer_columns(const struct loci_packer *packer, const uint8_t *ret[LOCI_PACK_COLUMNS],
	size_t ret_bytes[LOCI_PACK_COLUMNS])
{
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++) {
		ret[c] = packer->column[c].bytes;
		ret_bytes[c] = packer->column[c].n;
	}
}

bool loci_packer_has_definitions(const struct loci_packer *packer)
{
	return packer->has_definitions;
}

int loci_packer_next(
	struct loci_packer *packer, const struct loci_decoder *decoder, struct loci_err *err)
{
	struct place place = { packer->now.block, packer->model.position };

	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++)
		packer->column[c].n = 0;
	packer->has_definitions = false;
	loci_idmap_clear(&packer->blocks);
	loci_pack_model_reset(&packer->model);
	if (reserve(packer, 1) < 0 || put_place(packer, decoder, place) < 0)
		return loci_err_nomem(err);
	return 0;
}
