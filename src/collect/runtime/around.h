/* SPDX-License-Identifier: BSD-2-Clause */
/* What was going on around a sample: the sites of the references up to it, and how many blocks each
 * touches. A sample is any reference, and so is the one that stands at a given distance before it:
 * together they tell how many touches are made at each site far more surely than samples alone,
 * which fall on one site or the other by chance (analyse/weigh.h).
 *
 * Freestanding C: part of what ends up in users' programs. */
#ifndef LOCI_COLLECT_RUNTIME_AROUND_H
#define LOCI_COLLECT_RUNTIME_AROUND_H

#include <stdbool.h>
#include <stdint.h>

#define LOCI_AROUND        64 /* references, the sample the last; a power of two, as is .. */
#define LOCI_AROUND_SHARES 16 /* .. of how many sites they may be */

struct loci_around_share {
	uint64_t site, touches;
};

struct loci_around {
	uint64_t n; /* references so far */
	struct loci_around_share recent[LOCI_AROUND];
};

struct loci_around_shares {
	uint32_t n_refs, n;
	struct loci_around_share share[LOCI_AROUND_SHARES];
};

static inline void loci_around_add(struct loci_around *around, uint64_t site, uint64_t touches)
{
	around->recent[around->n++ % LOCI_AROUND] = (struct loci_around_share){ site, touches };
}

/* Of one in `step` of them, from the last one back; false: they are of too many sites. */
static inline bool loci_around_sum(
	const struct loci_around *around, uint32_t step, struct loci_around_shares *ret)
{
	uint64_t n = around->n < LOCI_AROUND ? around->n : LOCI_AROUND;

	ret->n_refs = ret->n = 0;
	for (uint64_t back = 0; back < n; back += step, ret->n_refs++) {
		const struct loci_around_share *recent =
			&around->recent[(around->n - 1 - back) % LOCI_AROUND];
		uint32_t i = 0;

		while (i < ret->n && ret->share[i].site != recent->site)
			i++;
		if (i == LOCI_AROUND_SHARES)
			return false;
		if (i == ret->n)
			ret->share[ret->n++] = (struct loci_around_share){ recent->site, 0 };
		ret->share[i].touches += recent->touches;
	}
	return true;
}

static inline void loci_around_share_out(
	const struct loci_around *around, struct loci_around_shares *ret)
{
	if (!loci_around_sum(around, 1, ret))
		(void)loci_around_sum(around, LOCI_AROUND / LOCI_AROUND_SHARES, ret);
}

/* As words of a stream: how many references, then site and touches of each share. Returns how many
 * words there are. */
#define LOCI_AROUND_WORDS (1 + 2 * LOCI_AROUND_SHARES)
static inline unsigned loci_around_put(const struct loci_around_shares *shares, uint64_t *ret)
{
	ret[0] = shares->n_refs;
	for (uint32_t i = 0; i < shares->n; i++) {
		ret[1 + 2 * i] = shares->share[i].site;
		ret[2 + 2 * i] = shares->share[i].touches;
	}
	return 1 + 2 * shares->n;
}

#endif
