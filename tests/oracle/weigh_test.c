// SPDX-License-Identifier: GPL-2.0-or-later
/* Weights of watched samples, against what is known of the streams: RDX's listings, closed forms,
 * and the exact histogram of time distances. */
#include "analyse/weigh.h"
#include "check.h"
#include "collect/runtime/reservoir.h"
#include "hist/hist.h"

#include <stdlib.h>

/* A stream: the address of reference i, and where it stands in the code. */
struct stream {
	const char *name;
	uint64_t n;
	void (*at)(const struct stream *stream, uint64_t i, uint64_t *address, uint64_t *context);
	uint64_t size; /* its own */
};

/* Listing 1: one loop over an array, then another. */
static void listing_1(const struct stream *stream, uint64_t i, uint64_t *address, uint64_t *context)
{
	*address = i % stream->size;
	*context = i / stream->size;
}

/* Listing 2: the same, then a loop that touches every element twice. */
static void listing_2(const struct stream *stream, uint64_t i, uint64_t *address, uint64_t *context)
{
	if (i < 2 * stream->size) {
		listing_1(stream, i, address, context);
		return;
	}
	i -= 2 * stream->size;
	*address = stream->size + i / 2;
	*context = 2 + i % 2;
}

struct sampler {
	struct loci_reservoir reservoir;
	struct loci_weigh *weigh;
	uint64_t id[LOCI_RESERVOIR], address[LOCI_RESERVOIR];
	uint64_t n_ids;
};

static void sample(struct sampler *sampler, uint64_t count, uint64_t address, uint64_t context)
{
	int watch = loci_reservoir_offer(&sampler->reservoir);
	struct loci_weigh_sample opened = { ++sampler->n_ids, count, context,
		watch < 0 ? LOCI_WATCH_NONE : (uint32_t)watch };

	CHECK(loci_weigh_open(sampler->weigh, &opened, NULL) == 0);
	if (watch < 0)
		return;
	sampler->id[watch] = sampler->n_ids;
	sampler->address[watch] = address;
}

static void watch(struct sampler *sampler, uint64_t count, uint64_t address, uint64_t context)
{
	for (unsigned i = 0; i < sampler->reservoir.n; i++)
		if (sampler->reservoir.k[i] && sampler->address[i] == address) {
			CHECK(loci_weigh_fire(
				      sampler->weigh, sampler->id[i], count, context, NULL) == 0);
			loci_reservoir_release(&sampler->reservoir, i);
		}
}

/* Gaps as the collector draws them. */
static uint64_t gap(struct loci_reservoir *reservoir, uint64_t period)
{
	double u = ((double)(loci_reservoir_random(reservoir) >> 11) + 0.5) / 9007199254740992.0;

	return 1 + (uint64_t)(-log(u) * ((double)period - 0.5));
}

struct way {
	enum loci_replace replace;
	enum loci_weighting weighting;
	unsigned watches;
	uint64_t period;
};

static struct loci_weigh *run(const struct stream *stream, const struct way *way, uint64_t seed,
	struct loci_weigh_result *ret)
{
	struct sampler sampler = { .reservoir = { way->watches, way->replace, seed, { 0 } } };
	uint64_t next = gap(&sampler.reservoir, way->period);

	CHECK(loci_weigh_new(way->weighting, &sampler.weigh, NULL) == 0);
	for (uint64_t i = 0; i < stream->n; i++) {
		uint64_t address, context;

		stream->at(stream, i, &address, &context);
		watch(&sampler, i + 1, address, context);
		if (i + 1 == next) {
			sample(&sampler, i + 1, address, context);
			next += gap(&sampler.reservoir, way->period);
		}
	}
	CHECK(loci_weigh_finish(sampler.weigh, ret, NULL) == 0);
	return sampler.weigh;
}

/* The part of the weight at distances from low up to high. */
static double part(const struct loci_weigh_result *result, uint64_t low, uint64_t high)
{
	double sum = 0, all = 0;

	for (size_t i = 0; i < result->n; i++) {
		uint64_t distance = result->outcome[i].distance;

		all += result->outcome[i].weight;
		sum += distance >= low && distance <= high ? result->outcome[i].weight : 0;
	}
	return all > 0 ? sum / all : 0;
}

#define ANY_FINITE 1, LOCI_INFINITE - 2

/* Naive replacement loses the long reuses; the reservoir finds them. */
static void check_listing_1(void)
{
	const struct stream stream = { "listing 1", 200000, listing_1, 100000 };
	unsigned found[5] = { 0 };

	for (enum loci_replace replace = 0; replace <= LOCI_REPLACE_NEVER; replace++)
		for (uint64_t seed = 0; seed < 200; seed++) {
			const struct way way = { replace, LOCI_WEIGH_PLAIN, 1, 10000 };
			struct loci_weigh_result result;
			struct loci_weigh *weigh = run(&stream, &way, seed * 77, &result);

			found[replace] += part(&result, 100000, 100000) > 0;
			loci_weigh_free(weigh);
		}
	/* of one watch, kept from the first loop with probability 1/2 at least */
	CHECK(found[LOCI_REPLACE_RESERVOIR] > 100);
	CHECK(found[LOCI_REPLACE_OLDEST] < 5);
	CHECK(found[LOCI_REPLACE_COIN] < 25);
}

/* Of all samples of many runs together: which part is at this distance. */
static double pooled_part(
	const struct stream *stream, const struct way *way, unsigned seeds, uint64_t distance)
{
	double sum = 0, samples = 0;

	for (uint64_t seed = 0; seed < seeds; seed++) {
		struct loci_weigh_result result;
		struct loci_weigh *weigh = run(stream, way, seed * 77 + 1, &result);

		for (size_t i = 0; i < result.n; i++)
			if (result.outcome[i].distance == distance)
				sum += result.outcome[i].weight;
		samples += (double)result.samples;
		loci_weigh_free(weigh);
	}
	return sum / samples;
}

/* As many long reuses as short ones, a quarter of the references each; the rest is never reused. */
static void check_listing_2(void)
{
	const struct stream stream = { "listing 2", 40000, listing_2, 10000 };
	const unsigned runs = (unsigned)check_amount(2000);

	for (unsigned watches = 1; watches <= LOCI_RESERVOIR; watches++) {
		struct way way = { LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_UNSCALED, watches, 1000 };

		CHECK_NEAR(pooled_part(&stream, &way, runs, 10000), 0.25, 0.04);
		CHECK_NEAR(pooled_part(&stream, &way, runs, 1), 0.25, 0.04);
		CHECK_NEAR(pooled_part(&stream, &way, runs, LOCI_INFINITE), 0.5, 0.05);
		/* without weights most long ones are lost */
		way.weighting = LOCI_WEIGH_PLAIN;
		CHECK(pooled_part(&stream, &way, runs, 10000) < 0.12);
	}
}

static struct loci_weigh_sample opened(
	uint64_t id, uint64_t count, uint64_t context, uint32_t watch)
{
	return (struct loci_weigh_sample){ id, count, context, watch };
}

#define OPEN(...)                                                       \
	do {                                                            \
		struct loci_weigh_sample sample_ = opened(__VA_ARGS__); \
		CHECK(loci_weigh_open(weigh, &sample_, NULL) == 0);     \
	} while (0)

/* By hand: two watches; the third sample comes when both are armed, with k 3 and 2. It replaces the
 * first with probability 1/3, else the second with 2/3 * 1/2. */
static void check_by_hand(void)
{
	const double take = 1 - 2.0 / 3 * 1 / 2, q_first = 1.0 / 3, q_second = 2.0 / 3 * 1 / 2;
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	for (uint32_t third = 0; third < 3; third++) {
		double w[3] = { 1 / (1 - q_first), 1 / (1 - q_second), 1 / take }, sum = 0;

		CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, &weigh, NULL) == 0);
		OPEN(1, 10, 5, 0);
		OPEN(2, 20, 5, 1);
		OPEN(3, 30, 5, third < 2 ? third : LOCI_WATCH_NONE);
		for (uint64_t id = 1; id <= 3; id++) {
			CHECK(loci_weigh_fire(weigh, id, 100, 7, NULL) == 0);
			if ((third == 2 && id == 3) || (third < 2 && id == third + 1))
				w[id - 1] = 0;
			sum += w[id - 1];
		}
		CHECK(loci_weigh_finish(weigh, &result, NULL) == 0);
		CHECK_U64(result.samples, 3);
		CHECK_U64(result.n, 2);
		for (size_t i = 0; i < result.n; i++) {
			uint64_t id = 10 - result.outcome[i].distance / 10;

			CHECK_U64(result.outcome[i].context, 5);
			CHECK_U64(result.outcome[i].reuse, 7);
			CHECK_NEAR(result.outcome[i].weight, 3 * w[id - 1] / sum, 1e-12);
		}
		loci_weigh_free(weigh);
	}
}

/* A context without outcome takes the distribution of the others; bursts are sure; what is never
 * reused counts; proportional attribution counts samples of the context since. */
static void check_contexts(void)
{
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, &weigh, NULL) == 0);
	OPEN(1, 10, 1, 0);
	OPEN(2, 20, 2, LOCI_WATCH_BURST);
	CHECK(loci_weigh_fire(weigh, 2, 25, 9, NULL) == 0);
	OPEN(3, 30, 3, LOCI_WATCH_NONE);
	CHECK(loci_weigh_fire(weigh, 3, 40, 9, NULL) == 0); /* nobody watches */
	CHECK(loci_weigh_finish(weigh, &result, NULL) == 0);
	CHECK_U64(result.samples, 3);
	CHECK_U64(result.pooled, 1);
	CHECK_U64(result.n, 2);
	CHECK_NEAR(result.outcome[0].weight, 1.5, 1e-12);
	CHECK_U64(result.outcome[0].distance, 5);
	CHECK_NEAR(result.outcome[1].weight, 1.5, 1e-12);
	CHECK(result.outcome[1].distance == LOCI_INFINITE);
	CHECK_NEAR(result.effective, 2, 1e-12);
	loci_weigh_free(weigh);

	CHECK(loci_weigh_new(LOCI_WEIGH_PROPORTIONAL, &weigh, NULL) == 0);
	OPEN(1, 10, 1, 0);
	OPEN(2, 20, 1, LOCI_WATCH_NONE);
	OPEN(3, 30, 2, LOCI_WATCH_NONE);
	OPEN(4, 40, 1, LOCI_WATCH_NONE);
	CHECK(loci_weigh_fire(weigh, 1, 60, 9, NULL) == 0);
	CHECK(loci_weigh_finish(weigh, &result, NULL) == 0);
	CHECK_U64(result.n, 1);
	CHECK_NEAR(result.outcome[0].weight, 3, 0);
	loci_weigh_free(weigh);
}

/* Kaplan and Meier's estimate by hand: outcomes at 10, 30, given up at 20, one never reused. At 10
 * one of four; at 30 one of the two left. */
static void check_kaplan_meier(void)
{
	const uint64_t distance[] = { 10, 30, LOCI_INFINITE };
	const double mass[] = { 0.25, 0.75 / 2, 0.75 / 2 };
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	CHECK(loci_weigh_new(LOCI_WEIGH_KAPLAN_MEIER, &weigh, NULL) == 0);
	OPEN(1, 0, 1, 0);
	OPEN(2, 0, 1, 1);
	OPEN(3, 0, 1, 2);
	CHECK(loci_weigh_fire(weigh, 1, 10, 9, NULL) == 0);
	OPEN(4, 20, 1, 1); /* gives up 2 */
	CHECK(loci_weigh_fire(weigh, 3, 30, 9, NULL) == 0);
	CHECK(loci_weigh_finish(weigh, &result, NULL) == 0);
	CHECK_U64(result.n, 3);
	for (size_t i = 0; i < result.n; i++) {
		CHECK_U64(result.outcome[i].distance, distance[i]);
		CHECK_NEAR(result.outcome[i].weight, 4 * mass[i], 1e-12);
	}
	loci_weigh_free(weigh);
	loci_weigh_free(NULL);
}

int main(void)
{
	check_by_hand();
	check_contexts();
	check_kaplan_meier();
	check_listing_1();
	check_listing_2();
	return check_status();
}
