// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/share.h"

#include "analyse/grow.h"
#include "engine/stack.h"

#include <errno.h>

#define LEAST_BYTES (4ull << 20) /* without which an engine is of no use */

/* What the engines remember a touch by: its row and its member. */
static uint64_t use_of(uint32_t row, uint32_t member)
{
	return (uint64_t)member << LOCI_ROW_BITS | row;
}

static uint32_t row_of(uint64_t use)
{
	return (uint32_t)use & ((1u << LOCI_ROW_BITS) - 1);
}

static int copy_rows(struct loci_share *share, const struct loci_spread *rows, size_t n)
{
	if (loci_spread_reserve(&share->rows, n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bins[UINT8_MAX + 1] = { 0 };

		loci_spread_collect(rows, i, bins);
		for (unsigned k = 0; k <= UINT8_MAX; k++)
			if (loci_spread_add(&share->rows, i, k, bins[k]) < 0)
				return -ENOMEM;
	}
	return 0;
}

static int open_engine(const struct loci_share_options *options,
	const struct loci_share_before *before, struct loci_coherent **ret, struct loci_err *err)
{
	struct loci_coherent_options coherent = { .max_bytes = options->max_bytes /
			(1 + options->n_groups) };
	int r;

	if (coherent.max_bytes && coherent.max_bytes < LEAST_BYTES)
		coherent.max_bytes = LEAST_BYTES;
	r = loci_coherent_new(&coherent, ret, err);
	return r < 0 ? r
		     : loci_coherent_adopt(*ret, 0, before->block, before->n_blocks,
			       before->sampling_rate, err);
}

int loci_share_new(const struct loci_share_options *options, const struct loci_share_before *before,
	struct loci_share **ret, struct loci_err *err)
{
	struct loci_share *share = calloc(1, sizeof(*share));
	int r;

	if (!share)
		return loci_err_nomem(err);
	share->options = *options;
	share->n_members = 1;
	loci_hist_init(&share->before, LOCI_SCHEME_FINE);
	r = open_engine(options, before, &share->threads, err);
	for (unsigned i = 0; r == 0 && i < options->n_groups; i++)
		r = open_engine(options, before, &share->group[i], err);
	if (r == 0 && options->alone && before->sampling_rate >= 1)
		r = loci_apart_new(before->block, before->n_blocks, &share->apart, err);
	if (r == 0 &&
		(loci_hist_merge(&share->before, before->distances) < 0 ||
			copy_rows(share, before->rows, before->n_rows) < 0))
		r = loci_err_nomem(err);
	if (r < 0) {
		loci_share_free(share);
		return r;
	}
	*ret = share;
	return 0;
}

void loci_share_free(struct loci_share *share)
{
	if (!share)
		return;
	loci_coherent_free(share->threads);
	for (unsigned i = 0; i < share->options.n_groups; i++)
		loci_coherent_free(share->group[i]);
	for (unsigned i = 0; i < LOCI_SHARE_GROUPS; i++)
		free(share->ended[i]);
	loci_apart_free(share->apart);
	loci_hist_fini(&share->before);
	loci_spread_fini(&share->rows);
	free(share->row);
	free(share->joined);
	free(share->miss);
	loci_keymap_fini(&share->misses);
	free(share);
}

static void hear(struct loci_share *share, const struct loci_batch *batch, size_t i, uint64_t bytes,
	uint64_t use, uint32_t of)
{
	size_t n = share->n++;

	share->block[n] = batch->block[i];
	share->is_write[n] = batch->is_write[i];
	share->bytes[n] = bytes;
	share->use[n] = use;
	share->of[n] = of;
	share->is_counted[n] = of != LOCI_NO_TOUCH;
}

/* Touches of the batch as the engines know them. Where what was joined wrote other bytes they hear
 * of that, too: a touch at distance 0. */
static void spread_out(struct loci_share *share, const struct loci_batch *batch)
{
	share->n = 0;
	for (size_t k = 0; k < batch->n_turns; k++) {
		uint32_t member = batch->turn[k].member;
		size_t i = batch->turn[k].touch;
		size_t end = k + 1 < batch->n_turns ? batch->turn[k + 1].touch : batch->n;
		uint64_t joined = 0;

		share->turn_touch[k] = (uint32_t)share->n;
		share->turn_member[k] = member;
		for (; i < end; i++) {
			uint64_t use = use_of(loci_use_row(batch->use[i]), member);

			hear(share, batch, i, batch->own[i], use, (uint32_t)i);
			joined += batch->more[i];
			if (batch->is_write[i] && batch->written[i] & ~batch->own[i]) {
				hear(share, batch, i, batch->written[i], use, LOCI_NO_TOUCH);
				joined--;
			}
		}
		share->joined[member] += joined;
	}
	share->n_turns = batch->n_turns;
}

static int feed(struct loci_share *share, struct loci_err *err)
{
	struct loci_coherent_touches touches = { .block = share->block,
		.is_write = share->is_write,
		.bytes = share->bytes,
		.use = share->use,
		.n = share->n,
		.turn_touch = share->turn_touch,
		.turn_member = share->turn_group,
		.n_turns = share->n_turns,
		.ret_distance = share->distance,
		.ret_kind = share->kind };
	int r = 0;

	/* the threads' last, since what it says is used */
	for (unsigned i = 0; r == 0 && i < share->options.n_groups; i++) {
		for (size_t k = 0; k < share->n_turns; k++)
			share->turn_group[k] = share->turn_member[k] / share->options.group[i];
		r = loci_coherent_feed(share->group[i], &touches, err);
	}
	touches.turn_member = share->turn_member;
	if (r == 0 && share->apart)
		r = loci_apart_use(share->apart, &touches, share->is_counted, err);
	touches.ret_lost_to = share->lost_to;
	return r < 0 ? r : loci_coherent_feed(share->threads, &touches, err);
}

static void count_pair(struct loci_share_miss *miss, uint64_t writer, uint64_t misser)
{
	uint64_t pair = writer << 32 | misser;

	for (unsigned i = 0; i < miss->n_pairs; i++)
		if (miss->pair[i] == pair)
			return;
	if (miss->n_pairs < LOCI_SHARE_PAIRS)
		miss->pair[miss->n_pairs++] = pair;
}

static int count_miss(
	struct loci_share *share, uint64_t write, uint64_t touch, bool is_false, uint64_t weight)
{
	uint32_t write_row = row_of(write), miss_row = row_of(touch);
	uint64_t key = (uint64_t)write_row << 32 | miss_row;
	uint32_t i = loci_keymap_get(&share->misses, key, is_false);

	if (i == LOCI_KEYMAP_NONE) {
		i = (uint32_t)share->n_misses;
		if (loci_grow(&share->miss, &share->miss_cap, i + 1, sizeof(*share->miss)) < 0 ||
			loci_keymap_put(&share->misses, key, is_false, i) < 0)
			return -ENOMEM;
		share->miss[i] = (struct loci_share_miss){
			.write_row = write_row, .miss_row = miss_row, .is_false = is_false
		};
		share->n_misses++;
	}
	share->miss[i].misses += weight;
	count_pair(&share->miss[i], write >> LOCI_ROW_BITS, touch >> LOCI_ROW_BITS);
	return 0;
}

/* What another thread had to do with, or what is not counted one by one. weight: touches that one
 * stands for, since the engine follows so many blocks only. */
static int count_rare(struct loci_share *share, size_t i, uint64_t weight)
{
	unsigned kind = share->kind[i] & LOCI_COHERENT_MASK, bin;
	uint32_t row = row_of(share->use[i]);
	struct loci_coherence *met = &share->row[row];

	if (share->of[i] == LOCI_NO_TOUCH || share->distance[i] == LOCI_UNSAMPLED)
		return 0;
	met->remote += share->kind[i] & LOCI_COHERENT_REMOTE ? weight : 0;
	if (kind == LOCI_COHERENT_TRUE || kind == LOCI_COHERENT_FALSE) {
		*(kind == LOCI_COHERENT_TRUE ? &met->true_sharing : &met->false_sharing) += weight;
		return count_miss(share, share->lost_to[i], share->use[i],
			kind == LOCI_COHERENT_FALSE, weight);
	}
	bin = loci_spread_bin(share->distance[i]);
	if (weight > 1)
		return loci_spread_far_add(&share->rows.far[row], bin, weight);
	loci_spread_near_count(&share->rows, row, bin);
	return bin < LOCI_SPREAD_NEAR ? 0 : loci_spread_far_count(&share->rows.far[row], bin, 1);
}

static inline int count(struct loci_share *share, size_t i, uint64_t weight)
{
	uint32_t row = row_of(share->use[i]);
	unsigned bin = loci_spread_bin(share->distance[i]);

	if (share->kind[i] || bin >= LOCI_SPREAD_NEAR || weight > 1 ||
		share->of[i] == LOCI_NO_TOUCH)
		return count_rare(share, i, weight);
	share->rows.near[row][bin]++;
	return 0;
}

/* The member's group gives back what it holds when all its threads have ended. */
static int end_in_group(struct loci_share *share, unsigned i, uint32_t member)
{
	uint32_t group = member / share->options.group[i];

	if (loci_grow(&share->ended[i], &share->ended_cap[i], group + 1, sizeof(uint32_t)) < 0)
		return -ENOMEM;
	if (++share->ended[i][group] == share->options.group[i])
		loci_coherent_end(share->group[i], group);
	return 0;
}

static int end_members(struct loci_share *share, const struct loci_batch *batch)
{
	int r = 0;

	for (size_t k = 0; k < batch->n_ended; k++) {
		loci_coherent_end(share->threads, batch->ended[k].member);
		if (share->apart)
			loci_coherent_end(share->apart->alone, batch->ended[k].member);
		for (unsigned i = 0; r == 0 && i < share->options.n_groups; i++)
			r = end_in_group(share, i, batch->ended[k].member);
	}
	return r;
}

int loci_share_use(struct loci_share *share, const struct loci_batch *batch, struct loci_err *err)
{
	uint64_t weight;
	int r;

	if (loci_spread_reserve(&share->rows, batch->n_rows) < 0 ||
		loci_grow(&share->row, &share->row_cap, batch->n_rows, sizeof(*share->row)) < 0 ||
		loci_grow(&share->joined, &share->joined_cap, batch->n_members,
			sizeof(*share->joined)) < 0)
		return loci_err_nomem(err);
	share->n_members = batch->n_members;
	share->near += batch->n;
	if (share->near > LOCI_SPREAD_NEAR_COUNTS) {
		share->near = batch->n;
		if (loci_spread_near_clear(&share->rows) < 0)
			return loci_err_nomem(err);
	}
	spread_out(share, batch);
	weight = (uint64_t)(1 / loci_coherent_sampling_rate(share->threads) + 0.5);
	r = feed(share, err);
	for (size_t i = 0; r == 0 && i < share->n; i++)
		if (count(share, i, weight) < 0)
			r = loci_err_nomem(err);
	if (r == 0 && end_members(share, batch) < 0)
		r = loci_err_nomem(err);
	return r;
}

/* What the engine was not told of. */
static int complete(const struct loci_share *share, uint32_t from, uint32_t to,
	struct loci_coherent_result *ret, struct loci_err *err)
{
	uint64_t joined = 0;
	int r = 0;

	for (uint32_t i = from; i < to && i < share->n_members; i++)
		joined += i < share->joined_cap ? share->joined[i] : 0;
	ret->touches += joined;
	if (joined)
		r = loci_hist_add(&ret->stack, 0, (double)joined);
	if (r == 0 && from == 0) {
		ret->touches += (uint64_t)loci_hist_total(&share->before);
		r = loci_hist_merge(&ret->stack, &share->before);
	}
	if (r == 0)
		return 0;
	loci_coherent_result_fini(ret);
	return loci_err_nomem(err);
}

int loci_share_member(const struct loci_share *share, uint32_t member,
	struct loci_coherent_result *ret, struct loci_err *err)
{
	int r = loci_coherent_result(share->threads, member, ret, err);

	return r < 0 ? r : complete(share, member, member + 1, ret, err);
}

int loci_share_alone(const struct loci_share *share, uint32_t member,
	struct loci_coherent_result *ret, struct loci_err *err)
{
	int r = loci_coherent_result(share->apart->alone, member, ret, err);

	return r < 0 ? r : complete(share, member, member + 1, ret, err);
}

int loci_share_group(const struct loci_share *share, unsigned i, uint32_t group,
	struct loci_coherent_result *ret, struct loci_err *err)
{
	uint32_t size = share->options.group[i];
	int r = loci_coherent_result(share->group[i], group, ret, err);

	return r < 0 ? r : complete(share, group * size, (group + 1) * size, ret, err);
}
