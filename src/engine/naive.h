/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The oracle: a move-to-front list searched from the top. Slow, small and plainly right; --verify
 * and the tests compare the engines with it touch for touch. */
#ifndef LOCI_ENGINE_NAIVE_H
#define LOCI_ENGINE_NAIVE_H

#include "base/err.h"

#include <stdint.h>

struct loci_naive;

int loci_naive_new(struct loci_naive **ret, struct loci_err *err);
void loci_naive_free(struct loci_naive *naive);

struct loci_naive_touch {
	uint64_t stack; /* LOCI_INFINITE when cold */
	uint64_t time;  /* LOCI_INFINITE when cold */
	uint64_t dirty; /* of a write; LOCI_INFINITE at the first write and after a cold touch */
};
int loci_naive_touch(struct loci_naive *naive, uint64_t block, int is_write,
	struct loci_naive_touch *ret, struct loci_err *err);

#endif
