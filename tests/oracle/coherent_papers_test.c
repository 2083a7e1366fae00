// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures of the papers that coherent stacks come from, with their numbers: Schuff et al. 2010,
 * Figures 1 and 2; Anger et al. 2014, Figure 4. */
#include "check.h"

#include "base/cleanup.h"
#include "engine/coherent.h"
#include "engine/sets.h"
#include "engine/stack.h"

#define MAX_STEPS 32

/* A member's touch of a block, and what is expected of it. */
struct step {
	uint32_t member;
	uint64_t block;
	bool is_write;
	uint8_t kind;
	uint64_t distance;
};

static void check_steps(
	const char *name, enum loci_coherent_taking taken_by, const struct step *step, size_t n)
{
	struct loci_coherent_options options = { .taken_by = taken_by };
	struct loci_coherent *coherent;
	struct loci_err err = { "" };

	CHECK(loci_coherent_new(&options, &coherent, &err) == 0);
	for (size_t i = 0; i < n; i++) {
		uint8_t is_write = step[i].is_write, kind;
		uint64_t bytes = 0xff, distance;
		uint32_t zero = 0;
		struct loci_coherent_touches touches = { .block = &step[i].block,
			.is_write = &is_write,
			.bytes = &bytes,
			.n = 1,
			.turn_touch = &zero,
			.turn_member = &step[i].member,
			.n_turns = 1,
			.ret_distance = &distance,
			.ret_kind = &kind };

		CHECK(loci_coherent_feed(coherent, &touches, &err) == 0);
		if (distance != step[i].distance || kind != step[i].kind)
			CHECK_FAIL("%s, step %zu: distance %" PRIu64 ", kind %u", name, i, distance,
				kind);
	}
	loci_coherent_free(coherent);
}
#define CHECK_STEPS(name, taken_by, ...)                                  \
	check_steps(name, taken_by, (const struct step[]){ __VA_ARGS__ }, \
		sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

/* Of all threads, in one stack. */
static void check_shared(const uint64_t *block, const uint64_t *want, size_t n)
{
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	uint64_t distance[MAX_STEPS];
	struct loci_stack *stack;
	struct loci_err err = { "" };

	CHECK(loci_stack_new(&options, &stack, &err) == 0);
	CHECK(loci_stack_feed(stack, block, NULL, n, distance, &err) == 0);
	for (size_t i = 0; i < n; i++)
		CHECK_U64(distance[i], want[i]);
	loci_stack_free(stack);
}

enum { REUSE = LOCI_COHERENT_REUSE, COLD = LOCI_COHERENT_COLD, TRUE_ = LOCI_COHERENT_TRUE };
#define REMOTE LOCI_COHERENT_REMOTE
#define INF    LOCI_INFINITE

/* Three blocks; the fifth reference is a write by thread 2, all others are reads by thread 1. With
 * stacks of their own that know nothing of each other B is reused at 1 and A at 2; the write makes
 * A infinite in private stacks, and 1 in a shared one. */
static void schuff_figure_1(void)
{
	enum { A, B, C };
	static const uint64_t block[] = { A, B, C, C, A, B, A };
	static const uint64_t shared[] = { INF, INF, INF, 0, 2, 2, 1 };

	CHECK_STEPS("figure 1, independent", LOCI_COHERENT_BY_NONE, { 1, A, 0, COLD, INF },
		{ 1, B, 0, COLD, INF }, { 1, C, 0, COLD, INF }, { 1, C, 0, REUSE, 0 },
		{ 2, A, 1, COLD | REMOTE, INF }, { 1, B, 0, REUSE, 1 },
		{ 1, A, 0, REUSE | REMOTE, 2 });
	CHECK_STEPS("figure 1, private", LOCI_COHERENT_BY_WRITES, { 1, A, 0, COLD, INF },
		{ 1, B, 0, COLD, INF }, { 1, C, 0, COLD, INF }, { 1, C, 0, REUSE, 0 },
		{ 2, A, 1, COLD | REMOTE, INF }, { 1, B, 0, REUSE, 1 },
		{ 1, A, 0, TRUE_ | REMOTE, INF });
	check_shared(block, shared, LOCI_ARRAY_SIZE(block));
}

/* A stack of A B C D E from the top, in which B is taken away: a hole at depth 1 that the tracked
 * D, at 3, has above it. */
#define HOLED                                                                   \
	{ 1, E, 0, COLD, INF }, { 1, D, 0, COLD, INF }, { 1, C, 0, COLD, INF }, \
		{ 1, B, 0, COLD, INF }, { 1, A, 0, COLD, INF },                 \
	{                                                                       \
		2, B, 1, COLD | REMOTE, INF                                     \
	}

static void schuff_figure_2(void)
{
	enum { A, B, C, D, E, F, G };

	/* 1: what is above the hole moves, and fills nothing: A, hole, C, D, E. */
	CHECK_STEPS("figure 2, case 1", LOCI_COHERENT_BY_WRITES, HOLED, { 1, A, 0, REUSE, 0 },
		{ 1, D, 0, REUSE, 3 });
	/* 2: what is between fills the hole and leaves one: C, A, hole, D, E. */
	CHECK_STEPS("figure 2, case 2", LOCI_COHERENT_BY_WRITES, HOLED, { 1, C, 0, REUSE, 2 },
		{ 1, D, 0, REUSE, 3 });
	CHECK_STEPS("figure 2, case 2, the hole moved", LOCI_COHERENT_BY_WRITES, HOLED,
		{ 1, C, 0, REUSE, 2 }, { 1, A, 0, REUSE, 1 }, { 1, F, 0, COLD, INF },
		{ 1, C, 0, REUSE, 2 }, { 1, G, 0, COLD, INF }, { 1, D, 0, REUSE, 4 });
	/* 3: what is below fills the hole, and leaves one below the tracked: E, A, C, D, hole. */
	CHECK_STEPS("figure 2, case 3", LOCI_COHERENT_BY_WRITES, HOLED, { 1, E, 0, REUSE, 4 },
		{ 1, D, 0, REUSE, 3 });
	/* and a new block fills it: F, A, C, D, E. */
	CHECK_STEPS("figure 2, new block", LOCI_COHERENT_BY_WRITES, HOLED, { 1, F, 0, COLD, INF },
		{ 1, D, 0, REUSE, 3 }, { 1, E, 0, REUSE, 4 });
	/* The block that was taken away is new when it comes back, and fills its own hole. */
	CHECK_STEPS("figure 2, it comes back", LOCI_COHERENT_BY_WRITES, HOLED,
		{ 1, B, 0, TRUE_ | REMOTE, INF }, { 1, D, 0, REUSE, 3 }, { 1, E, 0, REUSE, 4 });
}

/* Thread y touches 1001, which is third in its stack after 0001 and 0101, and third in the shared
 * one; x touched it last. The paper counts the block itself: its distances of 3, 3, 3, 2, 1 for 2^0
 * to 2^4 sets are 2, 2, 2, 1, 0 others. */
static void anger_figure_4(void)
{
	enum { X, Y };
	static const uint64_t of_y[] = { 9, 5, 1, 9 }, want[] = { 2, 2, 2, 1, 0 };
	static const uint64_t block[] = { 9, 3, 5, 9, 12, 1, 9 };
	static const uint64_t shared[] = { INF, INF, INF, 2, INF, INF, 2 };
	struct loci_sets_options options = { .max_bits = 4 };
	struct loci_sets_counts before, after;
	struct loci_sets *sets;
	struct loci_err err = { "" };

	CHECK_STEPS("figure 4", LOCI_COHERENT_BY_NONE, { Y, 9, 0, COLD, INF },
		{ X, 3, 0, COLD, INF }, { Y, 5, 0, COLD, INF }, { X, 9, 0, COLD | REMOTE, INF },
		{ X, 12, 0, COLD, INF }, { Y, 1, 0, COLD, INF }, { Y, 9, 0, REUSE | REMOTE, 2 });
	/* Where reads take blocks away it is a miss of coherence, too. */
	CHECK_STEPS("figure 4, any access", LOCI_COHERENT_BY_ANY, { Y, 9, 0, COLD, INF },
		{ X, 3, 0, COLD, INF }, { Y, 5, 0, COLD, INF }, { X, 9, 0, COLD | REMOTE, INF },
		{ X, 12, 0, COLD, INF }, { Y, 1, 0, COLD, INF }, { Y, 9, 0, TRUE_ | REMOTE, INF });
	check_shared(block, shared, LOCI_ARRAY_SIZE(block));
	for (unsigned bits = 0; bits <= 4; bits++) {
		CHECK(loci_sets_new(&options, &sets, &err) == 0);
		CHECK(loci_sets_feed(sets, of_y, NULL, 3, &err) == 0);
		loci_sets_counts(sets, bits, &before);
		CHECK(loci_sets_feed(sets, of_y + 3, NULL, 1, &err) == 0);
		loci_sets_counts(sets, bits, &after);
		CHECK_U64(after.position[want[bits]] - before.position[want[bits]], 1);
		loci_sets_free(sets);
	}
}

int main(void)
{
	schuff_figure_1();
	schuff_figure_2();
	anger_figure_4();
	return check_status();
}
