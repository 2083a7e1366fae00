// SPDX-License-Identifier: GPL-2.0-or-later
/* Weights of watched samples, against what is known of the streams: RDX's listings, closed forms,
 * and the exact histogram of time distances. */
#include "analyse/stretch.h"
#include "analyse/weigh.h"
#include "base/cleanup.h"
#include "check.h"
#include "collect/runtime/reservoir.h"
#include "hist/hist.h"

#include <math.h>
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

/* One loop that goes over few elements for half of the run, and then over many, twice. */
static void one_site(const struct stream *stream, uint64_t i, uint64_t *address, uint64_t *context)
{
	uint64_t half = stream->n / 2;

	*address = i < half ? i % stream->size : stream->n + (i - half) % (half / 2);
	*context = 1;
}

struct sampler {
	struct loci_reservoir reservoir;
	struct loci_weigh *weigh;
	uint64_t id[LOCI_RESERVOIR], address[LOCI_RESERVOIR];
	uint64_t begun[LOCI_RESERVOIR]; /* references then */
	uint64_t n_ids;
};

static void sample(
	struct sampler *sampler, uint64_t count, uint64_t address, uint64_t context, double base)
{
	int watch = loci_reservoir_offer(&sampler->reservoir);
	struct loci_weigh_sample opened = { .id = ++sampler->n_ids,
		.count = count,
		.context = context,
		.watch = watch < 0 ? LOCI_WATCH_NONE : (uint32_t)watch,
		.base = base };

	CHECK(loci_weigh_open(sampler->weigh, &opened, NULL) == 0);
	if (watch < 0)
		return;
	sampler->id[watch] = sampler->n_ids;
	sampler->begun[watch] = count;
	sampler->address[watch] = address;
}

static void watch(struct sampler *sampler, uint64_t count, uint64_t address, uint64_t context)
{
	for (unsigned i = 0; i < sampler->reservoir.n; i++)
		if (sampler->reservoir.k[i] && sampler->address[i] == address) {
			const struct loci_weigh_reuse reuse = { .count = count, .reuse = context };

			CHECK(loci_weigh_fire(sampler->weigh, sampler->id[i], &reuse, NULL) == 0);
			loci_reservoir_release(&sampler->reservoir, i);
		}
}

/* At that age, and at every one that is twice as great, lots decide what is watched on. */
static void draw_lots(struct sampler *sampler, uint64_t count, uint64_t first)
{
	for (unsigned i = 0; i < sampler->reservoir.n; i++) {
		uint64_t age = count - sampler->begun[i];
		bool is_kept;

		if (!sampler->reservoir.k[i] || age % first || (age / first & (age / first - 1)) ||
			!age)
			continue;
		is_kept = loci_reservoir_pick(&sampler->reservoir, 2) == 0;
		CHECK(loci_weigh_lot(sampler->weigh, sampler->id[i], count, 2, is_kept, NULL) == 0);
		if (!is_kept)
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
	uint64_t later; /* period of the second half; 0: the same */
	uint64_t lots;  /* are drawn from that age on; 0: never */
};

static struct loci_weigh *run(const struct stream *stream, const struct way *way, uint64_t seed,
	struct loci_weigh_result *ret)
{
	struct sampler sampler = { .reservoir = { way->watches, way->replace, seed, { 0 } } };
	uint64_t period = way->period, next = gap(&sampler.reservoir, period);

	CHECK(loci_weigh_new(way->weighting, 0, &sampler.weigh, NULL) == 0);
	for (uint64_t i = 0; i < stream->n; i++) {
		uint64_t address, context;

		stream->at(stream, i, &address, &context);
		watch(&sampler, i + 1, address, context);
		if (way->lots)
			draw_lots(&sampler, i + 1, way->lots);
		if (i + 1 == next) {
			sample(&sampler, i + 1, address, context, (double)period);
			if (way->later && 2 * i >= stream->n)
				period = way->later;
			next += gap(&sampler.reservoir, period);
		}
	}
	CHECK(loci_weigh_finish(sampler.weigh, NULL, ret, NULL) == 0);
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
			const struct way way = { replace, LOCI_WEIGH_PLAIN, 1, 10000, 0, 0 };
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
	double sum = 0, all = 0;

	for (uint64_t seed = 0; seed < seeds; seed++) {
		struct loci_weigh_result result;
		struct loci_weigh *weigh = run(stream, way, seed * 77 + 1, &result);

		for (size_t i = 0; i < result.n; i++)
			if (result.outcome[i].distance == distance)
				sum += result.outcome[i].weight;
		all += result.base;
		loci_weigh_free(weigh);
	}
	return sum / all;
}

/* Far reuses come when all watches are taken, near ones when they are free. So what is censored in
 * a site depends on what it is: survival is no estimate of it, and weights are. */
static void check_one_site(void)
{
	const struct stream stream = { "one site", 80000, one_site, 50 };
	const unsigned runs = (unsigned)check_amount(200);
	struct way way = { LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_INVERSE, 4, 100, 0, 0 };

	CHECK_NEAR(pooled_part(&stream, &way, runs, 50), 0.5, 0.04);
	CHECK_NEAR(pooled_part(&stream, &way, runs, 20000), 0.25, 0.04);
	way.weighting = LOCI_WEIGH_KAPLAN_MEIER;
	CHECK(pooled_part(&stream, &way, runs, 50) > 0.8);
}

/* As many long reuses as short ones, a quarter of the references each; the rest is never reused. */
static void check_listing_2(void)
{
	const struct stream stream = { "listing 2", 40000, listing_2, 10000 };
	const unsigned runs = (unsigned)check_amount(2000);

	for (unsigned watches = 1; watches <= LOCI_RESERVOIR; watches++) {
		struct way way = { LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_UNSCALED, watches, 1000, 0,
			0 };

		CHECK_NEAR(pooled_part(&stream, &way, runs, 10000), 0.25, 0.04);
		CHECK_NEAR(pooled_part(&stream, &way, runs, 1), 0.25, 0.04);
		CHECK_NEAR(pooled_part(&stream, &way, runs, LOCI_INFINITE), 0.5, 0.05);
		/* without weights most long ones are lost */
		way.weighting = LOCI_WEIGH_PLAIN;
		CHECK(pooled_part(&stream, &way, runs, 10000) < 0.12);
	}
}

/* The same when lots take half of the long reuses away, and more of what is never reused. */
static void check_lots(void)
{
	const struct stream stream = { "listing 2", 40000, listing_2, 10000 };
	const unsigned runs = (unsigned)check_amount(2000);
	const double near = 0.04 * sqrt(fmax(1, 1000.0 / runs)); /* by chance */
	struct way way = { LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_UNSCALED, 4, 1000, 0, 6000 };

	CHECK_NEAR(pooled_part(&stream, &way, runs, 10000), 0.25, near);
	CHECK_NEAR(pooled_part(&stream, &way, runs, 1), 0.25, near);
	CHECK_NEAR(pooled_part(&stream, &way, runs, LOCI_INFINITE), 0.5, 1.5 * near);
}

/* The same when the collector samples eight times less often, or more, from the middle on: where
 * the long reuses have ended and the short ones begin. */
static void check_adaptive(void)
{
	const struct stream stream = { "listing 2", 40000, listing_2, 10000 };
	const unsigned runs = (unsigned)check_amount(500);
	const double near = 0.03 * sqrt(fmax(1, 160.0 / runs)); /* by chance */

	for (unsigned way = 0; way < 2; way++) {
		const struct way adaptive = { LOCI_REPLACE_RESERVOIR, LOCI_WEIGH_UNSCALED, 4,
			way ? 1600 : 200, way ? 200 : 1600, 0 };

		CHECK_NEAR(pooled_part(&stream, &adaptive, runs, 10000), 0.25, near);
		CHECK_NEAR(pooled_part(&stream, &adaptive, runs, 1), 0.25, near);
		CHECK_NEAR(pooled_part(&stream, &adaptive, runs, LOCI_INFINITE), 0.5, near);
	}
}

static struct loci_weigh_sample opened(
	uint64_t id, uint64_t count, uint64_t context, uint32_t watch)
{
	return (struct loci_weigh_sample){
		.id = id, .count = count, .context = context, .watch = watch, .base = 1
	};
}

static int fired(struct loci_weigh *weigh, uint64_t id, uint64_t count, uint64_t reuse)
{
	const struct loci_weigh_reuse it = { .count = count, .reuse = reuse };

	return loci_weigh_fire(weigh, id, &it, NULL);
}

#define OPEN(...)                                                       \
	do {                                                            \
		struct loci_weigh_sample sample_ = opened(__VA_ARGS__); \
		CHECK(loci_weigh_open(weigh, &sample_, NULL) == 0);     \
	} while (0)

/* One that has no watch, and was not reused among so many touches. */
static void open_unwatched(struct loci_weigh *weigh, uint64_t id, uint64_t followed)
{
	struct loci_weigh_sample sample = opened(id, 0, 1, LOCI_WATCH_NONE);

	sample.followed = followed;
	CHECK(loci_weigh_open(weigh, &sample, NULL) == 0);
}

/* By hand: two watches; the third sample comes when both are armed, with k 3 and 2. It replaces the
 * first with probability 1/3, else the second with 2/3 * 1/2. */
static void check_by_hand(void)
{
	const double take = 1 - 2.0 / 3 * 1 / 2, q_first = 1.0 / 3, q_second = 2.0 / 3 * 1 / 2;
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	for (uint32_t third = 0; third < 3; third++) {
		double w[3] = { 1 / (1 - q_first), 1 / (1 - q_second), 1 / take }, sum = 0;

		CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 0, &weigh, NULL) == 0);
		OPEN(1, 10, 5, 0);
		OPEN(2, 20, 5, 1);
		OPEN(3, 30, 5, third < 2 ? third : LOCI_WATCH_NONE);
		for (uint64_t id = 1; id <= 3; id++) {
			CHECK(fired(weigh, id, 100, 7) == 0);
			if ((third == 2 && id == 3) || (third < 2 && id == third + 1))
				w[id - 1] = 0;
			sum += w[id - 1];
		}
		CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
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

	CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 0, &weigh, NULL) == 0);
	OPEN(1, 10, 1, 0);
	OPEN(2, 20, 2, LOCI_WATCH_BURST);
	CHECK(fired(weigh, 2, 25, 9) == 0);
	OPEN(3, 30, 3, LOCI_WATCH_NONE);
	CHECK(fired(weigh, 3, 40, 9) == 0); /* nobody watches */
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.samples, 3);
	CHECK_U64(result.pooled, 1);
	CHECK_U64(result.n, 3); /* the third is like the first, and neither like one of a burst */
	CHECK_NEAR(result.outcome[0].weight, 1, 1e-12);
	CHECK_U64(result.outcome[0].distance, 5);
	for (unsigned i = 1; i < 3; i++) {
		CHECK_NEAR(result.outcome[i].weight, 1, 1e-12);
		CHECK(result.outcome[i].distance == LOCI_INFINITE);
		CHECK_U64(result.outcome[i].context, result.outcome[i].is_borrowed ? 3 : 1);
	}
	CHECK_NEAR(result.effective, 9.0 / (1 + 4), 1e-12);
	loci_weigh_free(weigh);

	CHECK(loci_weigh_new(LOCI_WEIGH_PROPORTIONAL, 0, &weigh, NULL) == 0);
	OPEN(1, 10, 1, 0);
	OPEN(2, 20, 1, LOCI_WATCH_NONE);
	OPEN(3, 30, 2, LOCI_WATCH_NONE);
	OPEN(4, 40, 1, LOCI_WATCH_NONE);
	CHECK(fired(weigh, 1, 60, 9) == 0);
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.n, 1);
	CHECK_NEAR(result.outcome[0].weight, 3, 0);
	loci_weigh_free(weigh);
}

/* So many samples of so many sites, each reused in its burst or, with these odds, so many samples
 * later; returns the part that is. */
struct sites {
	unsigned n_samples, n_sites, later;
	double far;
	bool is_apart; /* of sites all of whose reuses are far, and others */
};

static double far_part(const struct sites *sites, uint64_t seed)
{
	struct sampler sampler = { .reservoir = {
					   LOCI_RESERVOIR, LOCI_REPLACE_RESERVOIR, seed, { 0 } } };
	double *made = calloc(sites->n_sites, sizeof(*made)), part_far;
	struct loci_weigh_result result;

	CHECK(made && loci_weigh_new(LOCI_WEIGH_INVERSE, 10, &sampler.weigh, NULL) == 0);
	for (uint64_t i = 1; i <= sites->n_samples; i++) {
		uint64_t site = loci_reservoir_pick(&sampler.reservoir, sites->n_sites);
		double odds =
			(double)(loci_reservoir_random(&sampler.reservoir) >> 11) / (1ULL << 53);

		watch(&sampler, 100 * i, i, 1);
		made[site]++;
		if (sites->is_apart ? site < sites->far * sites->n_sites : odds < sites->far) {
			sample(&sampler, 100 * i, i + sites->later, site, 1);
			continue;
		}
		struct loci_weigh_sample near = { .id = ++sampler.n_ids,
			.count = 100 * i,
			.context = site,
			.watch = LOCI_WATCH_BURST,
			.base = 1 };

		CHECK(loci_weigh_open(sampler.weigh, &near, NULL) == 0);
		CHECK(fired(sampler.weigh, near.id, 100 * i + 5, 1) == 0);
	}
	CHECK(loci_weigh_finish(sampler.weigh, NULL, &result, NULL) == 0);
	for (size_t i = 0; i < result.n; i++)
		made[result.outcome[i].context] -= result.outcome[i].weight;
	for (unsigned i = 0; i < sites->n_sites; i++)
		CHECK_NEAR(made[i], 0, 1e-6);
	part_far = 1 - part(&result, 5, 5);
	loci_weigh_free(sampler.weigh);
	free(made);
	return part_far;
}

/* However few samples a site has, those that found their reuse at once have no part of what others
 * stand for that gave way. */
static void check_many_sites(void)
{
	const struct sites of[] = { { 20000, 1, 1000, 0.5, false },
		{ 20000, 400, 1000, 0.5, false }, { 2000, 50, 100, 0.5, false },
		{ 20000, 200, 200, 0.125, false }, { 20000, 200, 1000, 0.5, true } };

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(of); i++)
		CHECK_NEAR(far_part(&of[i], i + 1), of[i].far,
			3 * sqrt(of[i].far * (1 - of[i].far) / of[i].n_samples) +
				(of[i].is_apart ? 1.5 / sqrt(of[i].n_samples) : 0));
}

/* Among reuses that are met by watches alone, near and far ones, too. */
static void check_few_watched(void)
{
	const unsigned runs = (unsigned)check_amount(40);
	double sum = 0;

	for (uint64_t seed = 0; seed < runs; seed++) {
		struct sampler sampler = { .reservoir = { LOCI_RESERVOIR, LOCI_REPLACE_RESERVOIR,
						   seed, { 0 } } };
		struct loci_weigh_result result;

		CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 10, &sampler.weigh, NULL) == 0);
		for (uint64_t i = 1; i <= 4000; i++) {
			uint64_t site = loci_reservoir_pick(&sampler.reservoir, 200);
			bool is_far = loci_reservoir_pick(&sampler.reservoir, 2);

			for (uint64_t later = 1; later <= 301; later += 300)
				watch(&sampler, 100 * i, 1000 * i + later, 1);
			sample(&sampler, 100 * i,
				1000 * (i + (is_far ? 100 : 1)) + (is_far ? 301 : 1), site, 1);
		}
		CHECK(loci_weigh_finish(sampler.weigh, NULL, &result, NULL) == 0);
		sum += 1 - part(&result, 1, 200);
		loci_weigh_free(sampler.weigh);
	}
	CHECK_NEAR(sum / runs, 0.5, 0.03);
}

/* Kaplan and Meier's estimate by hand: outcomes at 10, 30, given up at 20, one never reused. At 10
 * one of four; at 30 one of the two left. */
static void check_kaplan_meier(void)
{
	const uint64_t distance[] = { 10, 30, LOCI_INFINITE };
	const double mass[] = { 0.25, 0.75 / 2, 0.75 / 2 };
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	CHECK(loci_weigh_new(LOCI_WEIGH_KAPLAN_MEIER, 0, &weigh, NULL) == 0);
	OPEN(1, 0, 1, 0);
	OPEN(2, 0, 1, 1);
	OPEN(3, 0, 1, 2);
	CHECK(fired(weigh, 1, 10, 9) == 0);
	OPEN(4, 20, 1, 1); /* gives up 2 */
	CHECK(fired(weigh, 3, 30, 9) == 0);
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.n, 3);
	for (size_t i = 0; i < result.n; i++) {
		CHECK_U64(result.outcome[i].distance, distance[i]);
		CHECK_NEAR(result.outcome[i].weight, 4 * mass[i], 1e-12);
	}
	loci_weigh_free(weigh);
	loci_weigh_free(NULL);
}

/* What is given up without a successor leaves its watch free, at no odds; what samples stand for by
 * the way they were drawn is shared out by context. */
static void check_bases(void)
{
	struct loci_weigh_sample sample = opened(1, 10, 1, 0);
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 0, &weigh, NULL) == 0);
	sample.base = 300;
	sample.use = 77;
	CHECK(loci_weigh_open(weigh, &sample, NULL) == 0);
	CHECK(loci_weigh_evict(weigh, 1, 20, 0, NULL) == 0);
	CHECK(loci_weigh_evict(weigh, 9, 20, 0, NULL) == 0); /* nobody's */
	sample.id = 2;
	sample.count = 30;
	sample.base = 100;
	sample.use = 78;
	CHECK(loci_weigh_open(weigh, &sample, NULL) == 0); /* of a free watch */
	CHECK(fired(weigh, 1, 35, 9) == 0);
	CHECK(fired(weigh, 2, 36, 9) == 0);
	OPEN(3, 40, 2, LOCI_WATCH_BURST);
	CHECK(fired(weigh, 3, 41, 9) == 0);
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.samples, 3);
	CHECK_U64(result.abandoned, 1);
	CHECK_U64(result.n, 2);
	CHECK_NEAR(result.base, 401, 0);
	CHECK_U64(result.outcome[0].use, 78);
	CHECK_NEAR(result.outcome[0].weight, 400, 1e-9);
	CHECK_U64(result.outcome[0].distance, 6);
	CHECK(!result.outcome[0].in_burst);
	CHECK_NEAR(result.outcome[1].weight, 1, 1e-9);
	CHECK(result.outcome[1].in_burst);
	loci_weigh_free(weigh);
}

/* References around samples tell how many touches contexts have, also of one that has a sample by
 * chance, or none, whose are the others'. Where they are not scaled they weigh what they did. */
static void check_shares(void)
{
	const struct loci_weigh_share first[] = { { 1, 6 }, { 2, 2 } };
	const struct loci_weigh_share second[] = { { 2, 1 }, { 1, 3 }, { 3, 4 } };
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	for (unsigned is_scaled = 0; is_scaled < 2; is_scaled++) {
		struct loci_weigh_sample sample = opened(1, 10, 1, LOCI_WATCH_BURST);

		CHECK(loci_weigh_new(is_scaled ? LOCI_WEIGH_INVERSE : LOCI_WEIGH_UNSCALED, 0,
			      &weigh, NULL) == 0);
		sample.base = 8;
		sample.share = first;
		sample.n_shares = 2;
		CHECK(loci_weigh_open(weigh, &sample, NULL) == 0);
		sample.id = 2;
		sample.context = 2;
		sample.share = second;
		sample.n_shares = 3;
		CHECK(loci_weigh_open(weigh, &sample, NULL) == 0);
		CHECK(fired(weigh, 1, 15, 9) == 0);
		CHECK(fired(weigh, 2, 16, 9) == 0);
		CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
		CHECK_U64(result.n, 2);
		CHECK_U64(result.pooled, 0); /* of samples, none */
		CHECK_NEAR(result.touches, 16, 1e-12);
		CHECK_NEAR(result.outcome[0].weight, is_scaled ? 9 * 16.0 / 12 : 8, 1e-12);
		CHECK_NEAR(result.outcome[1].weight, is_scaled ? 3 * 16.0 / 12 : 8, 1e-12);
		loci_weigh_free(weigh);
	}
}

/* What stood for a watch that was given up at an age goes to outcomes of later ages: of its own
 * context, or an outcome like one of all. */
static void check_given_up(void)
{
	const double weight[] = { 1, 1.5, 1.5 };
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 0, &weigh, NULL) == 0);
	OPEN(1, 0, 1, 0);
	OPEN(2, 0, 1, 1);
	OPEN(3, 0, 1, 2);
	OPEN(4, 0, 1, LOCI_WATCH_BURST);
	OPEN(5, 0, 2, 3);
	CHECK(fired(weigh, 2, 5, 9) == 0);
	CHECK(loci_weigh_evict(weigh, 1, 10, 0, NULL) == 0);
	CHECK(fired(weigh, 3, 50, 9) == 0);
	CHECK(fired(weigh, 4, 60, 9) == 0);
	CHECK(fired(weigh, 5, 8, 9) == 0);
	OPEN(6, 100, 2, 0);
	CHECK(loci_weigh_evict(weigh, 6, 130, 0, NULL) == 0); /* none of context 2 is later */
	OPEN(7, 100, 2, 0);
	CHECK(loci_weigh_evict(weigh, 7, 300, 0, NULL) == 0); /* and none at all */
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.abandoned, 3);
	CHECK_NEAR(result.unknown, 1.0 / 7, 1e-12); /* the seventh */
	CHECK_U64(result.n, 5);
	for (size_t i = 0; i < 3; i++) /* 5, 50, 60: of context 1 */
		CHECK_NEAR(result.outcome[i].weight, weight[i], 1e-12);
	CHECK_U64(result.outcome[1].distance, 50);
	/* of context 2: 8, and 60 as in context 1, of 50, 60 and the seventh the middle one, each
	 * for half of three samples */
	CHECK_U64(result.outcome[3].distance, 8);
	CHECK_NEAR(result.outcome[3].weight, 1.5, 1e-12);
	CHECK_U64(result.outcome[4].distance, 60);
	CHECK_U64(result.outcome[4].context, 2);
	CHECK_NEAR(result.outcome[4].weight, 1.5, 1e-12);
	for (size_t i = 0; i < result.n; i++)
		CHECK(result.outcome[i].is_borrowed == (i == 4));
	CHECK_NEAR(result.effective, 7 * 7 / (1 + 3 * 3 + 1.5 * 1.5 + 1.5 * 1.5), 1e-12);
	loci_weigh_free(weigh);
}

/* The nearest first (Efron 1967), in whatever order they were given up: of 10, 15 given up, 20 and
 * 5 given up, the last is for the others alike, and 20 takes what 15 stands for then. */
static void check_given_up_in_order(void)
{
	for (unsigned farther_first = 0; farther_first < 2; farther_first++) {
		struct loci_weigh_result result;
		struct loci_weigh *weigh;

		CHECK(loci_weigh_new(LOCI_WEIGH_UNSCALED, 0, &weigh, NULL) == 0);
		for (uint64_t id = 0; id < 4; id++)
			OPEN(id, 0, 1, (uint32_t)id);
		CHECK(loci_weigh_evict(weigh, 0, farther_first ? 15 : 5, 0, NULL) == 0);
		CHECK(loci_weigh_evict(weigh, 1, farther_first ? 5 : 15, 0, NULL) == 0);
		CHECK(fired(weigh, 2, 10, 9) == 0);
		CHECK(fired(weigh, 3, 20, 9) == 0);
		CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
		CHECK_U64(result.n, 2);
		CHECK_NEAR(result.outcome[0].weight, 4.0 / 3, 1e-12);
		CHECK_NEAR(result.outcome[1].weight, 8.0 / 3, 1e-12);
		CHECK_NEAR(result.unknown, 0, 0);
		loci_weigh_free(weigh);
	}
}

/* A sample without a watch, where none is armed, could not be watched. Those that were stand for
 * it, if they were reused as late; else nothing is known of it, and that is said. */
static void check_unwatched(void)
{
	for (enum loci_weighting way = LOCI_WEIGH_INVERSE; way <= LOCI_WEIGH_PLAIN; way++)
		for (unsigned watched = 0; watched < 2; watched++) {
			struct loci_weigh_result result;
			struct loci_weigh *weigh;

			CHECK(loci_weigh_new(way, 0, &weigh, NULL) == 0);
			OPEN(1, 0, 1, LOCI_WATCH_BURST);
			CHECK(fired(weigh, 1, 5, 9) == 0);
			if (watched) {
				OPEN(2, 0, 1, 0);
				CHECK(fired(weigh, 2, 500, 9) == 0);
			}
			open_unwatched(weigh, 3, 10);
			open_unwatched(weigh, 4, 10);
			CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
			CHECK_U64(result.n, 1 + watched);
			CHECK_NEAR(result.unknown, watched ? 0 : 2.0 / 3, 1e-12);
			if (watched)
				CHECK_NEAR(result.outcome[1].weight, 3, 1e-12);
			loci_weigh_free(weigh);
		}
}

/* Of code that makes more touches in the same references, all are reused in their bursts. That
 * tells nothing of what was not reused in as many references, though these have fewer touches; it
 * does if the code's reuse comes after a burst. */
static void check_bursts_by_references(void)
{
	for (enum loci_weighting way = LOCI_WEIGH_INVERSE; way <= LOCI_WEIGH_PLAIN; way++)
		for (unsigned kinds = 0; kinds < 6; kinds++) {
			unsigned contexts = 1 + kinds % 2;
			bool is_late = kinds / 2 == 1, at_once = kinds / 2 == 2;
			struct loci_weigh_result result;
			struct loci_weigh *weigh;

			CHECK(loci_weigh_new(way, 4096, &weigh, NULL) == 0);
			for (uint64_t id = 1; id <= 100; id++) {
				struct loci_weigh_reuse reuse = {
					.count = is_late ? 5000 : 2000, .touches = 8192, .reuse = 9
				};

				OPEN(id, 0, contexts, LOCI_WATCH_BURST);
				CHECK(loci_weigh_fire(weigh, id, &reuse, NULL) == 0);
			}
			for (uint64_t id = 101; id <= 200; id++) {
				struct loci_weigh_sample sample = opened(id, 0, 1, LOCI_WATCH_NONE);

				sample.followed = 4100;
				sample.at_once = at_once;
				CHECK(loci_weigh_open(weigh, &sample, NULL) == 0);
			}
			CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
			if (!is_late && !at_once)
				CHECK_NEAR(result.unknown, 0.5, 1e-12);
			else if (contexts == 1 || way != LOCI_WEIGH_KAPLAN_MEIER)
				CHECK_NEAR(result.unknown, 0, 1e-12);
			loci_weigh_free(weigh);
		}
}

/* If nothing is known that is all, and not more by rounding. */
static void check_all_unknown(void)
{
	for (unsigned n = 1; n < 100; n++) {
		struct loci_weigh_result result;
		struct loci_weigh *weigh;

		CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 0, &weigh, NULL) == 0);
		for (unsigned id = 1; id <= n; id++) {
			struct loci_weigh_sample sample = opened(id, 0, id % 3, LOCI_WATCH_NONE);
			const struct loci_weigh_share share[] = { { 0, 1 / (1.0 + id) },
				{ 1, 1 / (2.0 + id) }, { 2, 1 / (3.0 + id) } };

			sample.base = n / 7.0 + id;
			sample.share = share;
			sample.n_shares = 3;
			CHECK(loci_weigh_open(weigh, &sample, NULL) == 0);
		}
		CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
		CHECK_NEAR(result.unknown, 1, 1e-12);
		CHECK(result.unknown <= 1);
		loci_weigh_free(weigh);
	}
}

/* One was reused late, and one watched for longer still: half of what was followed for a while
 * alone is as unknown as that one. One that was followed that far may tell, too. */
static void check_outlived(void)
{
	for (enum loci_weighting way = LOCI_WEIGH_INVERSE; way <= LOCI_WEIGH_PLAIN; way++)
		for (unsigned far = 0; far < 2; far++) {
			struct loci_weigh_result result;
			struct loci_weigh *weigh;

			CHECK(loci_weigh_new(way, 0, &weigh, NULL) == 0);
			OPEN(1, 0, 1, far ? LOCI_WATCH_BURST : 0);
			CHECK(fired(weigh, 1, 10000, 9) == 0);
			OPEN(2, 0, 1, 0);
			CHECK(loci_weigh_evict(weigh, 2, 1000000, 0, NULL) == 0);
			for (uint64_t id = 3; id <= 100; id++)
				open_unwatched(weigh, id, 10);
			CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
			CHECK_U64(result.n, 1);
			CHECK_NEAR(result.unknown, 0.5, 1e-12);
			loci_weigh_free(weigh);
		}
}

/* Reuses after a time that has no memory, given up after one that has none either: half are, and
 * Efron's shares are Kaplan and Meier's. */
static void check_given_up_at_random(void)
{
	const double n = 20000, mean = 1e6;
	double near[2] = { 0 }, unknown[2];

	for (unsigned is_km = 0; is_km < 2; is_km++) {
		struct loci_weigh_result result;
		struct loci_weigh *weigh;
		double sum = 0;

		srand48(1);
		CHECK(loci_weigh_new(is_km ? LOCI_WEIGH_KAPLAN_MEIER : LOCI_WEIGH_UNSCALED, 0,
			      &weigh, NULL) == 0);
		for (uint64_t id = 1; id <= (uint64_t)n; id++) {
			double reuse = 1 - mean * log(1 - drand48());
			double end = 1 - mean * log(1 - drand48());

			OPEN(id, 0, 1, 0);
			if (reuse <= end)
				CHECK(fired(weigh, id, (uint64_t)reuse, 9) == 0);
			else
				CHECK(loci_weigh_evict(weigh, id, (uint64_t)end, 0, NULL) == 0);
		}
		CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
		for (size_t i = 0; i < result.n; i++) {
			sum += result.outcome[i].weight;
			if ((double)result.outcome[i].distance <= mean)
				near[is_km] += result.outcome[i].weight;
		}
		unknown[is_km] = result.unknown;
		near[is_km] *= (1 - unknown[is_km]) / sum;
		CHECK_NEAR(near[is_km], 1 - exp(-1), 3 * 0.6 / sqrt(n));
		loci_weigh_free(weigh);
	}
	CHECK_NEAR(near[0], near[1], 1e-9);
	CHECK_NEAR(unknown[0], unknown[1], 1e-9);
}

/* The same where each has a context of its own, all others tell of it as one would. If nothing is
 * followed for longer, what is given up in the end is unknown, of which a single reuse that came
 * later tells little. */
static void check_given_up_apart(void)
{
	const double n = 20000, mean = 1e6;

	for (unsigned ends = 0; ends < 2; ends++) {
		const double far = ends ? 0.4 : 1;
		double near[2] = { 0 }, unknown[2];

		for (unsigned apart = 0; apart < 2; apart++) {
			struct loci_weigh_result result;
			struct loci_weigh *weigh;
			double sum = 0;

			srand48(1);
			CHECK(loci_weigh_new(LOCI_WEIGH_UNSCALED, 0, &weigh, NULL) == 0);
			for (uint64_t id = 1; id <= (uint64_t)n; id++) {
				double reuse = 1 - mean * log(1 - drand48());
				double end = 1 - mean * log(1 - drand48());

				if (ends && end > mean / 2)
					end = mean / 2 + (double)id;
				OPEN(id, 0, apart ? id : 1, 0);
				if (reuse <= end)
					CHECK(fired(weigh, id, (uint64_t)reuse, 9) == 0);
				else
					CHECK(loci_weigh_evict(weigh, id, (uint64_t)end, 0, NULL) ==
						0);
			}
			CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
			for (size_t i = 0; i < result.n; i++) {
				sum += result.outcome[i].weight;
				if ((double)result.outcome[i].distance <= far * mean)
					near[apart] += result.outcome[i].weight;
			}
			unknown[apart] = result.unknown;
			near[apart] *= (1 - unknown[apart]) / sum;
			CHECK_NEAR(near[apart], 1 - exp(-far), 3 * 0.6 / sqrt(n));
			loci_weigh_free(weigh);
		}
		CHECK_NEAR(near[1], near[0], 0.002);
		CHECK_NEAR(unknown[1], unknown[0], 0.002);
		CHECK(!ends || unknown[1] > 0.5);
	}
}

/* Most samples that are not reused while they are followed never have a watch. */
static void check_kaplan_meier_unwatched(void)
{
	struct loci_weigh_result result;
	struct loci_weigh *weigh;
	double near = 0, sum = 0;

	CHECK(loci_weigh_new(LOCI_WEIGH_KAPLAN_MEIER, 0, &weigh, NULL) == 0);
	for (uint64_t id = 1; id <= 4; id++)
		OPEN(id, 0, 1, (uint32_t)id - 1);
	for (uint64_t id = 5; id <= 2000; id++)
		if (id % 2) {
			OPEN(id, 0, 1, LOCI_WATCH_BURST);
			CHECK(fired(weigh, id, 2, 9) == 0);
		} else {
			open_unwatched(weigh, id, 4096);
		}
	for (uint64_t id = 1; id <= 4; id++)
		CHECK(fired(weigh, id, 100000, 9) == 0);
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	for (size_t i = 0; i < result.n; i++) {
		sum += result.outcome[i].weight;
		if (result.outcome[i].distance == 2)
			near += result.outcome[i].weight;
	}
	CHECK_NEAR(near / sum, 998.0 / 2000, 1e-12);
	loci_weigh_free(weigh);
}

/* What a lot decided is no loss to others: one in two stands for both, the other for nothing. */
static void check_lots_by_hand(void)
{
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	CHECK(loci_weigh_new(LOCI_WEIGH_UNSCALED, 0, &weigh, NULL) == 0);
	OPEN(1, 0, 1, 0);
	OPEN(2, 0, 1, 1);
	OPEN(3, 0, 1, 2);
	CHECK(loci_weigh_lot(weigh, 1, 10, 2, true, NULL) == 0);
	CHECK(loci_weigh_lot(weigh, 2, 10, 2, false, NULL) == 0);
	CHECK(loci_weigh_lot(weigh, 1, 20, 2, true, NULL) == 0);
	CHECK(fired(weigh, 2, 30, 9) == 0); /* it was not */
	CHECK(fired(weigh, 1, 40, 9) == 0);
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.abandoned, 1);
	CHECK_U64(result.n, 2);
	CHECK_U64(result.outcome[0].distance, 40);
	CHECK_NEAR(result.outcome[0].weight, 4, 1e-12);
	CHECK_NEAR(result.outcome[1].weight, 1, 1e-12); /* the third, never reused */
	loci_weigh_free(weigh);

	/* Those of damaged files neither vanish nor weigh without end. */
	CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 0, &weigh, NULL) == 0);
	OPEN(1, 0, 1, 0);
	OPEN(2, 0, 1, 1);
	CHECK(loci_weigh_lot(weigh, 1, 10, 0, true, NULL) == 0);
	for (unsigned i = 0; i < 40; i++)
		CHECK(loci_weigh_lot(weigh, 2, 10, UINT64_MAX, true, NULL) == 0);
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.n, 2);
	CHECK(result.outcome[0].weight > 0 && isfinite(result.outcome[1].weight));
	loci_weigh_free(weigh);
}

/* There may be many of these and of those that tell of them, in a context of their own or not: a
 * look at all for each would take minutes. */
static void check_many_given_up(bool in_contexts)
{
	const uint64_t n = 100000;
	struct loci_weigh_result result;
	struct loci_weigh *weigh;
	double sum = 0;

	CHECK(loci_weigh_new(LOCI_WEIGH_UNSCALED, 0, &weigh, NULL) == 0);
	OPEN(0, 0, 1, 1);
	for (uint64_t i = 1; i <= n; i++) {
		OPEN(2 * i, 0, 1, 2);
		CHECK(fired(weigh, 2 * i, 5 + i, 9) == 0);
		OPEN(2 * i + 1, 0, in_contexts ? i : 1, 0);
		CHECK(loci_weigh_evict(weigh, 2 * i + 1, 10 + n - i, 0, NULL) == 0);
	}
	CHECK(fired(weigh, 0, 5 * n, 9) == 0);
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.abandoned, n);
	CHECK_NEAR(result.unknown, 0, 0);
	for (size_t i = 0; i < result.n; i++)
		sum += result.outcome[i].weight;
	CHECK_NEAR(sum, 2 * (double)n + 1, 1e-3);
	if (!in_contexts) {
		CHECK_U64(result.n, n + 1);
		CHECK_U64(result.outcome[n].distance, 5 * n);
	}
	CHECK(result.effective <= (double)n + 1);
	loci_weigh_free(weigh);
}

/* Distances in touches: told, or references times the touches that samples saw in between, which
 * count beside those of all; of another thread apart. */
static void check_touches(void)
{
	const struct loci_weigh_reuse reuse[] = { { .count = 50, .touches = 123 }, { .count = 110 },
		{ .count = 120 }, { .count = 410, .thread = 3 } };
	/* Two stretches of one octave, each a part of it, have the one sample of rate 2 where the
	 * run has 4 and samples a spread of 2; nothing was seen where they begin. So of likelihoods
	 * that of staying and of going round is exp(-2^2 / (2 2^2 / 2)), that of a way of their own
	 * exp(-2^2 / (2 (2^2 / 2 + 2^2))) / sqrt(2 + 1), with odds of 5 and 1 before. */
	const double other = exp(-1. / 3) / sqrt(3);
	const double part = (2 + 2 * ((2 * 2 + 4) / 3.)) / 3;
	const double kind = (5 * exp(-1) * 4 + other * part) / (5 * exp(-1) + other);
	const double rate = (2 + 32 * ((2 + 16 * kind) / 17)) / 33;
	const uint64_t distance[] = { 123, (uint64_t)llround(rate * 100),
		(uint64_t)llround(rate * 110), 4 * 400 };
	struct loci_touch_clock clock = { 0 };
	double refs, touches;
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	for (uint64_t count = 10; count < 1000; count += 10) {
		CHECK(loci_touch_clock_add(&clock, 0, count, 10, 2) == 0);
		CHECK(loci_touch_clock_add(&clock, 1, count, 10, 8) == 0);
	}
	/* of a gap as long as all others of the stretch it is as much */
	CHECK(loci_touch_clock_add(&clock, 2, 2000, 99 * 10, 6) == 0);
	loci_touch_clock_settle(&clock);
	CHECK_NEAR(clock.rate, 16. / 3, 1e-9);
	CHECK_NEAR(loci_touch_clock_gap(&clock), 2970. / 199, 1e-9);
	loci_touch_clock_between(&clock, 0, 5, 100, &refs, &touches);
	CHECK_NEAR(refs, 100, 1e-9);
	CHECK_NEAR(touches, 200, 1e-9);
	loci_touch_clock_between(&clock, 1, 10, 20, &refs, &touches);
	CHECK_NEAR(refs, 10, 1e-9);
	CHECK_NEAR(touches, 80, 1e-9);
	loci_touch_clock_between(&clock, 1, 20, 29, &refs, &touches);
	CHECK_NEAR(refs, 0, 0);
	loci_touch_clock_between(&clock, 7, 0, 1000, &refs, &touches);
	CHECK_NEAR(touches, 0, 0);
	CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 0, &weigh, NULL) == 0);
	for (uint64_t id = 0; id < 4; id++) {
		struct loci_weigh_sample sample = opened(id, 10, id, (uint32_t)id);

		CHECK(loci_weigh_open(weigh, &sample, NULL) == 0);
	}
	for (uint64_t id = 0; id < 4; id++)
		CHECK(loci_weigh_fire(weigh, id, &reuse[id], NULL) == 0);
	loci_touch_clock_fini(&clock);
	CHECK(loci_touch_clock_add(&clock, 0, 60, 1, 2) == 0);
	CHECK(loci_touch_clock_add(&clock, 0, 400, 1, 6) == 0);
	loci_touch_clock_settle(&clock);
	CHECK(loci_weigh_finish(weigh, &clock, &result, NULL) == 0);
	CHECK_U64(result.n, 4);
	for (size_t i = 0; i < result.n; i++) {
		CHECK_U64(result.outcome[i].distance, distance[i]);
		CHECK(result.outcome[i].remote == (i == 3));
	}
	loci_touch_clock_fini(&clock);
	loci_weigh_free(weigh);
}

/* Counts that may be off, by no more and by more than a bin is wide, and what is known better. */
static void check_rough(void)
{
	const struct loci_weigh_reuse reuse[] = { { .count = 1290, .off = 10, .reuse = 0 },
		{ .count = 1290, .off = 11, .reuse = 1 }, { .count = 1290, .off = 11, .reuse = 2 },
		{ .count = 1290, .touches = 5, .off = 11, .reuse = 3 } };
	const struct loci_weigh_count better = { .reuse = 2, .count = 1284 };
	const uint64_t distance[] = { 1280, 1280, 1274, 5 };
	struct loci_weigh_result result;
	struct loci_weigh *weigh;

	CHECK(loci_weigh_new(LOCI_WEIGH_INVERSE, 0, &weigh, NULL) == 0);
	for (uint64_t id = 0; id < 4; id++) {
		struct loci_weigh_sample sample = opened(id, 10, id, (uint32_t)id);

		CHECK(loci_weigh_open(weigh, &sample, NULL) == 0);
	}
	for (uint64_t id = 0; id < 4; id++)
		CHECK(loci_weigh_fire(weigh, id, &reuse[id], NULL) == 0);
	loci_weigh_recount(weigh, &better, 1);
	CHECK(loci_weigh_finish(weigh, NULL, &result, NULL) == 0);
	CHECK_U64(result.n, 4);
	for (size_t i = 0; i < result.n; i++) {
		CHECK_U64(result.outcome[i].distance, distance[i]);
		CHECK(result.outcome[i].is_rough == (i == 1));
	}
	loci_weigh_free(weigh);
}

/* Stretches that go by code of two touches a reference, which a run has little of: few have samples
 * of their own, but together they tell. */
static void check_stretches(void)
{
	struct loci_touch_clock clock = { 0 };
	struct loci_stretches stretches;
	struct loci_stretch stretch = { .context = 5 };

	for (uint64_t i = 0; i < 1000; i++) /* a hundredth of the gap that a sample stands for */
		CHECK(loci_touch_clock_add(&clock, 0, 1000 * i, 1000, i % 10 ? 1 : 2) == 0);
	loci_touch_clock_settle(&clock);
	CHECK_NEAR(clock.spread, 0.3, 1e-9);
	CHECK_NEAR(loci_touch_clock_at(&clock, 0, 10000), 2, 1e-9);
	CHECK_NEAR(loci_touch_clock_at(&clock, 0, 11000), 1, 1e-9);
	CHECK_NEAR(loci_touch_clock_at(&clock, 0, 11001), 0, 0);
	CHECK_NEAR(loci_touch_clock_at(&clock, 1, 11000), 0, 0);
	loci_stretches_init(&stretches, &clock);
	for (uint64_t i = 0; i < 1000; i++) { /* of ten that are alike nine have none */
		stretch.from = 10000 * (i / 10) + 20 * (i % 10) - (i / 10 ? 15 : 0);
		stretch.to = stretch.from + 19;
		CHECK(loci_stretches_add(&stretches, &stretch) == 0);
	}
	loci_stretches_settle(&stretches);
	CHECK_NEAR(loci_stretches_rate(&stretches, &stretch), 2, 0.05);
	stretch.from -= 100000; /* another length: of the run */
	CHECK_NEAR(loci_stretches_rate(&stretches, &stretch), 1.1, 0.01);
	stretch.from = 0; /* none is as long as any may be */
	stretch.to = UINT64_MAX;
	CHECK(loci_stretches_add(&stretches, &stretch) == 0);
	CHECK_NEAR(loci_stretches_rate(&stretches, &stretch), 1.1, 0.01);
	loci_stretches_fini(&stretches);
	loci_touch_clock_fini(&clock);
}

/* A program that goes round: A references of one touch, B of two, again and again. */
#define PHASE_A 600000
#define PHASE_B 300000
#define ROUND   (PHASE_A + PHASE_B)

static double touches_until(uint64_t count)
{
	uint64_t in_round = count % ROUND;

	return (double)(count / ROUND * (PHASE_A + 2 * PHASE_B) + in_round +
		(in_round > PHASE_A ? in_round - PHASE_A : 0));
}

enum reuse { ROUND_LATER, SOON, IN_OTHER_PHASE };

/* After a round; soon; or where the other phase has come as far as the sample's phase had. */
static uint64_t next_use(uint64_t count, enum reuse reuse)
{
	uint64_t in_round = count % ROUND;

	if (reuse == ROUND_LATER)
		return count + ROUND;
	if (reuse == SOON)
		return count + 20000 + count % 1000;
	return count - in_round +
		(in_round < PHASE_A ? PHASE_A + in_round / 2 : ROUND + 2 * (in_round - PHASE_A));
}

/* So many samples of it, some rounds apart: how far distances are off in the mean, by reuse. */
static void sample_phases(uint64_t seed, unsigned n, uint64_t rounds, double ret_off[3])
{
	struct loci_stretch *stretch = calloc(n, sizeof(*stretch));
	struct loci_touch_clock clock = { 0 };
	struct loci_stretches stretches;
	uint64_t count = 0;

	for (unsigned i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		count += 1 + (seed >> 33) % (2 * rounds * ROUND);
		CHECK(loci_touch_clock_add(&clock, 0, count, (double)(rounds * ROUND),
			      count % ROUND < PHASE_A ? 1 : 2) == 0);
		stretch[i] = (struct loci_stretch){ .context = i % 30 +
				(count % ROUND < PHASE_A ? 0 : 30),
			.from = count,
			.to = next_use(count, i % 3) };
	}
	loci_touch_clock_settle(&clock);
	loci_stretches_init(&stretches, &clock);
	for (unsigned i = 0; i < n; i++)
		CHECK(loci_stretches_add(&stretches, &stretch[i]) == 0);
	loci_stretches_settle(&stretches);
	for (unsigned i = 0; i < n; i++) {
		double is = touches_until(stretch[i].to) - touches_until(stretch[i].from);
		double told = loci_stretches_rate(&stretches, &stretch[i]) *
			(double)(stretch[i].to - stretch[i].from);

		ret_off[i % 3] += fabs(told / is - 1) * 3 / n;
	}
	loci_stretches_fini(&stretches);
	loci_touch_clock_fini(&clock);
	free(stretch);
}

/* With the rate of the run for all of them it would be 0, 0.33 and 0.17, with that of where they
 * begin 0.32, 0.02 and 0.33. */
static void check_phases(void)
{
	enum { SEEDS = 16 };
	const double near_few[] = { 0.06, 0.08, 0.22 }, near_many[] = { 0.035, 0.025, 0.08 };
	double few[3] = { 0 }, many[3] = { 0 };

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		sample_phases(seed, 2000, 20, few);
		sample_phases(seed, 20000, 2, many);
	}
	for (int i = 0; i < 3; i++) {
		CHECK_NEAR(few[i] / SEEDS, 0, near_few[i]);
		CHECK_NEAR(many[i] / SEEDS, 0, near_many[i]);
	}
}

int main(void)
{
	check_bases();
	check_shares();
	check_rough();
	check_given_up();
	check_given_up_in_order();
	check_unwatched();
	check_bursts_by_references();
	check_all_unknown();
	check_outlived();
	check_given_up_at_random();
	check_given_up_apart();
	check_kaplan_meier_unwatched();
	check_many_given_up(false);
	check_many_given_up(true);
	check_touches();
	check_stretches();
	check_phases();
	check_adaptive();
	check_by_hand();
	check_contexts();
	check_many_sites();
	check_few_watched();
	check_kaplan_meier();
	check_listing_1();
	check_listing_2();
	check_one_site();
	check_lots();
	check_lots_by_hand();
	return check_status();
}
