// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/pair.h"

#include "analyse/grow.h"

#define WHO      LOCI_USE_WHO
#define CONTEXT  (((1ull << LOCI_CONTEXT_BITS) - 1) << LOCI_USE_CONTEXT)
#define RECYCLED (1ull << 63)

void loci_pairs_init(struct loci_pairs *pairs, unsigned n_levels)
{
	*pairs = (struct loci_pairs){ .n_levels = n_levels };
}

void loci_pairs_fini(struct loci_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++)
		loci_spread_far_fini(&pairs->pair[i].distance);
	free(pairs->pair);
	free(pairs->level);
	loci_keymap_fini(&pairs->ids);
	*pairs = (struct loci_pairs){ 0 };
}

static int seek(struct loci_pairs *pairs, uint64_t use, uint64_t reuse, uint64_t a, uint64_t b,
	uint32_t loop, bool recycled, uint32_t *ret)
{
	*ret = loci_keymap_get(&pairs->ids, a, b);
	if (*ret == LOCI_KEYMAP_NONE && pairs->n >= LOCI_PAIRS_MAX) {
		pairs->full = true;
		a &= ~CONTEXT;
		b &= ~CONTEXT;
		use &= ~CONTEXT;
		reuse &= ~CONTEXT;
		*ret = loci_keymap_get(&pairs->ids, a, b);
	}
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = (uint32_t)pairs->n;
	if (loci_grow(&pairs->pair, &pairs->cap, pairs->n + 1, sizeof(*pairs->pair)) < 0 ||
		loci_grow(&pairs->level, &pairs->level_cap, (pairs->n + 1) * pairs->n_levels,
			sizeof(*pairs->level)) < 0 ||
		loci_keymap_put(&pairs->ids, a, b, *ret) < 0)
		return -ENOMEM;
	pairs->pair[pairs->n++] = (struct loci_pair){
		.use = use & WHO, .reuse = reuse & WHO, .loop = loop, .recycled = recycled
	};
	return 0;
}

int loci_pairs_find(struct loci_pairs *pairs, uint64_t use, uint64_t reuse, uint32_t loop,
	bool recycled, uint32_t *ret)
{
	struct loci_pair_memo *memo = &pairs->memo[loci_use_row(reuse) % LOCI_PAIR_MEMOS];
	/* what the words leave free holds the loop */
	uint64_t a = (use & WHO) | (uint64_t)loop << LOCI_USE_CLOCK;
	uint64_t b = (reuse & WHO) | (recycled ? RECYCLED : 0);

	if (memo->a != a || memo->b != b || !memo->is_known) {
		if (seek(pairs, use, reuse, a, b, loop, recycled, &memo->id) < 0)
			return -ENOMEM;
		memo->a = a;
		memo->b = b;
		memo->is_known = true;
	}
	*ret = memo->id;
	return 0;
}

int loci_pairs_count(
	struct loci_pairs *pairs, uint32_t pair, unsigned bin, uint8_t missed, uint32_t n)
{
	struct loci_pair_level *level = pairs->level + (size_t)pair * pairs->n_levels;
	unsigned hit = (unsigned)__builtin_ctz(~(unsigned)missed);

	pairs->pair[pair].refs += n;
	for (unsigned left = missed; left; left &= left - 1)
		level[__builtin_ctz(left)].misses += n;
	if (hit < pairs->n_levels)
		level[hit].first_hits += n;
	return loci_spread_far_count(&pairs->pair[pair].distance, bin, n);
}

int loci_pairs_add_many(struct loci_pairs *pairs, uint64_t use, uint64_t reuse, bool recycled,
	unsigned bin, uint64_t n)
{
	uint32_t i;

	if (loci_pairs_find(pairs, use, reuse, LOCI_NO_LOOP, recycled, &i) < 0)
		return -ENOMEM;
	pairs->pair[i].refs += n;
	return loci_spread_far_add(&pairs->pair[i].distance, bin, n);
}
