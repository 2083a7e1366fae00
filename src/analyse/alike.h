/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Touches that are alike: the same use and reuse, the same bin of their distances, the same levels
 * missed. A loop makes thousands of them in a batch, between others; they are gathered by a
 * comparison and told to histograms and pairs as one. Nothing is held back from batch to batch. */
#ifndef LOCI_ANALYSE_ALIKE_H
#define LOCI_ANALYSE_ALIKE_H

#include "analyse/pair.h"
#include "analyse/spread.h"

#include <errno.h>

#define LOCI_ALIKE_BITS 8
#define LOCI_ALIKE_PAIR (1u << 16) /* of what: else use is of no meaning */

struct loci_alike {
	uint64_t use, reuse; /* row, context and write; above them the loop, and what is recycled */
	uint32_t what;       /* bin, levels missed << 8 */
	uint32_t pair;
	uint32_t n; /* so many, not told yet */
};

struct loci_alikes {
	struct loci_spread *rows, *contexts; /* borrowed, as pairs are */
	struct loci_pairs *pairs;
	struct loci_alike alike[1 << LOCI_ALIKE_BITS];
};

/* What a place was used for is told, and it is this touch's. 0 or -ENOMEM. */
int loci_alikes_replace(struct loci_alikes *alikes, unsigned place, uint64_t use, uint64_t reuse,
	uint32_t loop, uint32_t what);
/* Tells everything. There is room for all near counts. 0 or -ENOMEM. */
int loci_alikes_tell(struct loci_alikes *alikes);

/* One touch. loop and recycled mean something for a pair only. 0 or -ENOMEM. */
static inline int loci_alikes_add(struct loci_alikes *alikes, uint64_t use, uint64_t reuse,
	uint32_t loop, bool recycled, uint32_t what)
{
	uint64_t from = (use & LOCI_USE_WHO) | (uint64_t)loop << LOCI_USE_CLOCK;
	uint64_t to = (reuse & LOCI_USE_WHO) | (uint64_t)recycled << 63;
	unsigned place = ((from ^ to << 19 ^ (uint64_t)what << 40) * 0x9e3779b97f4a7c15u) >>
		(64 - LOCI_ALIKE_BITS);
	struct loci_alike *alike = &alikes->alike[place];

	if (__builtin_expect(
		    ((alike->use ^ from) | (alike->reuse ^ to) | (alike->what ^ what)) != 0, 0) &&
		loci_alikes_replace(alikes, place, from, to, loop, what) < 0)
		return -ENOMEM;
	alike->n++;
	return 0;
}

#endif
