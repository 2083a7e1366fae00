/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-set distances for every power-of-two set count at once: for each alpha in
 * 0..LOCI_SETS_MAX_BITS, 2^alpha LRU lists of up to 64 blocks. A cache of 2^alpha sets and A <= 64
 * ways, indexed by the low alpha bits of the block number, hits exactly when the position found at
 * alpha is below A; its write-backs, final flush included, are the writes whose dirty level at
 * alpha is A or more. The dirty level is the largest position among the block's touches since its
 * previous write, this one included. At most 96 MiB, backed as sets come into use.
 *
 * Misses count touches. Those who count a reference that straddles two blocks as one miss, whether
 * one of its halves missed or both, have one miss less for each straddling reference whose lower
 * position is A or more. */
#ifndef LOCI_ENGINE_SETS_H
#define LOCI_ENGINE_SETS_H

#include "base/err.h"
#include "engine/isa.h"

#include <stddef.h>
#include <stdint.h>

#define LOCI_SETS_MAX_BITS 16
#define LOCI_SETS_WAYS     64

struct loci_sets;

struct loci_sets_options {
	enum loci_isa isa;
	unsigned max_bits; /* 0..LOCI_SETS_MAX_BITS: the most that will be asked for */
};

int loci_sets_new(
	const struct loci_sets_options *options, struct loci_sets **ret, struct loci_err *err);
void loci_sets_free(struct loci_sets *sets);

/* One touch per element, in order. is_write (0 or 1 each) may be NULL: all reads. */
int loci_sets_feed(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n,
	struct loci_err *err);

/* Which of the touches are the second of a reference that straddles two blocks, the touch just
 * before being its first: ascending indices below n. The first of a feed may be: its other half
 * ended the feed before. */
struct loci_sets_halves {
	const uint32_t *second;
	size_t n;
};
int loci_sets_feed_halves(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write,
	size_t n, const struct loci_sets_halves *halves, struct loci_err *err);

struct loci_sets_counts {
	uint64_t position[LOCI_SETS_WAYS]; /* touches found at this position */
	uint64_t absent; /* not among the 64: reuses from further and first touches */
	uint64_t dirty[LOCI_SETS_WAYS]; /* writes with this dirty level */
	uint64_t dirty_absent;          /* writes with a dirty level of 64 or more, or infinite */
	/* Straddling references whose halves were both found, by the lower of the two positions:
	 * one of more than that many ways holds one half at least. */
	uint64_t both[LOCI_SETS_WAYS];
	uint64_t both_absent; /* neither among the 64 */
};
/* For alpha = set_bits <= max_bits. */
void loci_sets_counts(
	const struct loci_sets *sets, unsigned set_bits, struct loci_sets_counts *ret);
uint64_t loci_sets_bytes(const struct loci_sets *sets); /* memory used */

#endif
