// SPDX-License-Identifier: GPL-2.0-or-later
/* How good watched samples are: thirty streams, sampled and weighed in every way, against their
 * exact time and stack distances. The table is printed; the way that is the default must be good,
 * and better than the others. */
#include "analyse/watch_events.h"
#include "base/cleanup.h"
#include "check.h"
#include "collect/rewatch.h"
#include "engine/stack.h"
#include "model/accuracy.h"
#include "stream/decode.h"
#include "watched_streams.h"

#include <stdlib.h>

#define PERIOD 200

struct way {
	const char *name;
	enum loci_replace replace;
	enum loci_weighting weighting;
	unsigned watches;
	uint64_t burst;
};

static const struct way ways[] = {
	{ "the default", LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_INVERSE, 4, 256 },
	{ "one watch", LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_INVERSE, 1, 256 },
	{ "two watches", LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_INVERSE, 2, 256 },
	{ "no burst", LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_INVERSE, 4, 0 },
	{ "unscaled", LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_UNSCALED, 4, 256 },
	{ "proportional", LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_PROPORTIONAL, 4, 256 },
	{ "as RDX", LOCI_REPLACE_RDX, LOCI_WEIGH_PROPORTIONAL, 4, 0 },
	{ "Kaplan-Meier", LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_KAPLAN_MEIER, 4, 256 },
	{ "plain", LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_PLAIN, 4, 256 },
	{ "oldest", LOCI_REPLACE_OLDEST, LOCI_WEIGH_PLAIN, 4, 256 },
	{ "coin", LOCI_REPLACE_COIN, LOCI_WEIGH_PLAIN, 4, 256 },
};
#define WAYS (sizeof(ways) / sizeof(*ways))

/* The samples' time distances. */
static void sampled(const struct way *way, uint64_t seed, struct loci_sample_sum *ret)
{
	const struct loci_rewatch_options options = { .period = PERIOD,
		.burst_refs = way->burst,
		.block_bytes = 8,
		.watches = way->watches,
		.replace = way->replace,
		.seed = seed };
	struct memory memory = { .source = { .ops = &memory_ops,
					 .info = { .version = LOCI_STREAM_VERSION } } };
	struct loci_decoder *decoder = NULL;
	struct loci_source *source = NULL;
	struct loci_watch_events watched;
	struct loci_err err = { "" };
	uint64_t words[4096];
	ssize_t n;

	CHECK(loci_rewatch_new_take(&memory.source, &options, &source, &err) == 0);
	CHECK(loci_decoder_new(&decoder, &err) == 0);
	CHECK(loci_watch_events_init(&watched, way->weighting, 0, &err) == 0);
	while ((n = source->ops->read(source, words, 4096, &err)) > 0)
		for (size_t pos = 0; pos < (size_t)n;) {
			struct loci_event event;
			struct loci_ref refs[1];
			size_t n_refs;

			if (loci_decoder_next(decoder, words, (size_t)n, &pos, refs, 1, &n_refs,
				    &event, &err) < 0)
				break;
			loci_watch_events_event(&watched, &event);
		}
	CHECK(n == 0);
	CHECK_STR(err.text, "");
	loci_sample_sum_init(ret);
	CHECK(loci_watch_events_finish(&watched, ret, &err) == 0);
	CHECK_U64(ret->references, REFS);
	loci_watch_events_fini(&watched);
	loci_decoder_free(decoder);
	loci_source_close(source);
}

static int ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double *value)
{
	qsort(value, STREAMS, sizeof(*value), ascending);
	return (value[(STREAMS - 1) / 2] + value[STREAMS / 2]) / 2;
}

/* References of 1 to 32 bytes, some of which lie in several blocks of 8, others in a half: the
 * touches and their distances are those of the exact engine. */
static void check_sizes(unsigned shape)
{
	static const uint32_t bytes[SITES] = { 32, 4, 16, 1, 24, 8, 2, 32 };
	static uint64_t touched[5 * REFS];
	const struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	const uint64_t sizes[] = { 60, 3000, 2000 };
	double touches = 0, stores = 0, writes = 0;
	loci_cleanup(loci_sample_sum_fini) struct loci_sample_sum sum, again;
	struct loci_accuracy accuracy;
	struct loci_stack_result exact;
	struct loci_stack *stack = NULL;
	size_t n = 0;

	memcpy(made.bytes, bytes, sizeof(bytes));
	state = 4711 + shape;
	for (size_t i = 0; i < REFS; i++) { /* the second half has wide references only */
		uint64_t at = i < REFS / 2 || shape == 1 ? i : 3 * i;

		made.block[i] = shape == 2 ? rnd(sizes[2]) : at % sizes[shape];
		made.site[i] = (uint8_t)(i < REFS / 2 ? rnd(SITES) : 2 * rnd(2));
		stores += made.site[i] % 2;
	}
	for (size_t i = 0; i < REFS; i++)
		for (uint64_t k = 0; k < (bytes[made.site[i]] + 7) / 8; k++) {
			touched[n++] = made.block[i] + k;
			writes += made.site[i] % 2;
		}
	touches = (double)n;
	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	CHECK(loci_stack_feed(stack, touched, NULL, n, NULL, NULL) == 0);
	CHECK(loci_stack_result(stack, &exact, NULL) == 0);
	sampled(&ways[0], 99 + shape, &sum);
	CHECK_NEAR(sum.touches, touches, 0.05 * touches);
	CHECK_NEAR(sum.weight, sum.touches, 1e-6 * touches);
	CHECK_NEAR(sum.stores, stores, 0.1 * REFS);
	CHECK_NEAR(sum.writes, writes, 0.1 * touches);
	CHECK_U64(sum.in_burst + sum.by_watch + sum.never <= sum.samples, 1);
	loci_accuracy(&exact.time, &sum.time, 8, &accuracy);
	printf("sizes %u: %.0f of %.0f touches, S %.3f\n", shape, sum.touches, touches,
		accuracy.s_log2);
	CHECK(accuracy.s_log2 > 0.9);
	sampled(&ways[0], 99 + shape, &again); /* nothing but the seed decides */
	loci_accuracy(&sum.time, &again.time, 8, &accuracy);
	CHECK_NEAR(accuracy.s_log2, 1, 0);
	loci_stack_result_fini(&exact);
	loci_stack_free(stack);
	memset(made.bytes, 0, sizeof(made.bytes));
}

/* Two threads take turns at the blocks of one loop: of an odd length each block is the other's
 * next, of an even one nobody else's. Distances are in touches of the thread. */
static void check_threads(void)
{
	for (uint64_t n = 1000; n <= 1001; n++) {
		loci_cleanup(loci_sample_sum_fini) struct loci_sample_sum sum;
		uint64_t distance = n == 1000 ? 500 : 501;
		double all;

		made.n_threads = 2;
		loop(0, REFS, n, 0, 0);
		sampled(&ways[0], 5, &sum);
		made.n_threads = 0;
		all = loci_hist_finite(&sum.time);
		CHECK(sum.threads);
		CHECK(all > 0.97 * REFS);
		CHECK_NEAR(loci_hist_finite(&sum.time_remote), n == 1000 ? 0 : all, 1e-6);
		CHECK_NEAR((double)loci_hist_percentile(&sum.time, 0.001), (double)distance, 2);
		CHECK_NEAR((double)loci_hist_percentile(&sum.time, 0.97), (double)distance, 2);
	}
}

/* Back and forth over so many blocks, where time says little of stack distances: reuses that are
 * seen while their samples are followed have their own. */
static void check_reversals(void)
{
	const struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
	loci_cleanup(loci_sample_sum_fini) struct loci_sample_sum sum;
	loci_cleanup(loci_hist_fini) struct loci_hist made_stack = { 0 }, modelled = { 0 };
	struct loci_accuracy accuracy;
	struct loci_stack_result exact;
	struct loci_stack *stack = NULL;

	for (size_t i = 0; i < REFS; i++) {
		uint64_t at = i % 198;

		made.block[i] = at < 100 ? at : 198 - at;
		made.site[i] = 0;
	}
	CHECK(loci_stack_new(&options, &stack, NULL) == 0);
	CHECK(loci_stack_feed(stack, made.block, NULL, REFS, NULL, NULL) == 0);
	CHECK(loci_stack_result(stack, &exact, NULL) == 0);
	sampled(&ways[0], 7, &sum);
	CHECK_NEAR(loci_hist_finite(&sum.near), loci_hist_finite(&sum.time), 1e-6 * REFS);
	CHECK(loci_convert_statstack(&sum.time, &modelled) == 0);
	loci_accuracy(&exact.stack, &modelled, 8, &accuracy);
	printf("reversals: worst error of miss ratios %.1f points", accuracy.worst_points);
	CHECK(accuracy.worst_points > 15);
	CHECK(loci_convert_statstack_near(&sum.time, &sum.near, &sum.near_time, &made_stack) == 0);
	loci_accuracy(&exact.stack, &made_stack, 8, &accuracy);
	printf(", of those that are seen %.1f\n", accuracy.worst_points);
	CHECK(accuracy.worst_points < 4); /* by chance, of a thousand samples */
	loci_stack_result_fini(&exact);
	loci_stack_free(stack);
}

int main(void)
{
	static double time_s[WAYS][STREAMS], stack_s[WAYS][STREAMS], mean[WAYS], least[WAYS];
	const unsigned streams = (unsigned)check_turns(STREAMS);

	for (unsigned shape = 0; shape < 3; shape++)
		check_sizes(shape);
	check_threads();
	check_reversals();
	printf("%-20s", "S of time distances");
	for (size_t k = 0; k < WAYS; k++)
		printf(" %12s", ways[k].name);
	printf("\n");
	for (unsigned i = 0; i < streams; i++) {
		const struct loci_stack_options options = { .isa = LOCI_ISA_BEST };
		struct loci_stack_result exact;
		struct loci_stack *stack = NULL;

		printf("%-20s", make(i));
		CHECK(loci_stack_new(&options, &stack, NULL) == 0);
		CHECK(loci_stack_feed(stack, made.block, NULL, REFS, NULL, NULL) == 0);
		CHECK(loci_stack_result(stack, &exact, NULL) == 0);
		for (size_t k = 0; k < WAYS; k++) {
			loci_cleanup(loci_sample_sum_fini) struct loci_sample_sum sum;
			loci_cleanup(loci_hist_fini) struct loci_hist made_stack = { 0 };
			struct loci_accuracy accuracy;

			sampled(&ways[k], 1000 + i, &sum);
			loci_accuracy(&exact.time, &sum.time, 8, &accuracy);
			/* where there are no reuses there is nothing to be wrong about */
			time_s[k][i] = isnan(accuracy.s_log2) ? 1 : accuracy.s_log2;
			CHECK(loci_convert_statstack_near(
				      &sum.time, &sum.near, &sum.near_time, &made_stack) == 0);
			loci_accuracy(&exact.stack, &made_stack, 8, &accuracy);
			stack_s[k][i] = isnan(accuracy.s_log2) ? 1 : accuracy.s_log2;
			printf(" %12.3f", time_s[k][i]);
		}
		printf("\n");
		loci_stack_result_fini(&exact);
		loci_stack_free(stack);
	}
	if (streams < STREAMS) /* too few to judge by */
		return check_status();
	for (unsigned row = 0; row < 3; row++) {
		printf("%-20s", row == 0 ? "mean" : row == 1 ? "median" : "stack: median");
		for (size_t k = 0; k < WAYS; k++) {
			for (unsigned i = 0; row == 0 && i < STREAMS; i++)
				mean[k] += time_s[k][i] / STREAMS;
			printf(" %12.3f",
				row == 0           ? mean[k]
					: row == 1 ? median(time_s[k])
						   : median(stack_s[k]));
			least[k] = row == 1 ? time_s[k][0] : least[k];
		}
		printf("\n");
	}
	printf("%-20s", "worst");
	for (size_t k = 0; k < WAYS; k++)
		printf(" %12.3f", least[k]);
	printf("\n");
	CHECK(mean[0] > 0.92);
	CHECK(median(time_s[0]) > 0.93);
	CHECK(median(stack_s[0]) > 0.93);
	for (size_t k = 0; k < WAYS; k++)
		if (ways[k].weighting == LOCI_WEIGH_PROPORTIONAL ||
			ways[k].weighting == LOCI_WEIGH_PLAIN)
			CHECK(mean[0] > mean[k] + 0.05);
	return check_status();
}
