// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine and the caches hearing only of what enters and leaves the most recent blocks,
 * against themselves fed touch by touch: distances, last uses, misses, dirty lines, bytes used and
 * histograms, with every instruction set; to the end, or up to some touch and plainly after it. */
#include "check.h"
#include "rnd.h"

#include "base/cleanup.h"
#include "engine/levels.h"
#include "engine/stack_state.h"

#include <stdlib.h>

#define TOUCHES 60000
#define BATCH   1000
#define OWNERS  16

struct stream {
	size_t n;
	uint64_t block[TOUCHES], use[TOUCHES], bytes[TOUCHES];
	uint8_t is_write[TOUCHES];
	uint32_t owner[TOUCHES];
};

/* Of every touch, and of all. */
struct answer {
	uint64_t distance[TOUCHES], last_use[TOUCHES];
	uint8_t missed[TOUCHES], dirty[TOUCHES];
	uint64_t used[OWNERS]; /* bytes, by who brought the block */
	uint64_t evicted;
	struct loci_stack_result result;
};

static void add(struct stream *s, uint64_t block)
{
	size_t i = s->n;

	if (i == TOUCHES)
		return;
	s->block[i] = block;
	s->is_write[i] = rnd(4) == 0;
	s->use[i] = ~(i * 0x9e3779b97f4a7c15u);
	s->bytes[i] = 0xffull << rnd(57);
	s->owner[i] = (uint32_t)rnd(OWNERS);
	s->n++;
}

/* Loops over a few blocks, some of which move on, with far ones between. */
static void loops(struct stream *s, uint64_t n_blocks, bool all_writes)
{
	s->n = 0;
	while (s->n < TOUCHES) {
		unsigned k = 1 + (unsigned)rnd(11), times = 1 + (unsigned)rnd(30);
		uint64_t at[12], step[12];

		for (unsigned i = 0; i < k; i++) {
			at[i] = rnd(4) ? rnd(n_blocks) : i && rnd(2) ? at[i - 1] : rnd(9);
			step[i] = rnd(3) ? 0 : rnd(2) ? 1 : rnd(500);
		}
		for (unsigned t = 0; t < times; t++)
			for (unsigned i = 0; i < k; i++)
				add(s, at[i] + t * step[i]);
	}
	for (size_t i = 0; all_writes && i < s->n; i++)
		s->is_write[i] = 1;
}

static void uniform(struct stream *s, uint64_t n_blocks)
{
	s->n = 0;
	while (s->n < TOUCHES)
		add(s, rnd(n_blocks) << rnd(2) * 40);
}

/* Sweeps in the order of the one before, broken off by new blocks, near and far ones, and leaps. */
static void sequences(struct stream *s, uint64_t n_blocks)
{
	uint64_t at = 0, fresh = n_blocks;

	s->n = 0;
	while (s->n < TOUCHES) {
		for (uint64_t n = rnd(4) ? rnd(700) : rnd(4); n > 0; n--)
			add(s, at++ % n_blocks);
		switch (rnd(5)) {
		case 0:
			add(s, fresh++);
			break;
		case 1:
			add(s, (at + n_blocks - 1 - rnd(100)) % n_blocks);
			break;
		case 2:
			add(s, rnd(fresh));
			break;
		case 3:
			at += rnd(3);
			break;
		case 4:
			at = rnd(n_blocks);
			break;
		}
	}
}

/* Every other block was touched a little before. */
static void nearby(struct stream *s, uint64_t n_blocks)
{
	s->n = 0;
	while (s->n < TOUCHES)
		add(s, s->n < 150 || rnd(2) ? rnd(n_blocks) : s->block[s->n - 1 - rnd(150)]);
}

static const struct loci_levels_geometry shapes[][3] = {
	{ { 4, 8 }, { 16, 8 }, { 64, 16 } },  /* each inside the next */
	{ { 1, 8 }, { 12, 9 }, { 1, 100 } },  /* lists, and sets that are no power of two */
	{ { 2, 12 }, { 3, 10 }, { 1, 200 } }, /* roots of their own */
	{ { 1, 70 }, { 8, 64 }, { 64, 8 } },
};

static void note(struct answer *answer, const struct loci_levels_eviction *evicted, size_t n)
{
	for (size_t i = 0; i < n; i++)
		answer->used[evicted[i].owner] += evicted[i].used_bytes;
	answer->evicted += n;
}

static void drain(struct loci_levels *levels, struct answer *answer)
{
	struct loci_levels_eviction evicted[64];
	size_t n;

	while ((n = loci_levels_drain(levels, evicted, 64)) > 0)
		note(answer, evicted, n);
}

static struct loci_stack *new_stack(enum loci_isa isa, bool recent, uint64_t max_bytes)
{
	static const struct loci_stack_tuning tuning = {
		.min_homes = 16, .min_slots = 900, .chunk = 200, .page_bytes = 4096
	};
	struct loci_stack_options options = {
		.isa = isa, .max_bytes = max_bytes, .keep_uses = true, .recent = recent
	};
	struct loci_stack *stack = NULL;
	struct loci_err err = { "" };

	CHECK(loci_stack_new_tuned(&options, &tuning, &stack, &err) == 0);
	return stack;
}

static void feed_plainly(const struct stream *s, struct loci_stack *stack,
	struct loci_levels *levels, size_t from, struct answer *answer)
{
	struct loci_levels_eviction evicted[BATCH];
	struct loci_err err = { "" };

	CHECK(loci_stack_feed_uses(stack, s->block + from, s->is_write + from, s->use + from,
		      s->n - from, answer->distance + from, answer->last_use + from, &err) == 0);
	for (; from < s->n; from += BATCH) {
		struct loci_levels_batch batch = { .block = s->block + from,
			.is_write = s->is_write + from,
			.bytes = s->bytes + from,
			.owner = s->owner + from,
			.n = s->n - from < BATCH ? s->n - from : BATCH,
			.ret_missed = answer->missed + from,
			.ret_dirty = answer->dirty + from,
			.ret_evicted = evicted };

		loci_levels_feed(levels, &batch);
		note(answer, evicted, batch.n_evicted);
	}
}

/* The blocks of the first n touches, by their last ones. */
static void check_held(const struct stream *s, size_t n, const struct loci_stack *stack)
{
	static uint64_t block[TOUCHES], use[TOUCHES];
	size_t n_held = loci_stack_n_held(stack), at = n_held;

	loci_stack_held(stack, block, use);
	for (size_t t = n; t-- > 0;) {
		size_t i = at;

		while (i < n_held && block[i] != s->block[t])
			i++;
		if (i < n_held)
			continue;
		CHECK(at > 0 && block[at - 1] == s->block[t] && use[at - 1] == s->use[t]);
		if (at-- == 0)
			return;
	}
	CHECK_U64(at, 0);
}

static void touch_by_touch(const struct stream *s, const struct loci_levels_geometry *shape,
	enum loci_isa isa, uint64_t max_bytes, struct answer *answer)
{
	struct loci_stack *stack = new_stack(isa, false, max_bytes);
	struct loci_levels *levels;
	struct loci_err err = { "" };

	*answer = (struct answer){ .evicted = 0 };
	CHECK(loci_levels_new(shape, 3, isa, &levels, &err) == 0);
	feed_plainly(s, stack, levels, 0, answer);
	drain(levels, answer);
	CHECK(loci_stack_result(stack, &answer->result, &err) == 0);
	loci_levels_free(levels);
	loci_stack_free(stack);
}

struct news {
	size_t n, touch[BATCH];
	uint64_t block[BATCH], left_time[BATCH], left[BATCH], time[BATCH], bytes[BATCH];
	uint8_t is_write[BATCH], place[BATCH], rank[BATCH], farthest[BATCH];
	uint32_t owner[BATCH];
};

static void tell(struct news *news, struct loci_stack *stack, struct loci_levels *levels,
	struct answer *answer)
{
	struct loci_stack_recent recent = { .block = news->block,
		.is_write = news->is_write,
		.place = news->place,
		.rank = news->rank,
		.farthest = news->farthest,
		.left_time = news->left_time,
		.left = news->left,
		.time = news->time };
	struct loci_levels_eviction evicted[BATCH];
	uint64_t distance[BATCH], last_use[BATCH];
	uint8_t missed[BATCH], dirty[BATCH];
	struct loci_levels_batch batch = { .block = news->block,
		.is_write = news->is_write,
		.bytes = news->bytes,
		.owner = news->owner,
		.place = news->place,
		.left_time = news->left_time,
		.n = news->n,
		.ret_missed = missed,
		.ret_dirty = dirty,
		.ret_evicted = evicted };
	struct loci_err err = { "" };

	CHECK(loci_stack_feed_recent(stack, &recent, news->n, distance, last_use, &err) == 0);
	loci_levels_feed(levels, &batch);
	note(answer, evicted, batch.n_evicted);
	for (size_t i = 0; i < news->n; i++) {
		size_t touch = news->touch[i];

		answer->distance[touch] = distance[i];
		if (!(news->place[i] & LOCI_RECENT_STAYS))
			answer->last_use[touch] = last_use[i];
		answer->missed[touch] = missed[i];
		answer->dirty[touch] = dirty[i];
	}
	news->n = 0;
}

/* A place for a block that enters: the way for when all are taken finds the same. */
static unsigned enter(struct loci_recent *recent, const struct stream *s, size_t t,
	struct loci_recent_left *ret_left)
{
	static struct loci_recent full;
	bool is_full = recent->n == LOCI_RECENT;
	unsigned taken = 0, place;

	full.ranks = recent->ranks;
	if (is_full)
		taken = loci_recent_take_full(&full);
	place = loci_recent_enter(
		recent, s->block[t], s->is_write[t], s->use[t], s->bytes[t], ret_left);

	CHECK(!is_full || (taken == place && full.ranks == recent->ranks));
	return place;
}

/* What loci_recent_touch does, in the parts that there are for when all places are taken. */
static unsigned touch_full(
	struct loci_recent *recent, unsigned place, const struct stream *s, size_t t)
{
	unsigned rank = loci_recent_touch_full(recent, place);

	recent->use[place] = s->use[t];
	recent->bytes[place] |= s->bytes[t];
	return s->is_write[t] ? rank | loci_recent_wrote(recent, place) : rank;
}

/* Up to the touch leave, and plainly from there. */
static size_t by_news(const struct stream *s, size_t leave,
	const struct loci_levels_geometry *shape, enum loci_isa isa, uint64_t max_bytes,
	struct answer *answer)
{
	struct loci_stack *stack = new_stack(isa, true, max_bytes);
	struct loci_recent *recent = calloc(1, sizeof(*recent));
	static struct news news;
	uint64_t count[LOCI_RECENT] = { 0 };
	struct loci_levels *levels;
	struct loci_err err = { "" };
	size_t told = 0;

	*answer = (struct answer){ .evicted = 0 };
	news.n = 0;
	CHECK(loci_levels_may_be_recent(shape, 3));
	CHECK(loci_levels_new(shape, 3, isa, &levels, &err) == 0);
	for (size_t t = 0; t < leave; t++) {
		uint64_t block = s->block[t];
		bool full = recent->n == LOCI_RECENT && t & 1; /* every other goes that way */
		unsigned place = full ? loci_recent_find_full(recent, block)
				      : loci_recent_find(recent, block);
		unsigned told_place, rank = 0;
		struct loci_recent_left left = { 0 };
		size_t i = news.n;

		CHECK(place == LOCI_RECENT || loci_recent_is_at(recent, place, block));
		if (place < LOCI_RECENT) {
			/* the use of the block's last touch is what the one before found */
			answer->last_use[t] = recent->use[place];
			rank = full ? touch_full(recent, place, s, t)
				    : loci_recent_touch(recent, place, s->is_write[t], s->use[t],
					      s->bytes[t]);
			answer->distance[t] = rank & (LOCI_RECENT - 1);
			if (!(rank & LOCI_RECENT_STAYS)) {
				count[rank]++;
				continue;
			}
			left.farthest = rank >> 3 & (LOCI_RECENT - 1);
			told_place = place | LOCI_RECENT_STAYS;
		} else {
			told_place = enter(recent, s, t, &left);
		}
		news.touch[i] = t;
		news.block[i] = block;
		news.left_time[i] = left.time;
		news.left[i] = left.use;
		news.bytes[i] = left.bytes;
		news.farthest[i] = left.farthest;
		news.time[i] = recent->now;
		news.is_write[i] = s->is_write[t];
		news.place[i] = (uint8_t)told_place;
		news.rank[i] = rank & (LOCI_RECENT - 1);
		news.owner[i] = s->owner[t];
		told++;
		if (++news.n == BATCH)
			tell(&news, stack, levels, answer);
	}
	tell(&news, stack, levels, answer);
	if (leave == s->n) {
		loci_levels_add_recent(levels, recent);
		loci_stack_add_recent(stack, recent, count);
	} else {
		loci_levels_leave_recent(levels, recent);
		loci_stack_leave_recent(stack, recent, count);
		if (!max_bytes && leave < 5000)
			check_held(s, leave, stack);
		feed_plainly(s, stack, levels, leave, answer);
	}
	drain(levels, answer);
	CHECK(loci_stack_result(stack, &answer->result, &err) == 0);
	loci_levels_free(levels);
	loci_stack_free(stack);
	free(recent);
	return told;
}

static void check_hist(const struct loci_hist *got, const struct loci_hist *want)
{
	CHECK_U64((uint64_t)got->cold, (uint64_t)want->cold);
	CHECK_U64(got->n_bins, want->n_bins);
	for (uint32_t i = 0; i < got->n_bins && i < want->n_bins; i++)
		if (got->weight[i] != want->weight[i])
			CHECK_FAIL("bin %u: %.0f, not %.0f", i, got->weight[i], want->weight[i]);
}

static void check_answer(
	const struct stream *s, const struct answer *got, const struct answer *want)
{
	for (size_t i = 0; i < s->n; i++)
		if (got->distance[i] != want->distance[i] || got->missed[i] != want->missed[i] ||
			got->dirty[i] != want->dirty[i] ||
			(want->distance[i] != LOCI_INFINITE &&
				got->last_use[i] != want->last_use[i])) {
			CHECK_FAIL("touch %zu: distance %" PRIu64 ", not %" PRIu64, i,
				got->distance[i], want->distance[i]);
			break;
		}
	CHECK(!memcmp(got->used, want->used, sizeof(got->used)));
	CHECK_U64(got->evicted, want->evicted);
	CHECK_U64(got->result.touches, want->result.touches);
	CHECK_U64(got->result.writes, want->result.writes);
	CHECK_U64((uint64_t)got->result.blocks, (uint64_t)want->result.blocks);
	check_hist(&got->result.stack, &want->result.stack);
	check_hist(&got->result.time, &want->result.time);
	check_hist(&got->result.dirty, &want->result.dirty);
}

static void check_stream(const struct stream *s, size_t most_told)
{
	static struct answer got, want;

	for (size_t shape = 0; shape < LOCI_ARRAY_SIZE(shapes); shape++)
		for (enum loci_isa isa = LOCI_ISA_SCALAR; isa <= LOCI_ISA_AVX512; isa++) {
			if (loci_isa_resolve(isa) != isa)
				continue;
			touch_by_touch(s, shapes[shape], isa, 0, &want);
			CHECK(by_news(s, s->n, shapes[shape], isa, 0, &got) <= most_told);
			check_answer(s, &got, &want);
			loci_stack_result_fini(&got.result);
			loci_stack_result_fini(&want.result);
		}
}

/* Leaving after any number of touches. */
static void check_leaving(struct stream *s, size_t n)
{
	static struct answer got, want;

	s->n = n;
	for (unsigned k = 0; k < 60; k++) {
		const struct loci_levels_geometry *shape = shapes[k % LOCI_ARRAY_SIZE(shapes)];
		enum loci_isa isa = loci_isa_resolve(LOCI_ISA_SCALAR + k / 4 % 3);
		size_t leave = k < 30 ? k : rnd(n);

		touch_by_touch(s, shape, isa, 0, &want);
		by_news(s, leave, shape, isa, 0, &got);
		check_answer(s, &got, &want);
		loci_stack_result_fini(&got.result);
		loci_stack_result_fini(&want.result);
	}
}

/* Where it samples, distances within the top are exact, and totals. */
static void check_sampling(const struct stream *s)
{
	static struct answer got, want;

	for (enum loci_isa isa = LOCI_ISA_SCALAR; isa <= LOCI_ISA_AVX512; isa++) {
		size_t wrong = 0;

		if (loci_isa_resolve(isa) != isa)
			continue;
		touch_by_touch(s, shapes[0], isa, 0, &want);
		by_news(s, isa == LOCI_ISA_SCALAR ? s->n : s->n * 2 / 3, shapes[0], isa, 2 << 20,
			&got);
		for (size_t i = 0; i < s->n; i++)
			wrong += want.distance[i] < LOCI_STACK_TOP
				? got.distance[i] != want.distance[i] ||
					got.last_use[i] != want.last_use[i]
				: got.distance[i] < LOCI_STACK_TOP;
		CHECK_U64(wrong, 0);
		CHECK(got.result.sampling_rate < 1);
		CHECK_U64(got.result.touches, want.result.touches);
		CHECK_U64(got.result.writes, want.result.writes);
		for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
			CHECK_U64((uint64_t)got.result.stack.weight[i],
				(uint64_t)want.result.stack.weight[i]);
		loci_stack_result_fini(&got.result);
		loci_stack_result_fini(&want.result);
	}
}

static void check_refused(void)
{
	struct loci_levels_geometry few[] = { { 64, 8 }, { 64, LOCI_RECENT - 1 } };

	CHECK(loci_levels_may_be_recent(few, 1));
	CHECK(!loci_levels_may_be_recent(few, 2));
}

int main(void)
{
	static struct stream s;

	check_refused();
	loops(&s, 60, false);
	check_stream(&s, TOUCHES);
	loops(&s, 5000, false);
	check_stream(&s, TOUCHES);
	loops(&s, 3000, true);
	check_stream(&s, TOUCHES);
	uniform(&s, 4);
	check_stream(&s, 2 * 2 * 4);
	uniform(&s, 9);
	check_stream(&s, TOUCHES);
	uniform(&s, 4000);
	check_stream(&s, TOUCHES);
	sequences(&s, 3000);
	check_stream(&s, TOUCHES);
	uniform(&s, 30000);
	check_sampling(&s);
	sequences(&s, 30000);
	check_sampling(&s);
	nearby(&s, 40000);
	check_sampling(&s);
	loops(&s, 5000, false);
	check_leaving(&s, 6000);
	loops(&s, 60, false);
	check_leaving(&s, 3000);
	uniform(&s, 9);
	check_leaving(&s, 500);
	uniform(&s, 700);
	check_leaving(&s, 4000);
	sequences(&s, 900);
	check_leaving(&s, 6000);
	return check_status();
}
