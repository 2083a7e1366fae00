// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/weigh.h"

#include "analyse/grow.h"
#include "analyse/keymap.h"
#include "hist/hist.h"

#include <stdbool.h>

#define GIVEN_UP (LOCI_INFINITE - 1) /* beside a distance: censored, for Kaplan-Meier */

struct watched {
	struct loci_weigh_sample sample;
	uint32_t context;      /* its number */
	uint64_t samples_then; /* of the context, before this one */
	double weight;
	uint32_t k; /* 0: free */
};

struct context {
	uint64_t key, samples;
	double weight; /* of its outcomes */
	bool has_outcome;
};

/* An outcome, with what Kaplan-Meier needs of those that were given up. */
struct known {
	struct loci_weigh_outcome outcome; /* context is its number until the end */
	uint64_t age;                      /* at which it was given up, or LOCI_INFINITE */
};

struct loci_weigh {
	enum loci_weighting weighting;
	struct watched watched[LOCI_WATCHES];
	struct watched *burst;
	size_t n_burst, burst_cap;
	struct context *context;
	size_t n_contexts, context_cap;
	struct loci_keymap numbers;
	struct known *known;
	size_t n_known, known_cap;
	struct loci_weigh_outcome *outcome; /* in the end */
	uint64_t samples;
};

int loci_weigh_new(enum loci_weighting weighting, struct loci_weigh **ret, struct loci_err *err)
{
	struct loci_weigh *weigh = calloc(1, sizeof(*weigh));

	if (!weigh)
		return loci_err_nomem(err);
	weigh->weighting = weighting;
	*ret = weigh;
	return 0;
}

void loci_weigh_free(struct loci_weigh *weigh)
{
	if (!weigh)
		return;
	free(weigh->burst);
	free(weigh->context);
	loci_keymap_fini(&weigh->numbers);
	free(weigh->known);
	free(weigh->outcome);
	free(weigh);
}

static int context_of(struct loci_weigh *weigh, uint64_t key, uint32_t *ret)
{
	*ret = loci_keymap_get(&weigh->numbers, key, 0);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = (uint32_t)weigh->n_contexts;
	if (loci_grow(&weigh->context, &weigh->context_cap, weigh->n_contexts + 1,
		    sizeof(*weigh->context)) < 0 ||
		loci_keymap_put(&weigh->numbers, key, 0, *ret) < 0)
		return -ENOMEM;
	weigh->context[weigh->n_contexts++].key = key;
	return 0;
}

static int know(struct loci_weigh *weigh, const struct watched *watched, uint64_t distance,
	uint64_t reuse, uint64_t age, double weight)
{
	struct known *known;

	if (loci_grow(&weigh->known, &weigh->known_cap, weigh->n_known + 1, sizeof(*weigh->known)) <
		0)
		return -ENOMEM;
	known = &weigh->known[weigh->n_known++];
	known->outcome = (struct loci_weigh_outcome){ watched->context, reuse, distance, weight };
	known->age = age;
	if (distance != GIVEN_UP) {
		weigh->context[watched->context].weight += weight;
		weigh->context[watched->context].has_outcome = true;
	}
	return 0;
}

/* What is given up has no weight; Kaplan-Meier learns from it for how long it was not reused. */
static int give_up(struct loci_weigh *weigh, const struct watched *watched, uint64_t count)
{
	if (weigh->weighting != LOCI_WEIGH_KAPLAN_MEIER)
		return 0;
	return know(weigh, watched, GIVEN_UP, 0, count - watched->sample.count, 0);
}

/* The odds of a sample that found no free watch. Watches are visited by falling k: those of one k
 * are visited in any order, and share the odds of that k. Survivors' weights grow; returns the
 * probability that the sample took a watch. */
static double draw(struct loci_weigh *weigh, uint32_t taken)
{
	uint32_t below = UINT32_MAX;
	double reached = 1;

	for (;;) {
		uint32_t k = 0;
		unsigned ties = 0;
		double pass = 1, q;

		for (unsigned i = 0; i < LOCI_WATCHES; i++)
			if (weigh->watched[i].k < below && weigh->watched[i].k > k)
				k = weigh->watched[i].k;
		if (!k)
			return 1 - reached;
		for (unsigned i = 0; i < LOCI_WATCHES; i++)
			ties += weigh->watched[i].k == k;
		for (unsigned i = 0; i < ties; i++)
			pass *= 1 - 1.0 / k;
		q = reached * (1 - pass) / ties;
		for (unsigned i = 0; i < LOCI_WATCHES; i++)
			if (weigh->watched[i].k == k && i != taken)
				weigh->watched[i].weight /= 1 - q;
		reached *= pass;
		below = k;
	}
}

static double weight_of(const struct loci_weigh *weigh, const struct watched *watched)
{
	switch (weigh->weighting) {
	case LOCI_WEIGH_INVERSE:
	case LOCI_WEIGH_UNSCALED:
		return watched->weight;
	case LOCI_WEIGH_PROPORTIONAL:
		return (double)(weigh->context[watched->context].samples - watched->samples_then);
	default:
		return 1;
	}
}

static int open_watched(struct loci_weigh *weigh, struct watched *opened)
{
	uint32_t watch = opened->sample.watch;
	bool was_free = watch < LOCI_WATCHES && !weigh->watched[watch].k;
	double taken;

	for (unsigned i = 0; i < LOCI_WATCHES; i++)
		weigh->watched[i].k += weigh->watched[i].k > 0;
	if (!was_free) {
		taken = draw(weigh, watch);
		opened->weight = taken > 0 ? 1 / taken : 1;
	}
	if (watch >= LOCI_WATCHES)
		return give_up(weigh, opened, opened->sample.count);
	if (!was_free && give_up(weigh, &weigh->watched[watch], opened->sample.count) < 0)
		return -ENOMEM;
	opened->k = was_free ? 1 : weigh->watched[watch].k;
	weigh->watched[watch] = *opened;
	return 0;
}

int loci_weigh_open(
	struct loci_weigh *weigh, const struct loci_weigh_sample *sample, struct loci_err *err)
{
	struct watched opened = { .sample = *sample, .weight = 1 };
	struct context *context;
	int r = 0;

	if (context_of(weigh, sample->context, &opened.context) < 0)
		return loci_err_nomem(err);
	context = &weigh->context[opened.context];
	opened.samples_then = context->samples++;
	weigh->samples++;
	if (sample->watch != LOCI_WATCH_BURST) {
		r = open_watched(weigh, &opened);
	} else {
		r = loci_grow(&weigh->burst, &weigh->burst_cap, weigh->n_burst + 1,
			sizeof(*weigh->burst));
		if (r == 0)
			weigh->burst[weigh->n_burst++] = opened;
	}
	return r < 0 ? loci_err_nomem(err) : 0;
}

int loci_weigh_fire(
	struct loci_weigh *weigh, uint64_t id, uint64_t count, uint64_t reuse, struct loci_err *err)
{
	for (size_t i = 0; i < weigh->n_burst; i++) {
		struct watched of = weigh->burst[i];

		if (of.sample.id != id)
			continue;
		weigh->burst[i] = weigh->burst[--weigh->n_burst];
		if (know(weigh, &of, count - of.sample.count, reuse, LOCI_INFINITE, 1) < 0)
			return loci_err_nomem(err);
		return 0;
	}
	for (unsigned i = 0; i < LOCI_WATCHES; i++) {
		struct watched *of = &weigh->watched[i];

		if (!of->k || of->sample.id != id)
			continue;
		of->k = 0;
		if (know(weigh, of, count - of->sample.count, reuse, LOCI_INFINITE,
			    weight_of(weigh, of)) < 0)
			return loci_err_nomem(err);
		return 0;
	}
	return 0;
}

static uint64_t time_of(const struct known *known)
{
	return known->outcome.distance == GIVEN_UP ? known->age : known->outcome.distance;
}

/* By context and time; at the same time outcomes before what was given up. */
static int compare(const void *left, const void *right)
{
	const struct known *a = left, *b = right;
	bool a_up = a->outcome.distance == GIVEN_UP, b_up = b->outcome.distance == GIVEN_UP;

	if (a->outcome.context != b->outcome.context)
		return a->outcome.context < b->outcome.context ? -1 : 1;
	if (time_of(a) != time_of(b))
		return time_of(a) < time_of(b) ? -1 : 1;
	return (int)a_up - (int)b_up;
}

/* Of each outcome its share of those who were still at risk then. What was never reused was at risk
 * to the end, and has what is left; where all of these were given up, the last outcomes have it. */
static void survive(struct loci_weigh *weigh)
{
	qsort(weigh->known, weigh->n_known, sizeof(*weigh->known), compare);
	for (size_t from = 0, to; from < weigh->n_known; from = to) {
		uint64_t number = weigh->known[from].outcome.context;
		struct context *context = &weigh->context[number];
		double survival = 1;

		for (to = from; to < weigh->n_known; to++)
			if (weigh->known[to].outcome.context != number)
				break;
		context->weight = 0;
		for (size_t i = from; i < to; i++) {
			struct loci_weigh_outcome *outcome = &weigh->known[i].outcome;

			if (outcome->distance == GIVEN_UP)
				continue;
			outcome->weight = survival / (double)(to - i);
			survival -= outcome->weight;
			context->weight += outcome->weight;
		}
	}
}

static bool is_scaled(const struct loci_weigh *weigh)
{
	return weigh->weighting == LOCI_WEIGH_INVERSE ||
		weigh->weighting == LOCI_WEIGH_KAPLAN_MEIER;
}

static int finish_watched(struct loci_weigh *weigh)
{
	for (size_t i = 0; i < weigh->n_burst; i++)
		if (know(weigh, &weigh->burst[i], LOCI_INFINITE, 0, LOCI_INFINITE, 1) < 0)
			return -ENOMEM;
	for (unsigned i = 0; i < LOCI_WATCHES; i++)
		if (weigh->watched[i].k &&
			know(weigh, &weigh->watched[i], LOCI_INFINITE, 0, LOCI_INFINITE,
				weight_of(weigh, &weigh->watched[i])) < 0)
			return -ENOMEM;
	return 0;
}

int loci_weigh_finish(struct loci_weigh *weigh, struct loci_weigh_result *ret, struct loci_err *err)
{
	double sum = 0, squares = 0, shared = 1;

	*ret = (struct loci_weigh_result){ .samples = weigh->samples };
	if (finish_watched(weigh) < 0)
		return loci_err_nomem(err);
	weigh->outcome = calloc(weigh->n_known + 1, sizeof(*weigh->outcome));
	if (!weigh->outcome)
		return loci_err_nomem(err);
	if (weigh->weighting == LOCI_WEIGH_KAPLAN_MEIER)
		survive(weigh);
	for (size_t i = 0; i < weigh->n_contexts; i++)
		ret->pooled += weigh->context[i].has_outcome ? 0 : weigh->context[i].samples;
	if (is_scaled(weigh) && ret->pooled < weigh->samples)
		shared = (double)weigh->samples / (double)(weigh->samples - ret->pooled);
	for (size_t i = 0; i < weigh->n_known; i++) {
		struct loci_weigh_outcome outcome = weigh->known[i].outcome;
		const struct context *context = &weigh->context[outcome.context];

		if (outcome.distance == GIVEN_UP)
			continue;
		outcome.context = context->key;
		if (is_scaled(weigh))
			outcome.weight *= shared * (double)context->samples / context->weight;
		sum += outcome.weight;
		squares += outcome.weight * outcome.weight;
		weigh->outcome[ret->n++] = outcome;
	}
	ret->outcome = weigh->outcome;
	ret->effective = squares > 0 ? sum * sum / squares : 0;
	return 0;
}
