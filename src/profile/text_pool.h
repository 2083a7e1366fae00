/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings kept once each, in a few large pieces of memory. Private to this room. */
#ifndef LOCI_PROFILE_TEXT_POOL_H
#define LOCI_PROFILE_TEXT_POOL_H

#include <stddef.h>

struct text_piece;

struct text_pool { /* all 0: empty */
	struct text_piece *piece;
	const char **slot; /* open addressing; NULL: free */
	size_t n, n_slots; /* a power of two, at most three quarters full */
};

/* The pool's own string equal to text; NULL: out of memory. */
const char *loci_text_pool_keep(struct text_pool *pool, const char *text);
void loci_text_pool_fini(struct text_pool *pool);

#endif
