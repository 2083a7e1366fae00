// SPDX-License-Identifier: GPL-2.0-or-later
/* The coherent stacks against plain lists with holes, touch for touch, over random interleavings of
 * many patterns of sharing, with every instruction set; against the figures of the papers that they
 * come from; and with one member against the stack engine. */
#include "check.h"
#include "rnd.h"

#include "coherent_list.h"
#include "base/cleanup.h"
#include "engine/coherent_state.h"

#include <errno.h>

#define MAX_TOUCHES 12000

struct stream {
	struct list_touch touch[MAX_TOUCHES];
	size_t n;
	uint32_t n_members;
	uint64_t n_blocks;
};

static void add(struct stream *s, uint32_t member, uint64_t block, bool is_write, uint64_t bytes)
{
	if (s->n == MAX_TOUCHES)
		return;
	s->touch[s->n++] = (struct list_touch){ .member = member,
		.block = block % LIST_BLOCKS,
		.bytes = bytes,
		.use = rnd(5) ? rnd(3) : rnd(1u << 30),
		.is_write = is_write };
}

static uint64_t some_bytes(void)
{
	uint64_t size = 1ull << rnd(5);

	return ((1ull << size) - 1) << (rnd(64 / size) * size);
}

/* Each its own blocks, at random. */
static void private_blocks(struct stream *s, uint32_t m)
{
	add(s, m, m * s->n_blocks / s->n_members + rnd(s->n_blocks / s->n_members + 1), rnd(3) == 0,
		some_bytes());
}

/* Mostly reads of what all have, and now and then a write. */
static void read_shared(struct stream *s, uint32_t m)
{
	add(s, m, rnd(s->n_blocks), rnd(40) == 0, some_bytes());
}

/* All write a few blocks. */
static void ping_pong(struct stream *s, uint32_t m)
{
	add(s, m, rnd(3) ? rnd(s->n_blocks) : rnd(4), rnd(2) == 0, some_bytes());
}

/* Each its own bytes of blocks that all have. */
static void false_sharing(struct stream *s, uint32_t m)
{
	add(s, m, rnd(s->n_blocks), rnd(2) == 0, 0xffull << 8 * (m % 8));
}

/* Blocks are read and then written by one, and later by another. */
static void migratory(struct stream *s, uint32_t m)
{
	uint64_t from = rnd(s->n_blocks), n = 1 + rnd(5);

	for (uint64_t i = 0; i < n; i++) {
		add(s, m, from + i, false, some_bytes());
		add(s, m, from + i, true, some_bytes());
	}
}

/* The first writes in order what the others read in order. */
static void producer(struct stream *s, uint32_t m)
{
	uint64_t from = rnd(s->n_blocks), n = 1 + rnd(20);

	for (uint64_t i = 0; i < n; i++)
		add(s, m, from + i, m == 0, some_bytes());
}

static void uniform(struct stream *s, uint32_t m)
{
	add(s, m, rnd(s->n_blocks), rnd(3) == 0, some_bytes());
}

/* Loops over what the member has, while others take some of it away. */
static void loops(struct stream *s, uint32_t m)
{
	uint64_t n = 1 + rnd(s->n_blocks), from = rnd(3) ? m : 0;

	for (uint64_t i = 0; i < n; i++)
		add(s, m, from + i * 2, rnd(9) == 0, some_bytes());
}

static void (*const patterns[])(struct stream *s, uint32_t member) = { private_blocks, read_shared,
	ping_pong, false_sharing, migratory, producer, uniform, loops };

static void make(struct stream *s, size_t pattern, uint32_t n_members, uint64_t n_blocks, size_t n)
{
	*s = (struct stream){ .n_members = n_members, .n_blocks = n_blocks };
	while (s->n < n) {
		uint32_t member = (uint32_t)rnd(n_members);

		for (uint64_t i = 1 + rnd(rnd(4) ? 4 : 40); i > 0; i--)
			patterns[rnd(8) ? pattern : rnd(LOCI_ARRAY_SIZE(patterns))](s, member);
	}
	s->n = n;
}

/* As loci_coherent_touches has it. */
struct arrays {
	uint64_t block[MAX_TOUCHES], bytes[MAX_TOUCHES], use[MAX_TOUCHES], distance[MAX_TOUCHES],
		lost_to[MAX_TOUCHES];
	uint8_t is_write[MAX_TOUCHES], kind[MAX_TOUCHES];
	uint32_t turn_touch[MAX_TOUCHES], turn_member[MAX_TOUCHES];
};

static void feed(struct loci_coherent *coherent, const struct stream *s, size_t from, size_t to,
	struct arrays *a)
{
	struct loci_coherent_touches touches = { .block = a->block + from,
		.is_write = a->is_write + from,
		.bytes = a->bytes + from,
		.use = a->use + from,
		.n = to - from,
		.turn_touch = a->turn_touch,
		.turn_member = a->turn_member,
		.ret_distance = a->distance + from,
		.ret_kind = a->kind + from,
		.ret_lost_to = a->lost_to + from };
	struct loci_err err = { "" };

	for (size_t i = from; i < to; i++) {
		const struct list_touch *touch = &s->touch[i];

		a->block[i] = touch->block;
		a->bytes[i] = touch->bytes;
		a->use[i] = touch->use;
		a->is_write[i] = touch->is_write;
		if (i > from && touch->member == s->touch[i - 1].member && rnd(50))
			continue;
		a->turn_touch[touches.n_turns] = (uint32_t)(i - from);
		a->turn_member[touches.n_turns++] = touch->member;
	}
	if (loci_coherent_feed(coherent, &touches, &err) < 0)
		CHECK_FAIL("%s", err.text);
}

static bool check_touches(const struct stream *s, size_t from, size_t to, const struct arrays *a)
{
	for (size_t i = from; i < to; i++) {
		const struct list_touch *want = &s->touch[i];
		unsigned kind = want->kind & LOCI_COHERENT_MASK;

		if (a->distance[i] == want->distance && a->kind[i] == want->kind &&
			(kind < LOCI_COHERENT_TRUE || a->lost_to[i] == want->lost_to))
			continue;
		CHECK_FAIL("touch %zu by %u of %" PRIu64 ": distance %" PRIu64 " kind %u lost to "
			   "%" PRIu64 ", not %" PRIu64 ", %u, %" PRIu64,
			i, want->member, want->block, a->distance[i], a->kind[i], a->lost_to[i],
			want->distance, want->kind, want->lost_to);
		return false;
	}
	return true;
}

static void check_result(const struct stream *s, const struct loci_coherent *coherent,
	const struct list_stacks *lists, uint32_t member)
{
	uint64_t count[5] = { 0 }, touches = 0, writes = 0, remote = 0, bins[LIST_BLOCKS] = { 0 };
	struct loci_coherent_result result;
	struct loci_err err = { "" };

	for (size_t i = 0; i < s->n; i++) {
		const struct list_touch *touch = &s->touch[i];

		if (touch->member != member)
			continue;
		touches++;
		writes += touch->is_write;
		count[touch->kind & LOCI_COHERENT_MASK]++;
		remote += (touch->kind & LOCI_COHERENT_REMOTE) != 0;
		if (touch->distance != LOCI_INFINITE)
			bins[loci_bin_fine(touch->distance)]++;
	}
	CHECK(loci_coherent_result(coherent, member, &result, &err) == 0);
	CHECK_U64(result.touches, touches);
	CHECK_U64(result.writes, writes);
	CHECK_U64((uint64_t)result.stack.cold, count[LOCI_COHERENT_COLD]);
	CHECK_U64(result.true_sharing, count[LOCI_COHERENT_TRUE]);
	CHECK_U64(result.false_sharing, count[LOCI_COHERENT_FALSE]);
	CHECK_U64((uint64_t)result.stack.coherence,
		count[LOCI_COHERENT_TRUE] + count[LOCI_COHERENT_FALSE]);
	CHECK_U64(result.remote, remote);
	CHECK_U64(result.invalidated, lists->member[member].taken);
	for (uint32_t i = 0; i < result.stack.n_bins; i++)
		if ((uint64_t)result.stack.weight[i] != bins[i])
			CHECK_FAIL(
				"bin %u: %.0f, not %" PRIu64, i, result.stack.weight[i], bins[i]);
	CHECK_U64((uint64_t)loci_hist_total(&result.stack), touches);
	loci_coherent_result_fini(&result);
}

static void check_blocks(const struct loci_coherent *coherent, const struct list_stacks *lists)
{
	struct loci_coherent_blocks got, want = { 0 };

	for (size_t i = 0; i < LIST_BLOCKS; i++) {
		const struct list_block *block = &lists->block[i];

		want.alone += block->is_touched && !block->is_shared;
		want.read_only += block->is_shared && !block->is_written;
		want.written += block->is_shared && block->is_written;
	}
	loci_coherent_blocks(coherent, &got);
	CHECK_U64(got.alone, want.alone);
	CHECK_U64(got.read_only, want.read_only);
	CHECK_U64(got.written, want.written);
}

/* As small as the engine allows: growth and renumbering every few hundred touches. */
static const struct loci_coherent_tuning small = {
	.stack = { .min_homes = 8, .min_slots = 900, .chunk = 50, .page_bytes = 4096 },
	.min_items = 300,
};

static struct loci_coherent *new_engine(
	bool is_small, enum loci_coherent_taking taken_by, uint64_t max_bytes)
{
	static unsigned at;
	static const enum loci_isa isas[] = { LOCI_ISA_SCALAR, LOCI_ISA_AVX2, LOCI_ISA_AVX512 };
	struct loci_coherent_options options = {
		.isa = isas[at++ % 3], .taken_by = taken_by, .max_bytes = max_bytes
	};
	struct loci_coherent *coherent = NULL;
	struct loci_err err = { "" };
	int r = is_small ? loci_coherent_new_tuned(&options, &small, &coherent, &err)
			 : loci_coherent_new(&options, &coherent, &err);

	CHECK(r == 0);
	return coherent;
}

/* Some members end on the way, and touch nothing more. */
static void end_some(
	struct loci_coherent *coherent, struct list_stacks *lists, struct stream *s, size_t from)
{
	uint32_t member = (uint32_t)rnd(s->n_members);
	size_t to = from;

	for (size_t i = from; i < s->n; i++)
		if (s->touch[i].member != member)
			s->touch[to++] = s->touch[i];
	s->n = to;
	list_end(&lists->member[member]);
	loci_coherent_end(coherent, member);
}

/* Stacks, holes and all, are what they were when they were taken apart and put together again. */
static void rebuild(struct loci_coherent *coherent)
{
	for (uint32_t i = 0; i < coherent->n_members; i++) {
		struct loci_coherent_member *member = coherent->member[i];
		static uint64_t hash[2 * LIST_BLOCKS];
		static uint8_t is_hole[2 * LIST_BLOCKS];
		size_t n;

		if (!member)
			continue;
		n = loci_coherent_get_stack(coherent, member, hash, is_hole);
		CHECK(loci_coherent_set_stack(coherent, member, hash, is_hole, n) == 0);
	}
}

static bool check_stream(
	struct stream *s, bool is_small, enum loci_coherent_taking taken_by, bool end)
{
	struct loci_coherent *coherent = new_engine(is_small, taken_by, 0);
	struct list_stacks *lists = list_new(s->n_members, taken_by);
	static struct arrays a;
	bool ok = true;

	for (size_t from = 0, to; ok && from < s->n; from = to) {
		to = from + 1 + rnd(s->n / 2 + 1);
		to = to < s->n ? to : s->n;
		for (size_t i = from; i < to; i++)
			list_touch(lists, &s->touch[i]);
		feed(coherent, s, from, to, &a);
		ok = check_touches(s, from, to, &a);
		if (end)
			end_some(coherent, lists, s, to);
		if (rnd(4) == 0)
			rebuild(coherent);
	}
	for (uint32_t i = 0; ok && i < s->n_members; i++)
		check_result(s, coherent, lists, i);
	if (ok)
		check_blocks(coherent, lists);
	loci_coherent_free(coherent);
	list_free(lists);
	return ok;
}

static void check_patterns(void)
{
	static struct stream s;

	for (unsigned round = 0; round < check_turns(400); round++)
		for (size_t pattern = 0; pattern < LOCI_ARRAY_SIZE(patterns); pattern++) {
			bool is_long = round % 40 == 0;
			uint32_t n_members = is_long ? 1 + (uint32_t)rnd(3)
				: round % 16 == 15   ? 70
						     : 1 + (uint32_t)rnd(6);

			make(&s, pattern, n_members,
				1 +
					rnd(is_long              ? 600
							: rnd(2) ? 12
								 : 150),
				is_long ? MAX_TOUCHES : 1 + rnd(600));
			if (!check_stream(&s, round % 4 != 1,
				    round % 5 < 3 ? LOCI_COHERENT_BY_WRITES : round % 5 - 2,
				    round % 3 == 2)) {
				CHECK_FAIL("round %u, pattern %zu", round, pattern);
				return;
			}
		}
}

int main(void)
{
	check_patterns();
	return check_status();
}
