// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine fed with runs against itself fed touch by touch: distances, last uses and
 * histograms, with every instruction set, with and without uses, exact and sampling. */
#include "check.h"
#include "rnd.h"

#include "base/cleanup.h"
#include "engine/stack_state.h"

#include <errno.h>
#include <stdlib.h>

#define RUNS    30000
#define TOUCHES 200000

struct stream {
	size_t n, n_touches;
	uint64_t block[RUNS], left[RUNS];
	uint8_t is_write[RUNS];
	uint32_t more[RUNS], more_writes[RUNS];
	size_t first[RUNS]; /* touch */
	/* The same, touch by touch. */
	uint64_t touch[TOUCHES], use[TOUCHES];
	uint8_t writes[TOUCHES];
};

struct answer {
	uint64_t distance[TOUCHES], last_use[TOUCHES];
	struct loci_stack_result result;
};

static void add_touch(struct stream *s, uint64_t block, unsigned is_write)
{
	s->touch[s->n_touches] = block;
	s->writes[s->n_touches] = (uint8_t)is_write;
	s->use[s->n_touches] = ~(s->n_touches * 0x9e3779b97f4a7c15u);
	s->n_touches++;
}

/* Writes among the rest only of a run that begins with one, in any order. */
static void add_run(struct stream *s, uint64_t block, unsigned is_write, uint32_t more)
{
	size_t i = s->n;

	if (i == RUNS || s->n_touches + 1 + more > TOUCHES)
		return;
	s->first[i] = s->n_touches;
	s->block[i] = block;
	s->is_write[i] = (uint8_t)is_write;
	s->more[i] = more;
	s->more_writes[i] = 0;
	add_touch(s, block, is_write);
	for (uint32_t k = 0; k < more; k++) {
		unsigned writes = is_write && rnd(3) == 0;

		s->more_writes[i] += writes;
		add_touch(s, block, writes);
	}
	s->left[i] = s->use[s->n_touches - 1];
	s->n++;
}

static void fill(struct stream *s, uint64_t blocks)
{
	s->n = s->n_touches = 0;
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t block = rnd(2) ? rnd(100) : rnd(blocks);

		/* now and then runs of one block follow each other, as where reads come first */
		for (uint64_t k = rnd(8) ? 1 : 3; k--;)
			add_run(s, block, rnd(3) == 0, rnd(3) ? 0 : (uint32_t)rnd(9));
		if (rnd(1000) == 0)
			add_run(s, block, 1, 200 + (uint32_t)rnd(900));
	}
}

static void finish(struct loci_stack *stack, struct answer *ret)
{
	CHECK(loci_stack_result(stack, &ret->result, NULL) == 0);
	loci_stack_free(stack);
}

static void by_touch(const struct stream *s, struct loci_stack *stack, struct answer *ret)
{
	CHECK(loci_stack_feed_uses(stack, s->touch, s->writes, s->use, s->n_touches, ret->distance,
		      ret->last_use, NULL) == 0);
	finish(stack, ret);
}

static void by_run(const struct stream *s, struct loci_stack *stack, bool uses, struct answer *ret)
{
	static const size_t pieces[] = { 0, 1, 31, 32, 33, 513, 7, 4096, 511 };

	for (size_t at = 0, turn = 0, n; at < s->n; at += n, turn++) {
		struct loci_stack_runs runs = { s->block + at, s->is_write + at, s->more + at,
			s->more_writes + at, uses ? s->left + at : NULL };
		struct loci_err err = { "" };

		n = pieces[turn % LOCI_ARRAY_SIZE(pieces)];
		if (n > s->n - at)
			n = s->n - at;
		if (loci_stack_feed_runs(stack, &runs, n, ret->distance + at,
			    uses ? ret->last_use + at : NULL, &err) < 0)
			CHECK_FAIL("%s", err.text);
	}
	finish(stack, ret);
}

static int same_hist(const struct loci_hist *a, const struct loci_hist *b)
{
	return a->n_bins == b->n_bins && a->cold == b->cold &&
		!memcmp(a->weight, b->weight, a->n_bins * sizeof(double));
}

static void check_runs(
	const struct stream *s, const struct answer *runs, const struct answer *want, bool uses)
{
	size_t wrong = 0, wrong_use = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint64_t distance = want->distance[s->first[i]];

		wrong += runs->distance[i] != distance;
		wrong_use += uses && distance < LOCI_UNSAMPLED &&
			runs->last_use[i] != want->last_use[s->first[i]];
	}
	CHECK_U64(wrong, 0);
	CHECK_U64(wrong_use, 0);
	CHECK(same_hist(&runs->result.stack, &want->result.stack));
	CHECK(same_hist(&runs->result.time, &want->result.time));
	CHECK(same_hist(&runs->result.dirty, &want->result.dirty));
}

static void check_totals(const struct answer *runs, const struct answer *want)
{
	CHECK_U64(runs->result.touches, want->result.touches);
	CHECK_U64(runs->result.writes, want->result.writes);
}

/* Where sampling begins depends on what is fed at once, so that only what stays exact compares. */
static void check_sampled(
	const struct stream *s, const struct answer *runs, const struct answer *exact)
{
	size_t wrong = 0, wrong_use = 0, followed = 0;

	CHECK(runs->result.sampling_rate < 1);
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		CHECK_NEAR(runs->result.stack.weight[i], exact->result.stack.weight[i], 0);
	for (size_t i = 0; i < s->n; i++) {
		uint64_t distance = exact->distance[s->first[i]];

		if (distance < LOCI_STACK_TOP)
			wrong += runs->distance[i] != distance;
		if (distance == LOCI_INFINITE || runs->distance[i] >= LOCI_UNSAMPLED)
			continue;
		followed += distance >= LOCI_STACK_TOP;
		wrong_use += runs->last_use[i] != exact->last_use[s->first[i]];
	}
	CHECK_U64(wrong, 0);
	CHECK_U64(wrong_use, 0);
	CHECK(followed > 1000);
}

static const enum loci_isa isas[] = { LOCI_ISA_SCALAR, LOCI_ISA_AVX2, LOCI_ISA_AVX512 };
static const struct loci_stack_tuning tunings[] = { { 40, 1000, 64, 4096, 0 },
	{ 8192, 1 << 17, 4096, 2 << 20, 16384 } };

static void check_streams(uint64_t blocks)
{
	static struct stream s;
	static struct answer want, runs;

	fill(&s, blocks);
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(isas); i++)
		for (unsigned k = 0; k < LOCI_ARRAY_SIZE(tunings); k++)
			for (unsigned uses = 0; uses < 2; uses++) {
				struct loci_stack_options options = { .isa = isas[i],
					.keep_uses = true };
				struct loci_stack *stack;

				CHECK(loci_stack_new_tuned(&options, &tunings[k], &stack, NULL) ==
					0);
				by_touch(&s, stack, &want);
				options.keep_uses = uses;
				CHECK(loci_stack_new_tuned(&options, &tunings[k], &stack, NULL) ==
					0);
				by_run(&s, stack, uses, &runs);
				check_totals(&runs, &want);
				check_runs(&s, &runs, &want, uses);
				loci_stack_result_fini(&runs.result);
				loci_stack_result_fini(&want.result);
			}
}

static void check_sampling(void)
{
	static struct stream s;
	static struct answer exact, runs;

	fill(&s, 60000);
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(isas); i++) {
		struct loci_stack_options options = { .isa = isas[i], .keep_uses = true };
		struct loci_stack *stack;

		CHECK(loci_stack_new(&options, &stack, NULL) == 0);
		by_touch(&s, stack, &exact);
		options.max_bytes = 1200 << 10;
		CHECK(loci_stack_new_tuned(&options, &tunings[0], &stack, NULL) == 0);
		by_run(&s, stack, true, &runs);
		check_totals(&runs, &exact);
		check_sampled(&s, &runs, &exact);
		loci_stack_result_fini(&runs.result);
		loci_stack_result_fini(&exact.result);
	}
}

/* The longest runs there are: counted by hand, until time has no more room. */
static void check_long(void)
{
	enum { N = 4096 };
	static uint64_t block[N];
	static uint8_t is_write[N];
	static uint32_t more[N], more_writes[N];
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	struct loci_stack_runs runs = { block, is_write, more, more_writes, NULL };
	struct loci_stack_result result;
	struct loci_stack *stack;
	struct loci_err err = { "" };
	double most = (double)UINT32_MAX;
	int r = 0;

	for (unsigned i = 0; i < N; i++) {
		block[i] = 7 + i % 2;
		is_write[i] = 1;
		more[i] = more_writes[i] = UINT32_MAX;
	}
	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	CHECK(loci_stack_feed_runs(stack, &runs, 3, NULL, NULL, NULL) == 0);
	CHECK(loci_stack_result(stack, &result, NULL) == 0);
	CHECK_U64(result.touches, 3ull << 32);
	CHECK_U64(result.writes, 3ull << 32);
	CHECK_NEAR(result.stack.weight[0], 3 * most, 0);
	CHECK_NEAR(result.stack.weight[1], 1, 0);
	CHECK_NEAR(result.time.weight[1], 3 * most, 0);
	CHECK_NEAR(result.time.weight[loci_bin_fine((1ull << 32) + 1)], 1, 0);
	CHECK_NEAR(result.dirty.weight[0], 3 * most, 0);
	loci_stack_result_fini(&result);
	for (unsigned i = 0; r == 0 && i < 128; i++)
		r = loci_stack_feed_runs(stack, &runs, N, NULL, NULL, &err);
	CHECK(r == -EOVERFLOW && err.text[0]);
	loci_stack_free(stack);
}

static void check_refused(void)
{
	struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	uint64_t word = 1, last, distance;
	uint8_t is_write = 0;
	uint32_t none = 0;
	struct loci_stack_runs runs = { &word, &is_write, &none, &none, &word };
	struct loci_err err = { "" };
	struct loci_stack *stack;

	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	CHECK(loci_stack_feed_runs(stack, &runs, 1, &distance, &last, &err) == -EINVAL);
	CHECK(err.text[0]);
	loci_stack_free(stack);
}

int main(void)
{
	check_streams(80);
	check_streams(5000);
	check_streams(60000);
	check_sampling();
	check_long();
	check_refused();
	return check_status();
}
