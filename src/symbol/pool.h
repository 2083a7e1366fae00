/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that lives as long as the symbols: handed out in pieces, given back all at once. Equal
 * strings are kept once. */
#ifndef LOCI_SYMBOL_POOL_H
#define LOCI_SYMBOL_POOL_H

#include <stddef.h>
#include <stdint.h>

struct loci_pool_chunk;

struct loci_pool {
	struct loci_pool_chunk *chunks; /* the newest first */
	const char **table;             /* of interned strings, open addressing */
	size_t cap, count;
};

/* An all-zero pool is empty. */
void loci_pool_fini(struct loci_pool *pool);

/* Zeroed and aligned for anything; NULL: no memory. */
void *loci_pool_alloc(struct loci_pool *pool, size_t bytes);
/* A copy of an array; NULL: no memory. Of an empty one something that is not NULL. */
void *loci_pool_copy(struct loci_pool *pool, const void *items, size_t bytes);
/* The same pointer for the same characters; NULL for NULL and when there is no memory. */
const char *loci_pool_string(struct loci_pool *pool, const char *text);
const char *loci_pool_bytes(struct loci_pool *pool, const char *text, size_t length);
const char *loci_pool_format(struct loci_pool *pool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
