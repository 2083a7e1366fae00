/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A RUN: a block that ran many times, one time after the other, each of its addresses in equal
 * steps. */
#ifndef LOCI_STREAM_REPEAT_H
#define LOCI_STREAM_REPEAT_H

#include "base/err.h"
#include "stream/definition.h"

struct loci_repeat {
	uint64_t times;     /* at least 1 */
	uint32_t first;     /* number of its first reference; the others follow */
	uint32_t n_refs;    /* may be 0 */
	const uint64_t *at; /* of each reference the first address, and the step; into the words */
};

/* RUN with its raw words, of which there are as many as it says. -EBADMSG where they make no sense.
 */
int loci_repeat_read(const struct loci_definitions *defs, uint64_t marker, const uint64_t *raw,
	struct loci_repeat *ret, struct loci_err *err);

/* One that has been read before, of this block. */
void loci_repeat_take(const struct loci_block *block, const uint64_t *raw, struct loci_repeat *ret);

/* The address of reference i when the block runs for this time, from 0. */
static inline uint64_t loci_repeat_address(
	const struct loci_repeat *repeat, uint32_t i, uint64_t time)
{
	return repeat->at[2 * i] + time * repeat->at[2 * i + 1];
}

#endif
