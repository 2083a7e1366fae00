// SPDX-License-Identifier: GPL-2.0-or-later
/* Coherent stacks over a run: with one member they are the stack engine; they take over from it;
 * members come, go and give their memory back; blocks are sampled where memory is short. */
#include "check.h"
#include "rnd.h"

#include "base/cleanup.h"
#include "engine/coherent_state.h"
#include "engine/stack.h"

#include <errno.h>

#define TOUCHES 120000

struct stream {
	size_t n;
	uint64_t block[TOUCHES], bytes[TOUCHES], use[TOUCHES];
	uint8_t is_write[TOUCHES];
	uint32_t turn_touch[TOUCHES], turn_member[TOUCHES];
	size_t n_turns;
	uint64_t distance[TOUCHES], lost_to[TOUCHES];
	uint8_t kind[TOUCHES];
};

static void add(struct stream *s, uint32_t member, uint64_t block, bool is_write)
{
	if (s->n == TOUCHES)
		return;
	if (!s->n_turns || s->turn_member[s->n_turns - 1] != member) {
		s->turn_touch[s->n_turns] = (uint32_t)s->n;
		s->turn_member[s->n_turns++] = member;
	}
	s->block[s->n] = block;
	s->bytes[s->n] = 0xffull << 8 * rnd(8);
	s->use[s->n] = s->n;
	s->is_write[s->n++] = is_write;
}

static struct loci_coherent *new_engine(uint64_t max_bytes)
{
	struct loci_coherent_options options = { .max_bytes = max_bytes };
	struct loci_coherent *coherent = NULL;
	struct loci_err err = { "" };

	if (loci_coherent_new(&options, &coherent, &err) < 0)
		CHECK_FAIL("%s", err.text);
	return coherent;
}

static void feed(struct loci_coherent *coherent, struct stream *s)
{
	struct loci_coherent_touches touches = { .block = s->block,
		.is_write = s->is_write,
		.bytes = s->bytes,
		.use = s->use,
		.n = s->n,
		.turn_touch = s->turn_touch,
		.turn_member = s->turn_member,
		.n_turns = s->n_turns,
		.ret_distance = s->distance,
		.ret_kind = s->kind,
		.ret_lost_to = s->lost_to };
	struct loci_err err = { "" };

	if (loci_coherent_feed(coherent, &touches, &err) < 0)
		CHECK_FAIL("%s", err.text);
}

/* Mostly near, some far. */
static uint64_t some_block(uint64_t n_blocks)
{
	return rnd(3) ? rnd(n_blocks / 50 + 1) : rnd(n_blocks);
}

static struct loci_stack *new_stack(void)
{
	struct loci_stack_options options = { .keep_uses = true };
	struct loci_stack *stack = NULL;

	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	return stack;
}

static void check_one_member(void)
{
	static struct stream s;
	static uint64_t want[TOUCHES];
	struct loci_coherent *coherent = new_engine(0);
	struct loci_stack *stack = new_stack();
	struct loci_coherent_result got;
	struct loci_stack_result result;
	size_t wrong = 0;

	s.n = s.n_turns = 0;
	while (s.n < TOUCHES)
		add(&s, 3, some_block(20000), rnd(3) == 0);
	feed(coherent, &s);
	CHECK(loci_stack_feed(stack, s.block, s.is_write, s.n, want, NULL) == 0);
	for (size_t i = 0; i < s.n; i++)
		wrong += s.distance[i] != want[i] || s.kind[i] != (want[i] == LOCI_INFINITE);
	CHECK_U64(wrong, 0);
	CHECK(loci_coherent_result(coherent, 3, &got, NULL) == 0);
	CHECK(loci_stack_result(stack, &result, NULL) == 0);
	CHECK_U64(got.stack.n_bins, result.stack.n_bins);
	CHECK(!memcmp(got.stack.weight, result.stack.weight,
		got.stack.n_bins * sizeof(*got.stack.weight)));
	CHECK_U64(got.touches, result.touches);
	CHECK_U64(got.writes, result.writes);
	loci_coherent_result_fini(&got);
	loci_stack_result_fini(&result);
	loci_stack_free(stack);
	loci_coherent_free(coherent);
}

/* One member alone up to some touch, in a plain stack that another engine then adopts. */
static void check_adopt(uint64_t n_blocks, size_t alone, size_t n)
{
	static struct stream all, rest;
	struct loci_coherent *whole = new_engine(0), *adopts = new_engine(0);
	struct loci_stack *stack = new_stack();
	loci_autofree uint64_t *held = NULL;
	struct loci_coherent_blocks got, want;
	size_t n_held, wrong = 0;

	all.n = all.n_turns = 0;
	while (all.n < n)
		add(&all, all.n < alone ? 0 : (uint32_t)rnd(3), some_block(n_blocks), rnd(4) == 0);
	feed(whole, &all);
	rest.n = rest.n_turns = 0;
	for (size_t i = 0, turn = 0; i < n; i++) {
		while (turn + 1 < all.n_turns && all.turn_touch[turn + 1] <= i)
			turn++;
		if (i < alone)
			continue;
		add(&rest, all.turn_member[turn], all.block[i], all.is_write[i]);
		rest.bytes[i - alone] = all.bytes[i];
		rest.use[i - alone] = all.use[i];
	}
	CHECK(loci_stack_feed(stack, all.block, NULL, alone, NULL, NULL) == 0);
	n_held = loci_stack_n_held(stack);
	held = malloc((n_held + 1) * sizeof(*held));
	loci_stack_held(stack, held, NULL);
	CHECK(loci_coherent_adopt(adopts, 0, held, n_held, 1, NULL) == 0);
	feed(adopts, &rest);
	for (size_t i = 0; i < rest.n; i++)
		wrong += rest.distance[i] != all.distance[alone + i] ||
			rest.kind[i] != all.kind[alone + i] ||
			((rest.kind[i] & LOCI_COHERENT_MASK) >= LOCI_COHERENT_TRUE &&
				rest.lost_to[i] != all.lost_to[alone + i]);
	CHECK_U64(wrong, 0);
	loci_coherent_blocks(adopts, &got);
	loci_coherent_blocks(whole, &want);
	CHECK(!memcmp(&got, &want, sizeof(got)));
	CHECK(rest.n == 0 || loci_coherent_adopt(adopts, 7, held, n_held, 1, NULL) == -EINVAL);
	loci_stack_free(stack);
	loci_coherent_free(whole);
	loci_coherent_free(adopts);
}

/* Short threads, one after the other or all at once. */
static void check_many(uint32_t n_members, unsigned touches, bool end, uint64_t max_bytes)
{
	static struct stream s;
	struct loci_coherent *coherent = new_engine(0);
	struct loci_coherent_result result;
	uint64_t total = 0;

	for (uint32_t member = 0; member < n_members; member++) {
		s.n = s.n_turns = 0;
		for (unsigned i = 0; i < touches; i++)
			add(&s, member, rnd(20) ? 5000 * (member + 1ull) + rnd(2000) : rnd(3000),
				rnd(3) == 0);
		feed(coherent, &s);
		if (end)
			loci_coherent_end(coherent, member);
	}
	CHECK(loci_coherent_bytes(coherent) < max_bytes);
	if (end) /* records of what was shared, and who is left of those that touched it */
		CHECK(coherent->pool.n < 5 * 3000);
	for (uint32_t member = 0; member < n_members; member++) {
		CHECK(loci_coherent_result(coherent, member, &result, NULL) == 0);
		total += (uint64_t)loci_hist_total(&result.stack);
		loci_coherent_result_fini(&result);
	}
	CHECK_U64(total, (uint64_t)n_members * touches);
	if (end) {
		uint64_t distance;
		uint8_t kind;
		uint32_t zero = 0;
		struct loci_coherent_touches again = { .block = s.block,
			.is_write = s.is_write,
			.bytes = s.bytes,
			.n = 1,
			.turn_touch = &zero,
			.turn_member = &zero,
			.n_turns = 1,
			.ret_distance = &distance,
			.ret_kind = &kind };

		CHECK(loci_coherent_feed(coherent, &again, NULL) == -EINVAL);
	}
	loci_coherent_free(coherent);
}

/* Writes that someone who lost the block may ask for take no more space than it has bytes. */
static void check_log(void)
{
	static struct stream s;
	struct loci_coherent *coherent = new_engine(0);

	s.n = s.n_turns = 0;
	add(&s, 0, 5, false);
	for (unsigned i = 0; i < 100000; i++)
		add(&s, 1 + (uint32_t)rnd(2), 5, true);
	feed(coherent, &s);
	/* a record, three members, and a write for each of eight words, or one more on the way */
	CHECK(coherent->pool.n <= 1 + 3 + 8 + 1);
	loci_coherent_free(coherent);
}

/* What one makes and another goes on with takes an item a block, as long as someone may ask. */
static void check_handed_over(void)
{
	static struct stream s;
	struct loci_coherent *coherent = new_engine(0);

	s.n = s.n_turns = 0;
	for (uint64_t i = 0; i < 5000; i++)
		add(&s, 0, i, true);
	for (uint64_t i = 0; i < 5000; i++)
		add(&s, 1, i, true);
	feed(coherent, &s);
	CHECK_U64(coherent->pool.n - coherent->pool.n_free, 5000);
	CHECK(coherent->pool.n < 5010);
	loci_coherent_end(coherent, 0);
	s.n = s.n_turns = 0;
	for (uint64_t i = 0; i < 5000; i++)
		add(&s, 1, i, i % 2);
	feed(coherent, &s);
	CHECK_U64(coherent->pool.n_free, coherent->pool.n);
	loci_coherent_free(coherent);
}

static double near(double got, double want)
{
	return fabs(got - want) / want;
}

/* What two engines say of the same members, one of which samples. */
static void compare(const struct loci_coherent *exact, const struct loci_coherent *sampled)
{
	struct loci_coherent_result want, got;
	struct loci_coherent_blocks blocks, all_blocks;

	for (uint32_t member = 0; member < 4; member++) {
		CHECK(loci_coherent_result(exact, member, &want, NULL) == 0);
		CHECK(loci_coherent_result(sampled, member, &got, NULL) == 0);
		CHECK_U64(got.touches, want.touches);
		CHECK_U64(got.writes, want.writes);
		CHECK_NEAR(loci_hist_total(&got.stack), (double)want.touches, 0.5);
		for (uint64_t size = 256; size <= 32768; size *= 2) {
			double misses = loci_hist_at_least(&want.stack, size, NULL);
			double about = loci_hist_at_least(&got.stack, size, NULL);

			CHECK_NEAR(100 * about / (double)want.touches,
				100 * misses / (double)want.touches, 3);
		}
		CHECK(near(got.stack.cold, want.stack.cold) < 0.1);
		CHECK(near((double)got.true_sharing, (double)want.true_sharing) < 0.2);
		CHECK(near((double)got.false_sharing, (double)want.false_sharing) < 0.2);
		CHECK(near((double)got.invalidated, (double)want.invalidated) < 0.2);
		CHECK(near((double)got.remote, (double)want.remote) < 0.2);
		loci_coherent_result_fini(&want);
		loci_coherent_result_fini(&got);
	}
	loci_coherent_blocks(exact, &all_blocks);
	loci_coherent_blocks(sampled, &blocks);
	CHECK(near((double)blocks.alone, (double)all_blocks.alone) < 0.1);
	CHECK(near((double)blocks.written, (double)all_blocks.written) < 0.2);
}

static void check_sampling(void)
{
	static struct stream s;
	uint64_t max_bytes = 3 << 20;
	struct loci_coherent *exact = new_engine(0), *sampled = new_engine(max_bytes);

	for (unsigned round = 0; round < 5; round++) {
		size_t wrong = 0;

		s.n = s.n_turns = 0;
		while (s.n < TOUCHES) {
			uint32_t member = (uint32_t)rnd(4);

			for (unsigned i = 0; i < 50; i++) {
				bool is_shared = rnd(4) == 0;

				add(&s, member,
					is_shared ? rnd(6000)
						  : 100000 * (member + 1) + rnd(3 + rnd(60000)),
					rnd(is_shared ? 12 : 3) == 0);
			}
		}
		feed(exact, &s);
		feed(sampled, &s);
		for (size_t i = 0; round == 4 && i < s.n; i++)
			wrong += (s.distance[i] != LOCI_UNSAMPLED) !=
				loci_stack_sampled(loci_stack_hash(s.block[i]), sampled->shift);
		CHECK_U64(wrong, 0);
	}
	CHECK(loci_coherent_sampling_rate(exact) == 1);
	CHECK(loci_coherent_sampling_rate(sampled) <= 0.5);
	CHECK(loci_coherent_sampling_rate(sampled) >= 1.0 / 64);
	CHECK(sampled->map.bytes + sampled->slots_bytes +
			sampled->pool.room * sizeof(*sampled->pool.item) <=
		max_bytes);
	compare(exact, sampled);
	loci_coherent_free(exact);
	loci_coherent_free(sampled);
}

static size_t count_holes(const struct loci_coherent *coherent, uint32_t member)
{
	static uint64_t hash[TOUCHES];
	static uint8_t is_hole[TOUCHES];
	size_t n = loci_coherent_get_stack(coherent, coherent->member[member], hash, is_hole);
	size_t holes = 0;

	for (size_t i = 0; i < n; i++)
		holes += is_hole[i];
	return holes;
}

/* Half of the holes are left with half of the blocks. */
static void check_less_holes(void)
{
	struct loci_coherent *coherent = new_engine(0);
	static struct stream s;

	s.n = s.n_turns = 0;
	for (uint64_t i = 0; i < 1000; i++)
		add(&s, 0, i, false);
	for (uint64_t i = 0; i < 1000; i += 5)
		add(&s, 1, i, true);
	feed(coherent, &s);
	CHECK_U64(count_holes(coherent, 0), 200);
	CHECK(loci_coherent_sample_less(coherent, NULL) == 0);
	CHECK_U64(count_holes(coherent, 0), 100);
	CHECK_U64(count_holes(coherent, 1), 0);
	loci_coherent_free(coherent);
}

/* What a plain stack followed when it had too little memory goes on being followed. */
static void check_adopt_sample(void)
{
	struct loci_stack_options options = { .max_bytes = 2 << 20 };
	struct loci_coherent *coherent = new_engine(0);
	static struct stream s;
	struct loci_stack_result result;
	struct loci_stack *stack;
	size_t n_held, wrong = 0, n = 0;
	loci_autofree uint64_t *held = NULL;
	unsigned shift = 0;

	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	s.n = s.n_turns = 0;
	for (uint64_t i = 0; i < TOUCHES; i++)
		add(&s, 0, i * 3, false);
	CHECK(loci_stack_feed(stack, s.block, NULL, s.n, NULL, NULL) == 0);
	CHECK(loci_stack_result(stack, &result, NULL) == 0);
	while (ldexp(1, -(int)shift) > result.sampling_rate)
		shift++;
	CHECK(shift > 0);
	n_held = loci_stack_n_held(stack);
	held = malloc((n_held + 1) * sizeof(*held));
	loci_stack_held(stack, held, NULL);
	CHECK(loci_coherent_adopt(coherent, 0, held, n_held, result.sampling_rate, NULL) == 0);
	CHECK(loci_coherent_sampling_rate(coherent) == result.sampling_rate);
	for (uint64_t i = 0; i < TOUCHES; i++)
		n += loci_stack_sampled(loci_stack_hash(i * 3), shift);
	/* all of them again, in their order: each has all others above it */
	feed(coherent, &s);
	for (size_t i = 0; i < s.n; i++)
		wrong += s.distance[i] !=
			(loci_stack_sampled(loci_stack_hash(s.block[i]), shift) ? (n - 1) << shift
										: LOCI_UNSAMPLED);
	CHECK_U64(wrong, 0);
	loci_stack_result_fini(&result);
	loci_stack_free(stack);
	loci_coherent_free(coherent);
}

static void check_refused(void)
{
	struct loci_coherent_options options = { .max_bytes = 1000 };
	struct loci_coherent *coherent;
	struct loci_err err = { "" };

	CHECK(loci_coherent_new(&options, &coherent, &err) == -EINVAL);
	CHECK(strstr(err.text, "at least") != NULL);
}

int main(void)
{
	check_one_member();
	check_adopt(3000, 20000, 40000);
	check_adopt(40, 300, 3000);
	check_adopt(40, 20, 3000);
	check_adopt(3000, 0, 3000);
	check_adopt(3000, 500, 500);
	check_many(3000, 200, true, 80 << 20);
	check_many(200, 3000, false, 96 << 20);
	check_log();
	check_handed_over();
	check_sampling();
	check_adopt_sample();
	check_less_holes();
	check_refused();
	return check_status();
}
