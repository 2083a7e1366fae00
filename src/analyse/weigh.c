// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/weigh.h"

#include "analyse/grow.h"
#include "analyse/keymap.h"
#include "analyse/stretch.h"
#include "analyse/weigh_known.h"
#include "base/cleanup.h"
#include "hist/hist.h"

#include <math.h>

#define BIN_PARTS    128  /* of a distance: as wide as a bin is */
#define MOST_INVERSE 1e18 /* of probabilities; more are of damaged files */

struct watched {
	struct loci_weigh_sample sample;
	uint32_t context; /* its number */
	double base_then; /* of the context, before this one */
	double inverse;   /* of the probability that it is watched still */
	uint64_t evicted; /* the count then; 0: it is not .. */
	uint64_t by;      /* .. and the sample that it was evicted for */
	uint32_t k;       /* 0: free */
};

struct loci_weigh {
	enum loci_weighting weighting;
	uint64_t burst_refs;
	struct watched watched[LOCI_WATCHES];
	struct watched *burst;
	size_t n_burst, burst_cap;
	struct loci_weigh_context *context;
	size_t n_contexts, context_cap;
	struct loci_keymap numbers;
	struct loci_weigh_known *known;
	size_t n_known, known_cap;
	struct loci_weigh_outcome *outcome; /* in the end */
	uint64_t samples, abandoned;
	double base, touches;
};

int loci_weigh_new(enum loci_weighting weighting, uint64_t burst_refs, struct loci_weigh **ret,
	struct loci_err *err)
{
	struct loci_weigh *weigh = calloc(1, sizeof(*weigh));

	if (!weigh)
		return loci_err_nomem(err);
	weigh->weighting = weighting;
	weigh->burst_refs = burst_refs;
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

static bool is_scaled(const struct loci_weigh *weigh)
{
	return weigh->weighting == LOCI_WEIGH_INVERSE ||
		weigh->weighting == LOCI_WEIGH_KAPLAN_MEIER;
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

/* What became of a sample; the caller fills in the rest. */
static struct loci_weigh_known *know(
	struct loci_weigh *weigh, const struct watched *watched, double weight)
{
	struct loci_weigh_known *known;

	if (loci_grow_little(&weigh->known, &weigh->known_cap, weigh->n_known + 1,
		    sizeof(*weigh->known)) < 0)
		return NULL;
	known = &weigh->known[weigh->n_known++];
	*known = (struct loci_weigh_known){ .outcome = { .context = watched->context,
						    .use = watched->sample.use,
						    .weight = weight,
						    .in_burst = watched->sample.watch ==
							    LOCI_WATCH_BURST },
		.base = watched->sample.base,
		.at_once = watched->sample.at_once,
		.is_drawn = watched->sample.watch != LOCI_WATCH_BURST,
		.thread = watched->sample.thread,
		.from = watched->sample.count };
	return known;
}

static int know_outcome(struct loci_weigh *weigh, const struct watched *watched,
	const struct loci_weigh_reuse *reuse, double weight)
{
	struct loci_weigh_context *context = &weigh->context[watched->context];
	struct loci_weigh_known *known = know(weigh, watched, weight);

	if (!known)
		return -ENOMEM;
	context->weight += weight;
	context->has_outcome = true;
	if (!reuse) {
		known->outcome.distance = LOCI_INFINITE;
		return 0;
	}
	known->outcome.distance = reuse->touches;
	known->outcome.distinct = reuse->distinct;
	known->outcome.reuse = reuse->reuse;
	known->outcome.remote = reuse->thread != watched->sample.thread;
	known->outcome.is_rough =
		!reuse->touches && reuse->off > (reuse->count - known->from) / BIN_PARTS;
	known->to = reuse->count;
	known->in_parts = reuse->in_parts;
	return 0;
}

/* weight: what it stood for, which others that were not reused for as long are to have; 0: those
 * that are watched have it already. */
static int give_up(
	struct loci_weigh *weigh, const struct watched *watched, uint64_t count, double weight)
{
	struct loci_weigh_known *known;

	if (!is_scaled(weigh) && !(weight > 0))
		return 0;
	known = know(weigh, watched, weight);
	if (!known)
		return -ENOMEM;
	known->given_up = true;
	known->to = count;
	return 0;
}

/* One that has no watch was not reused while it was followed, of which the touches are told. */
static int give_up_unwatched(struct loci_weigh *weigh, const struct watched *watched, double weight)
{
	size_t n = weigh->n_known;
	int r = give_up(weigh, watched, watched->sample.count, weight);

	if (r == 0 && weigh->n_known > n)
		weigh->known[n].outcome.distance = watched->sample.followed;
	return r;
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
				weigh->watched[i].inverse /= 1 - q;
		reached *= pass;
		below = k;
	}
}

static double weight_of(const struct loci_weigh *weigh, const struct watched *watched)
{
	switch (weigh->weighting) {
	case LOCI_WEIGH_INVERSE:
	case LOCI_WEIGH_UNSCALED:
		return watched->sample.base * watched->inverse;
	case LOCI_WEIGH_PROPORTIONAL:
		return weigh->context[watched->context].base - watched->base_then;
	default:
		return watched->sample.base;
	}
}

/* A watch whose sample was evicted for one that could not have it after all. */
static int abandon(struct loci_weigh *weigh, uint64_t by)
{
	for (unsigned i = 0; i < LOCI_WATCHES; i++) {
		struct watched *watched = &weigh->watched[i];

		if (!watched->k || !watched->evicted || watched->by != by)
			continue;
		watched->k = 0;
		weigh->abandoned++;
		return give_up(weigh, watched, watched->evicted, weight_of(weigh, watched));
	}
	return 0;
}

static int open_watched(struct loci_weigh *weigh, struct watched *opened)
{
	uint32_t watch = opened->sample.watch;
	struct watched *before = watch < LOCI_WATCHES ? &weigh->watched[watch] : NULL;
	bool was_free = before && !before->k;
	double taken = 1;

	for (unsigned i = 0; i < LOCI_WATCHES; i++)
		weigh->watched[i].k += weigh->watched[i].k > 0;
	if (!was_free) {
		taken = draw(weigh, watch);
		opened->inverse = taken > 0 ? 1 / taken : 1;
	}
	if (!before)
		return abandon(weigh, opened->sample.id) < 0
			? -ENOMEM
			: give_up_unwatched(
				  weigh, opened, taken > 0 ? 0 : weight_of(weigh, opened));
	if (!was_free &&
		give_up(weigh, before, before->evicted ? before->evicted : opened->sample.count,
			0) < 0)
		return -ENOMEM;
	opened->k = was_free ? 1 : before->k;
	*before = *opened;
	return 0;
}

static int share_touches(struct loci_weigh *weigh, const struct loci_weigh_sample *sample)
{
	const struct loci_weigh_share own = { sample->context, sample->base };
	const struct loci_weigh_share *share = sample->n_shares ? sample->share : &own;
	size_t n = sample->n_shares ? sample->n_shares : 1;

	for (size_t i = 0; i < n; i++) {
		uint32_t context;

		if (context_of(weigh, share[i].context, &context) < 0)
			return -ENOMEM;
		weigh->context[context].touches += share[i].base;
		weigh->touches += share[i].base;
	}
	return 0;
}

int loci_weigh_open(
	struct loci_weigh *weigh, const struct loci_weigh_sample *sample, struct loci_err *err)
{
	struct watched opened = { .sample = *sample, .inverse = 1 };
	struct loci_weigh_context *context;
	int r = 0;

	if (context_of(weigh, sample->context, &opened.context) < 0 ||
		share_touches(weigh, sample) < 0)
		return loci_err_nomem(err);
	context = &weigh->context[opened.context];
	opened.base_then = context->base;
	context->base += sample->base;
	context->samples++;
	weigh->base += sample->base;
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

/* The watch of a sample; NULL: it has none. */
static struct watched *watch_of(struct loci_weigh *weigh, uint64_t id)
{
	for (unsigned i = 0; i < LOCI_WATCHES; i++)
		if (weigh->watched[i].k && weigh->watched[i].sample.id == id)
			return &weigh->watched[i];
	return NULL;
}

int loci_weigh_fire(struct loci_weigh *weigh, uint64_t id, const struct loci_weigh_reuse *reuse,
	struct loci_err *err)
{
	struct watched *of = watch_of(weigh, id);
	int r = 0;

	for (size_t i = 0; !of && i < weigh->n_burst; i++) {
		struct watched burst = weigh->burst[i];

		if (burst.sample.id != id)
			continue;
		weigh->burst[i] = weigh->burst[--weigh->n_burst];
		r = know_outcome(weigh, &burst, reuse, burst.sample.base);
		break;
	}
	if (of) {
		of->k = 0;
		r = know_outcome(weigh, of, reuse, weight_of(weigh, of));
	}
	return r < 0 ? loci_err_nomem(err) : 0;
}

void loci_weigh_recount(struct loci_weigh *weigh, const struct loci_weigh_count *counts, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < weigh->n_known && at < n; i++) {
		struct loci_weigh_known *known = &weigh->known[i];

		if (known->given_up || known->outcome.distance)
			continue;
		while (at < n && counts[at].reuse < known->outcome.reuse)
			at++;
		if (at < n && counts[at].reuse == known->outcome.reuse) {
			known->to = counts[at].count;
			known->outcome.is_rough = false;
		}
	}
}

int loci_weigh_evict(
	struct loci_weigh *weigh, uint64_t id, uint64_t count, uint64_t by, struct loci_err *err)
{
	struct watched *of = watch_of(weigh, id);

	if (!of)
		return 0;
	of->evicted = count;
	of->by = by;
	if (by)
		return 0;
	of->k = 0;
	weigh->abandoned++;
	return give_up(weigh, of, count, weight_of(weigh, of)) < 0 ? loci_err_nomem(err) : 0;
}

int loci_weigh_lot(struct loci_weigh *weigh, uint64_t id, uint64_t count, uint64_t one_in,
	bool is_kept, struct loci_err *err)
{
	struct watched *of = watch_of(weigh, id);

	if (!of)
		return 0;
	if (is_kept) {
		of->inverse = fmin(of->inverse * fmax((double)one_in, 1), MOST_INVERSE);
		return 0;
	}
	of->k = 0;
	weigh->abandoned++;
	return give_up(weigh, of, count, 0) < 0 ? loci_err_nomem(err) : 0;
}

static int compare(const void *left, const void *right)
{
	return loci_weigh_compare(left, right);
}

static size_t context_end(const struct loci_weigh *weigh, size_t from)
{
	size_t to = from;

	while (to < weigh->n_known &&
		weigh->known[to].outcome.context == weigh->known[from].outcome.context)
		to++;
	return to;
}

/* at_risk: room for as many. */
static void survive_in(
	struct loci_weigh *weigh, size_t from, size_t to, uint64_t last, double *at_risk)
{
	struct loci_weigh_context *context = &weigh->context[weigh->known[from].outcome.context];
	double survival = 1, sum = 0, left = 0, open = 0;

	for (size_t i = to; i-- > from;)
		at_risk[i] = sum += weigh->known[i].base;
	context->weight = 0;
	for (size_t i = from; i < to; i++) {
		struct loci_weigh_known *known = &weigh->known[i];

		if (known->given_up) {
			left += known->base;
			open += loci_weigh_is_open(known) && known->outcome.distance >= last
				? known->base
				: 0;
			continue;
		}
		known->outcome.weight = survival * (known->base / at_risk[i]);
		survival -= known->outcome.weight;
		context->weight += known->outcome.weight;
		left = open = 0;
	}
	context->unknown = left > 0 ? survival * open / left : 0;
}

/* Of each outcome its share of those who were still at risk then. What was never reused was at risk
 * to the end, and has what is left; where all of these were given up, the last outcomes have it. Of
 * open samples that nothing was reused later than nothing is known. */
static int survive(struct loci_weigh *weigh)
{
	loci_autofree double *at_risk = calloc(weigh->n_known + 1, sizeof(*at_risk));
	uint64_t last = 0;

	if (!at_risk)
		return -ENOMEM;
	for (size_t i = 0; i < weigh->n_known; i++)
		if (!weigh->known[i].given_up && weigh->known[i].is_beyond &&
			weigh->known[i].outcome.distance > last)
			last = weigh->known[i].outcome.distance;
	qsort(weigh->known, weigh->n_known, sizeof(*weigh->known), compare);
	for (size_t from = 0, to; from < weigh->n_known; from = to) {
		to = context_end(weigh, from);
		survive_in(weigh, from, to, last, at_risk);
	}
	return 0;
}

/* Where weights are inverse it is not asked for how long those were watched that gave way. */
static bool is_passed_over(const struct loci_weigh *weigh, const struct loci_weigh_known *known)
{
	return weigh->weighting == LOCI_WEIGH_INVERSE && loci_weigh_gave_way(known);
}

static int finish_watched(struct loci_weigh *weigh)
{
	for (size_t i = 0; i < weigh->n_burst; i++)
		if (know_outcome(weigh, &weigh->burst[i], NULL, weigh->burst[i].sample.base) < 0)
			return -ENOMEM;
	for (unsigned i = 0; i < LOCI_WATCHES; i++)
		if (weigh->watched[i].k &&
			know_outcome(weigh, &weigh->watched[i], NULL,
				weight_of(weigh, &weigh->watched[i])) < 0)
			return -ENOMEM;
	return 0;
}

static struct loci_stretch stretch_of(const struct loci_weigh_known *known)
{
	return (struct loci_stretch){ known->thread, known->outcome.context, known->from,
		known->to };
}

/* Touches from samples to their reuses, or to where they were given up, where they were not
 * counted. */
static int find_distances(struct loci_weigh *weigh, const struct loci_touch_clock *clock)
{
	loci_cleanup(loci_stretches_fini) struct loci_stretches stretches;

	loci_stretches_init(&stretches, clock);
	for (size_t i = 0; clock && i < weigh->n_known; i++) {
		const struct loci_weigh_known *known = &weigh->known[i];
		struct loci_stretch stretch = stretch_of(known);

		if (!known->outcome.distance && known->to >= known->from &&
			!is_passed_over(weigh, known) &&
			loci_stretches_add(&stretches, &stretch) < 0)
			return -ENOMEM;
	}
	if (clock)
		loci_stretches_settle(&stretches);
	for (size_t i = 0; i < weigh->n_known; i++) {
		struct loci_weigh_known *known = &weigh->known[i];
		struct loci_stretch stretch = stretch_of(known);
		double refs = (double)(known->to - known->from);

		if (known->outcome.distance || is_passed_over(weigh, known))
			continue;
		if (known->to < known->from)
			refs = 1;
		else if (clock)
			refs *= loci_stretches_rate(&stretches, &stretch);
		known->outcome.distance =
			(uint64_t)llround(fmax(refs + (double)known->in_parts, 1));
	}
	return 0;
}

static void find_beyond(struct loci_weigh *weigh)
{
	for (size_t i = 0; i < weigh->n_known; i++) {
		struct loci_weigh_known *known = &weigh->known[i];
		bool is_far =
			known->to < known->from || known->to - known->from > weigh->burst_refs;

		known->is_beyond = is_far || known->outcome.distance == LOCI_INFINITE ||
			!(known->at_once || known->outcome.in_burst);
	}
}

static int settle(struct loci_weigh *weigh)
{
	if (weigh->weighting == LOCI_WEIGH_KAPLAN_MEIER)
		return survive(weigh);
	if (weigh->weighting == LOCI_WEIGH_INVERSE &&
		loci_weigh_stratify(
			weigh->known, weigh->n_known, weigh->context, weigh->n_contexts) < 0)
		return -ENOMEM;
	return loci_weigh_share_out(weigh->known, weigh->n_known, weigh->context);
}

/* What contexts without outcome leave to the others. */
static double pool(const struct loci_weigh *weigh, struct loci_weigh_result *ret)
{
	double left = 0;

	for (size_t i = 0; i < weigh->n_contexts; i++) {
		const struct loci_weigh_context *context = &weigh->context[i];

		ret->pooled += context->has_outcome ? 0 : context->samples;
		left += context->weight > 0 ? context->touches : 0;
	}
	return is_scaled(weigh) && left > 0 ? weigh->touches / left : 1;
}

/* Contexts whose samples all gave way to others are like the rest. */
static double unknown_share(const struct loci_weigh *weigh)
{
	double unknown = 0, sum = 0;

	for (size_t i = 0; i < weigh->n_contexts; i++) {
		const struct loci_weigh_context *context = &weigh->context[i];
		double all = context->weight + context->unknown;
		double touches = is_scaled(weigh) ? context->touches : all;

		if (!(all > 0))
			continue;
		unknown += touches * context->unknown / all;
		sum += touches;
	}
	return sum > 0 ? fmin(unknown / sum, 1) : 0;
}

int loci_weigh_finish(struct loci_weigh *weigh, const struct loci_touch_clock *clock,
	struct loci_weigh_result *ret, struct loci_err *err)
{
	loci_autofree double *mass = NULL; /* by who observed it */
	double sum = 0, squares = 0, shared;

	*ret = (struct loci_weigh_result){ .samples = weigh->samples,
		.abandoned = weigh->abandoned,
		.base = weigh->base,
		.touches = weigh->touches };
	if (finish_watched(weigh) < 0)
		return loci_err_nomem(err);
	if (find_distances(weigh, clock) < 0)
		return loci_err_nomem(err);
	find_beyond(weigh);
	if (settle(weigh) < 0)
		return loci_err_nomem(err);
	weigh->outcome = calloc(weigh->n_known + 1, sizeof(*weigh->outcome));
	mass = calloc(weigh->n_known + 1, sizeof(*mass));
	if (!weigh->outcome || !mass)
		return loci_err_nomem(err);
	shared = pool(weigh, ret);
	ret->unknown = unknown_share(weigh);
	for (size_t i = 0; i < weigh->n_known; i++) {
		const struct loci_weigh_known *known = &weigh->known[i];
		struct loci_weigh_outcome outcome = known->outcome;
		const struct loci_weigh_context *context = &weigh->context[outcome.context];

		if (known->given_up)
			continue;
		outcome.context = context->key;
		outcome.thread = known->thread;
		outcome.from = known->from;
		outcome.to = known->to;
		if (is_scaled(weigh))
			outcome.weight *= shared * context->touches / context->weight;
		sum += outcome.weight;
		mass[known->teller ? known->teller - 1 : i] += outcome.weight;
		weigh->outcome[ret->n++] = outcome;
	}
	for (size_t i = 0; i < weigh->n_known; i++)
		squares += mass[i] * mass[i];
	ret->outcome = weigh->outcome;
	ret->effective = squares > 0 ? sum * sum / squares : 0;
	return 0;
}
