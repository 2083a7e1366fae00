// SPDX-License-Identifier: GPL-2.0-or-later
/* The model of Anger et al. on cases small enough for paper and pencil. */
#include "check.h"

#include "engine/coherent.h"
#include "engine/stack.h"
#include "model/anger.h"

#define THREADS 2

static struct loci_hist of(const double *weight, unsigned n)
{
	struct loci_hist hist;

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	for (unsigned i = 0; i < n; i++)
		CHECK(loci_hist_add(&hist, i, weight[i]) == 0);
	return hist;
}

/* Thread 0 reuses 10 times at 0, 5 at 2 and 3 at 5; of those at 2 and at 5 another thread touched
 * one each last. Thread 1 reuses 4 at 1 and 8 at 3; another touched two of those at 3 last. In one
 * stack of all these four are at 1, 3, 4 and 9. */
static void check_sums(void)
{
	struct loci_hist own[] = { of((double[]){ 10, 0, 5, 0, 0, 3 }, 6),
		of((double[]){ 0, 4, 0, 8 }, 4) };
	struct loci_hist lost[] = { of((double[]){ 0, 0, 1, 0, 0, 1 }, 6),
		of((double[]){ 0, 0, 0, 2 }, 4) };
	struct loci_hist shared = of((double[]){ 0, 1, 0, 1, 1, 0, 0, 0, 0, 1 }, 10);
	struct loci_anger anger = { own, lost, THREADS, &shared };
	struct loci_anger_cache level[] = { { 2, 0 }, { 4, 0 }, { 8, 0 } };
	double hits[3];

	/* equation 1: below 2, 3, 4, 6 */
	CHECK_NEAR(loci_anger_hits(&own[0], (struct loci_anger_cache){ 2, 0 }), 10, 0);
	CHECK_NEAR(loci_anger_hits(&own[0], (struct loci_anger_cache){ 3, 0 }), 15, 0);
	CHECK_NEAR(loci_anger_hits(&own[1], (struct loci_anger_cache){ 3, 0 }), 4, 0);
	CHECK_NEAR(loci_anger_hits(&own[1], (struct loci_anger_cache){ 4, 0 }), 12, 0);
	/* equation 4: two caches of 2 hold what is below 4 */
	CHECK_NEAR(loci_anger_remote_hits(&shared, THREADS, level[0]), 2, 0);
	CHECK_NEAR(
		loci_anger_remote_hits(&shared, THREADS, (struct loci_anger_cache){ 5, 0 }), 4, 0);
	/* each alone: 10 + 4 below 2, 5 + 8 more below 4, 3 more below 8 */
	loci_anger_levels(&anger, LOCI_ANGER_STACK, level, 3, hits);
	CHECK_NEAR(hits[0], 14, 0);
	CHECK_NEAR(hits[1], 13, 0);
	CHECK_NEAR(hits[2], 3, 0);
	/* equation 5: 2 remote ones, and nothing is lost below 2; the second level has them no
	 * more */
	loci_anger_levels(&anger, LOCI_ANGER_COHERENCE, level, 3, hits);
	CHECK_NEAR(hits[0], 16, 0);
	CHECK_NEAR(hits[1], 11, 0);
	CHECK_NEAR(hits[2], 3, 0);
	/* A first level of 4: 27 of their own, less the 3 lost below 4, and the 3 remote below 8.
	 */
	loci_anger_levels(&anger, LOCI_ANGER_COHERENCE, level + 1, 2, hits);
	CHECK_NEAR(hits[0], 27, 0);
	CHECK_NEAR(hits[1], 3, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		loci_hist_fini(&own[i]);
		loci_hist_fini(&lost[i]);
	}
	loci_hist_fini(&shared);
}

/* One way in each of 4 sets: a block at distance d is still there if d others fell into other sets,
 * (3/4)^d. Two ways: or one of them did not. */
static void check_sets(void)
{
	struct loci_hist own = of((double[]){ 8, 0, 16, 64 }, 4), none = of(NULL, 0);
	struct loci_anger anger = { &own, &none, 1, &none };
	struct loci_anger_cache level[] = { { 4, 1 }, { 8, 2 } };
	double hits[2], one = 8 + 16 * 9.0 / 16 + 64 * 27.0 / 64;
	double two = 8 + 16 * (1 - 1.0 / 16) + 64 * (27.0 / 64 + 3 * 9.0 / 64);

	loci_anger_levels(&anger, LOCI_ANGER_ASSOC, level, 2, hits);
	CHECK_NEAR(hits[0], one, 1e-9);
	CHECK_NEAR(hits[1], two - one, 1e-9);
	loci_anger_levels(&anger, LOCI_ANGER_STACK, level, 2, hits);
	CHECK_NEAR(hits[0], 88, 0);
	CHECK_NEAR(hits[1], 0, 0);
	loci_hist_fini(&own);
	loci_hist_fini(&none);
}

/* From the engines: two threads that touch blocks 1, 2, 3 by turns. */
static void check_engines(void)
{
	static const uint64_t block[] = { 1, 2, 3, 1, 2, 3, 1, 1 };
	static const uint32_t turn_touch[] = { 0, 3, 6 }, turn_member[] = { 0, 1, 0 };
	struct loci_coherent_options options = { .taken_by = LOCI_COHERENT_BY_NONE };
	uint64_t bytes[8] = { 0 }, distance[8], in_all[8];
	uint8_t is_write[8] = { 0 }, kind[8];
	struct loci_coherent_touches touches = { .block = block,
		.is_write = is_write,
		.bytes = bytes,
		.n = 8,
		.turn_touch = turn_touch,
		.turn_member = turn_member,
		.n_turns = 3,
		.ret_distance = distance,
		.ret_kind = kind };
	struct loci_stack_options plain = { .isa = LOCI_ISA_BEST };
	struct loci_coherent_result result[THREADS];
	struct loci_hist own[THREADS], lost[THREADS], shared;
	struct loci_anger anger = { own, lost, THREADS, &shared };
	struct loci_anger_cache level[] = { { 1, 0 }, { 3, 0 } };
	struct loci_coherent *coherent;
	struct loci_stack *stack;
	double hits[2];

	CHECK(loci_coherent_new(&options, &coherent, NULL) == 0);
	CHECK(loci_coherent_feed(coherent, &touches, NULL) == 0);
	CHECK(loci_stack_new(&plain, &stack, NULL) == 0);
	CHECK(loci_stack_feed(stack, block, NULL, 8, in_all, NULL) == 0);
	loci_hist_init(&shared, LOCI_SCHEME_FINE);
	for (unsigned i = 0; i < 8; i++)
		if (kind[i] & LOCI_COHERENT_REMOTE)
			CHECK(loci_hist_add(&shared, in_all[i], 1) == 0);
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK(loci_coherent_result(coherent, i, &result[i], NULL) == 0);
		own[i] = result[i].stack;
		lost[i] = result[i].remote_stack;
	}
	/* Thread 1 has 1, 2, 3 from thread 0, at 2 in one stack; thread 0 finds 1 there, too, at 2
	 * in its own, and once more at 0. */
	CHECK_U64((uint64_t)loci_hist_finite(&own[0]), 2);
	CHECK_U64((uint64_t)loci_hist_finite(&lost[0]), 1);
	CHECK_U64((uint64_t)loci_hist_finite(&own[1]), 0);
	CHECK_U64((uint64_t)loci_hist_finite(&shared), 4);
	CHECK_NEAR(shared.weight[2], 4, 0);
	/* Two caches of one block hold no block at 2; two of two hold all four. */
	loci_anger_levels(&anger, LOCI_ANGER_COHERENCE, level, 2, hits);
	CHECK_NEAR(hits[0], 1, 0);
	CHECK_NEAR(hits[1], 1, 0);
	level[0].blocks = 2;
	loci_anger_levels(&anger, LOCI_ANGER_COHERENCE, level, 1, hits);
	CHECK_NEAR(hits[0], 1 + 4, 0);
	for (unsigned i = 0; i < THREADS; i++)
		loci_coherent_result_fini(&result[i]);
	loci_hist_fini(&shared);
	loci_coherent_free(coherent);
	loci_stack_free(stack);
}

int main(void)
{
	check_sums();
	check_sets();
	check_engines();
	return check_status();
}
