/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/pool.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct loci_pool_chunk {
	struct loci_pool_chunk *next;
	size_t used, bytes;
	_Alignas(16) char data[];
};

#define CHUNK_BYTES ((size_t)256 << 10)

void loci_pool_fini(struct loci_pool *pool)
{
	while (pool->chunks) {
		struct loci_pool_chunk *next = pool->chunks->next;

		free(pool->chunks);
		pool->chunks = next;
	}
	free(pool->table);
	memset(pool, 0, sizeof(*pool));
}

void *loci_pool_alloc(struct loci_pool *pool, size_t bytes)
{
	struct loci_pool_chunk *chunk = pool->chunks;
	void *piece;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + 15) / 16 * 16;
	if (!chunk || chunk->bytes - chunk->used < bytes) {
		size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;

		chunk = calloc(1, sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->bytes = room;
		/* A chunk made for one large piece is full: the one in use stays in front. */
		if (room > CHUNK_BYTES && pool->chunks) {
			chunk->next = pool->chunks->next;
			pool->chunks->next = chunk;
		} else {
			chunk->next = pool->chunks;
			pool->chunks = chunk;
		}
	}
	piece = chunk->data + chunk->used;
	chunk->used += bytes;
	return piece;
}

void *loci_pool_copy(struct loci_pool *pool, const void *items, size_t bytes)
{
	void *copy = loci_pool_alloc(pool, bytes ? bytes : 1);

	if (copy && bytes)
		memcpy(copy, items, bytes);
	return copy;
}

/* FNV-1a (Fowler, Noll, Vo, 1991). */
static uint64_t hash(const char *text, size_t length)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return h ^ (h >> 32);
}

static int grow(struct loci_pool *pool)
{
	size_t cap = pool->cap ? pool->cap * 2 : 1024;
	const char **table = calloc(cap, sizeof(*table));

	if (!table)
		return -1;
	for (size_t i = 0; i < pool->cap; i++) {
		const char *text = pool->table[i];

		if (text) {
			size_t at = hash(text, strlen(text)) & (cap - 1);

			while (table[at])
				at = (at + 1) & (cap - 1);
			table[at] = text;
		}
	}
	free(pool->table);
	pool->table = table;
	pool->cap = cap;
	return 0;
}

const char *loci_pool_bytes(struct loci_pool *pool, const char *text, size_t length)
{
	size_t at;
	char *copy;

	if (!text || (pool->count * 2 >= pool->cap && grow(pool) < 0))
		return NULL;
	length = strnlen(text, length);
	for (at = hash(text, length) & (pool->cap - 1); pool->table[at];
		at = (at + 1) & (pool->cap - 1))
		if (!strncmp(pool->table[at], text, length) && !pool->table[at][length])
			return pool->table[at];
	copy = loci_pool_alloc(pool, length + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	pool->table[at] = copy;
	pool->count++;
	return copy;
}

const char *loci_pool_string(struct loci_pool *pool, const char *text)
{
	return text ? loci_pool_bytes(pool, text, strlen(text)) : NULL;
}

const char *loci_pool_format(struct loci_pool *pool, const char *fmt, ...)
{
	loci_autofree char *text = NULL;
	va_list args;
	int length;

	va_start(args, fmt);
	length = vasprintf(&text, fmt, args);
	va_end(args);
	if (length < 0) {
		text = NULL;
		return NULL;
	}
	return loci_pool_bytes(pool, text, (size_t)length);
}
