// SPDX-License-Identifier: GPL-2.0-or-later
/* The reverse of pack.c. The content may be anything (a checksum is no proof of good will): every
 * read is within its column. */
#include "stream/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_PER_TOKEN 3 /* BLOCK, WIDE and its raw word */

struct span {
	const uint8_t *at, *end;
};

struct loci_unpacker {
	struct loci_pack_model model;
	struct span column[LOCI_PACK_COLUMNS];
};

int loci_unpacker_new(struct loci_unpacker **ret, struct loci_err *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : loci_err_nomem(err);
}

void loci_unpacker_free(struct loci_unpacker *unpacker)
{
	if (!unpacker)
		return;
	loci_pack_model_fini(&unpacker->model);
	free(unpacker);
}

void loci_unpacker_start(struct loci_unpacker *unpacker, const uint8_t *content,
	const size_t bytes[LOCI_PACK_COLUMNS])
{
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++) {
		unpacker->column[c] = (struct span){ content, content + bytes[c] };
		content += bytes[c];
	}
	loci_pack_model_reset(&unpacker->model);
}

static bool get_number(struct span *extras, uint64_t *ret)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64 && extras->at < extras->end; shift += 7) {
		uint8_t byte = *extras->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = number;
			return true;
		}
	}
	return false;
}

static inline bool get_block_number(struct span *blocks, uint32_t *ret)
{
	uint32_t number;

	if (blocks->at == blocks->end)
		return false;
	number = *blocks->at++;
	if (number >= LOCI_PACK_NUMBER_2) {
		size_t more = number == LOCI_PACK_NUMBER_4 ? 4 : 1;

		if ((size_t)(blocks->end - blocks->at) < more)
			return false;
		if (more == 4)
			memcpy(&number, blocks->at, 4);
		else
			number = LOCI_PACK_NUMBER_2 +
				((number - LOCI_PACK_NUMBER_2) << 8 | *blocks->at);
		blocks->at += more;
	}
	*ret = number;
	return true;
}

static int introduce(struct loci_unpacker *u)
{
	uint64_t id, n_words;

	if (!get_number(&u->column[LOCI_PACK_EXTRAS], &id) || id > LOCI_PAYLOAD_MASK ||
		!get_number(&u->column[LOCI_PACK_EXTRAS], &n_words) || n_words > UINT32_MAX)
		return -EBADMSG;
	return loci_pack_model_add(&u->model, id, (uint32_t)n_words);
}

/* Makes the next block of the column current; its BLOCK word is *ret. */
static int get_block(struct loci_unpacker *u, uint64_t *ret)
{
	uint32_t number;

	if (!get_block_number(&u->column[LOCI_PACK_BLOCKS], &number) || number > u->model.n_blocks)
		return -EBADMSG;
	if (number == u->model.n_blocks) {
		int r = introduce(u);

		if (r < 0)
			return r;
	}
	loci_pack_model_start(&u->model, number);
	*ret = loci_mark_word(LOCI_MARK_BLOCK, 0, u->model.block[number].id);
	return 0;
}

/* Of a difference of so many bytes. */
static const uint64_t mask[] = { 0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff,
	0xffffffffffff, 0xffffffffffffff, UINT64_MAX };

static inline int get_address(struct loci_unpacker *u, unsigned len, uint64_t *ret)
{
	struct span *deltas = &u->column[LOCI_PACK_DELTAS];
	uint64_t delta, *slot;

	if (len > 8 || (size_t)(deltas->end - deltas->at) < len)
		return -EBADMSG;
	memcpy(&delta, deltas->at, sizeof(delta));
	deltas->at += len;
	slot = loci_pack_model_slot(&u->model);
	*ret = *slot += loci_unzigzag(delta & mask[len]);
	return 0;
}

/* Token 42. Returns the words it takes, 0 (and nothing is used up) if there is no room for them. */
static ssize_t get_marker(struct loci_unpacker *u, uint64_t *words, size_t room)
{
	struct span *extras = &u->column[LOCI_PACK_EXTRAS];
	unsigned kind, n_raw;
	uint64_t number;

	if (extras->end - extras->at < 2)
		return -EBADMSG;
	kind = extras->at[0];
	n_raw = extras->at[1];
	if (kind >= 128)
		return -EBADMSG;
	if (room < 1 + n_raw)
		return 0;
	extras->at += 2;
	if (!get_number(extras, &number))
		return -EBADMSG;
	u->model.payload[kind] += loci_unzigzag(number);
	words[0] = loci_mark_word(kind, n_raw, u->model.payload[kind]);
	for (unsigned i = 0; i < n_raw; i++) {
		if (!get_number(extras, &number))
			return -EBADMSG;
		words[1 + i] = *loci_pack_model_raw(&u->model, kind, i) += loci_unzigzag(number);
	}
	return 1 + n_raw;
}

/* A token that is no address. Returns the words it takes, or -ENOBUFS if there is no room. */
static ssize_t get_other(struct loci_unpacker *u, unsigned token, uint64_t *words, size_t room)
{
	uint64_t number, block;
	ssize_t r;

	switch (token) {
	case LOCI_PACK_BLOCK_ALONE:
		r = get_block(u, words);
		return r < 0 ? r : 1;
	case LOCI_PACK_AT:
		r = get_block(u, &block);
		if (r < 0)
			return r;
		if (!get_number(&u->column[LOCI_PACK_EXTRAS], &number) || number > UINT32_MAX)
			return -EBADMSG;
		u->model.position = (uint32_t)number;
		return 0;
	case LOCI_PACK_MARKER:
		r = get_marker(u, words, room);
		return r == 0 ? -ENOBUFS : r;
	default:
		return -EBADMSG;
	}
}

/* What nearly all tokens are: addresses that are no markers, alone or with a block seen before.
 * Stops before anything else, and before faults. Returns the words. */
static size_t unpack_addresses(struct loci_unpacker *u, uint64_t *words, size_t cap)
{
	struct loci_pack_model *model = &u->model;
	struct span tokens = u->column[LOCI_PACK_TOKENS], blocks = u->column[LOCI_PACK_BLOCKS],
		    deltas = u->column[LOCI_PACK_DELTAS];
	uint32_t base = model->base, n_words = model->n_words, position = model->position;
	uint64_t *out = words;

	while (tokens.at < tokens.end && (size_t)(out - words) + WORDS_PER_TOKEN <= cap) {
		unsigned token = *tokens.at, len = token & LOCI_PACK_LEN;
		struct loci_pack_block block = { .base = base, .n_words = n_words };
		struct span after = blocks;
		uint64_t delta, address, *slot;
		uint32_t number;

		if (token >= LOCI_PACK_WIDE || len > 8 || (size_t)(deltas.end - deltas.at) < len)
			break;
		if (token & LOCI_PACK_BLOCK) {
			if (!get_block_number(&after, &number) || number >= model->n_blocks)
				break;
			block = model->block[number];
			position = 0;
			out[0] = loci_mark_word(LOCI_MARK_BLOCK, 0, block.id);
		}
		memcpy(&delta, deltas.at, sizeof(delta));
		slot = &model->slot[(block.base + position) % LOCI_PACK_SLOTS];
		address = *slot + loci_unzigzag(delta & mask[len]);
		if (loci_word_is_marker(address))
			break;
		*slot = address;
		out += token >> 4;
		*out++ = address;
		blocks = after;
		deltas.at += len;
		tokens.at++;
		base = block.base;
		n_words = block.n_words;
		position = position + 1 == n_words ? 0 : position + 1;
	}
	u->column[LOCI_PACK_TOKENS].at = tokens.at;
	u->column[LOCI_PACK_BLOCKS].at = blocks.at;
	u->column[LOCI_PACK_DELTAS].at = deltas.at;
	model->base = base;
	model->n_words = n_words;
	model->position = position;
	return (size_t)(out - words);
}

static ssize_t unpack(struct loci_unpacker *u, uint64_t *words, size_t cap)
{
	struct span *tokens = &u->column[LOCI_PACK_TOKENS];
	size_t n = 0;

	for (;;) {
		unsigned token;
		uint64_t address;
		int r = 0;

		n += unpack_addresses(u, words + n, cap - n);
		if (tokens->at == tokens->end || n + WORDS_PER_TOKEN > cap)
			break;
		token = *tokens->at;
		if (token >= LOCI_PACK_OTHER) {
			ssize_t more = get_other(u, token, words + n, cap - n);

			if (more == -ENOBUFS)
				break;
			if (more < 0)
				return more;
			n += (size_t)more;
			tokens->at++;
			continue;
		}
		if (token & LOCI_PACK_BLOCK)
			r = get_block(u, &words[n++]);
		if (r < 0)
			return r;
		r = get_address(u, token & LOCI_PACK_LEN, &address);
		if (r < 0)
			return r;
		if (token & LOCI_PACK_WIDE)
			words[n++] = loci_mark_word(LOCI_MARK_WIDE, 1, 0);
		else if (loci_word_is_marker(address))
			return -EBADMSG;
		words[n++] = address;
		tokens->at++;
	}
	return (ssize_t)n;
}

ssize_t loci_unpacker_read(
	struct loci_unpacker *unpacker, uint64_t *words, size_t cap, struct loci_err *err)
{
	ssize_t n = unpack(unpacker, words, cap);

	if (n == -ENOMEM)
		return loci_err_nomem(err);
	if (n == -EBADMSG)
		return loci_err_set(err, EBADMSG, "its words make no sense");
	return n;
}
