// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/text_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (64 << 10)
#define FIRST_SLOTS 256

struct text_piece {
	struct text_piece *next;
	size_t used, size;
	char bytes[];
};

/* Fowler, Noll and Vo's hash, 64 bits, with its upper half folded in: slots use the lower bits. */
static uint64_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h ^ h >> 32;
}

/* The slot that holds text, or the free one where it belongs. */
static const char **find_slot(const struct text_pool *pool, const char *text)
{
	size_t mask = pool->n_slots - 1, at = hash(text) & mask;

	while (pool->slot[at] && strcmp(pool->slot[at], text))
		at = (at + 1) & mask;
	return &pool->slot[at];
}

static int grow(struct text_pool *pool)
{
	struct text_pool larger = *pool;

	larger.n_slots = pool->n_slots ? 2 * pool->n_slots : FIRST_SLOTS;
	larger.slot = calloc(larger.n_slots, sizeof(*larger.slot));
	if (!larger.slot)
		return -1;
	for (size_t i = 0; i < pool->n_slots; i++)
		if (pool->slot[i])
			*find_slot(&larger, pool->slot[i]) = pool->slot[i];
	free(pool->slot);
	*pool = larger;
	return 0;
}

static const char *copy(struct text_pool *pool, const char *text)
{
	size_t size = strlen(text) + 1;
	struct text_piece *piece = pool->piece;

	if (!piece || piece->size - piece->used < size) {
		size_t room = size > PIECE_BYTES ? size : PIECE_BYTES;

		piece = malloc(sizeof(*piece) + room);
		if (!piece)
			return NULL;
		*piece = (struct text_piece){ .next = pool->piece, .size = room };
		pool->piece = piece;
	}
	piece->used += size;
	return memcpy(piece->bytes + piece->used - size, text, size);
}

const char *loci_text_pool_keep(struct text_pool *pool, const char *text)
{
	const char **slot;

	if (4 * (pool->n + 1) > 3 * pool->n_slots && grow(pool) < 0)
		return NULL;
	slot = find_slot(pool, text);
	if (!*slot) {
		*slot = copy(pool, text);
		pool->n += *slot != NULL;
	}
	return *slot;
}

void loci_text_pool_fini(struct text_pool *pool)
{
	struct text_piece *next;

	for (struct text_piece *piece = pool->piece; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
	free(pool->slot);
	*pool = (struct text_pool){ 0 };
}
