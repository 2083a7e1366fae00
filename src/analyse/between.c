// SPDX-License-Identifier: GPL-2.0-or-later
/* Work is bounded: of one stretch at most so many samples are looked at, evenly spread, and what is
 * expected of contexts is computed for so many lengths of a pool, and taken to be straight in
 * between. */
#include "analyse/between.h"

#include "analyse/grow.h"
#include "analyse/keymap.h"
#include "analyse/survival.h"
#include "base/cleanup.h"
#include "hist/hist.h"

#include <math.h>

#define CHANCE        4    /* variances that a difference may be off by */
#define STRETCH_LOOKS 256  /* samples of one stretch .. */
#define POOL_LOOKS    8192 /* .. and of all that are alike, if each has its LEAST */
#define LEAST_LOOKS   4
#define POOL_LENGTHS  16
#define NO_OUTCOME    SIZE_MAX

struct share {
	uint32_t context; /* its number */
	float touches;
};

struct sample {
	uint32_t thread;
	uint32_t context; /* its number */
	uint64_t count;
	size_t share, n_shares; /* the first, and how many */
	size_t number;          /* in the order in which they came .. */
	size_t outcome;         /* .. and what became of it */
};

/* A reuse whose stack distance is sought. */
struct sought {
	uint32_t context;
	uint32_t length; /* which power of two it is next to, in references */
	uint64_t distance;
	size_t outcome;
};

/* A context, and what is seen of it between the uses and reuses of a pool. */
struct context {
	size_t samples; /* in the whole run */
	double touches; /* as references around samples tell .. */
	double looks;   /* .. and its own samples, how many there are */
	bool is_seen;
};

/* What a sample in between says of touches that stay the last of their block until the reuse: how
 * many more do than its context's in the whole run, if it were anywhere in between, and how many
 * more than that do where it is. Sums over all stretches that it is in, times its weight. */
struct look {
	double part, place;
	double times; /* samples that it stands for */
	bool is_seen;
};

struct loci_between {
	struct loci_keymap numbers;
	struct context *context;
	size_t n_contexts, context_cap;
	struct sample *sample;
	size_t n_samples, sample_cap;
	struct share *share;
	size_t n_shares, share_cap;
	/* While it finds: */
	struct loci_weigh_outcome *outcome; /* the caller's */
	struct loci_survival survival, all; /* by context, and all as one */
	uint32_t *seen;                     /* contexts of a pool */
	struct look *look;                  /* of a sample, sorted .. */
	size_t *looked;                     /* .. and those of a pool */
	size_t n_seen, n_looked;
};

int loci_between_new(struct loci_between **ret, struct loci_err *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : loci_err_nomem(err);
}

void loci_between_free(struct loci_between *between)
{
	if (!between)
		return;
	loci_keymap_fini(&between->numbers);
	free(between->context);
	free(between->sample);
	free(between->share);
	loci_survival_fini(&between->survival);
	loci_survival_fini(&between->all);
	free(between->seen);
	free(between->look);
	free(between->looked);
	free(between);
}

static int number_of(struct loci_between *between, uint64_t context, uint32_t *ret)
{
	*ret = loci_keymap_get(&between->numbers, context, 0);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = (uint32_t)between->n_contexts;
	if (loci_grow(&between->context, &between->context_cap, between->n_contexts + 1,
		    sizeof(*between->context)) < 0)
		return -ENOMEM;
	between->n_contexts++;
	return loci_keymap_put(&between->numbers, context, 0, *ret);
}

int loci_between_add(struct loci_between *between, const struct loci_weigh_sample *sample)
{
	const struct loci_weigh_share own = { sample->context, sample->base };
	const struct loci_weigh_share *share = sample->n_shares ? sample->share : &own;
	size_t n = sample->n_shares ? sample->n_shares : 1;
	uint32_t context;

	if (loci_grow_little(&between->sample, &between->sample_cap, between->n_samples + 1,
		    sizeof(*between->sample)) < 0 ||
		loci_grow_little(&between->share, &between->share_cap, between->n_shares + n,
			sizeof(*between->share)) < 0 ||
		number_of(between, sample->context, &context) < 0)
		return -ENOMEM;
	between->context[context].samples++;
	between->sample[between->n_samples] = (struct sample){ .thread = sample->thread,
		.context = context,
		.count = sample->count,
		.share = between->n_shares,
		.n_shares = n,
		.number = between->n_samples,
		.outcome = NO_OUTCOME };
	between->n_samples++;
	for (size_t i = 0; i < n; i++) {
		struct share *to = &between->share[between->n_shares++];

		if (number_of(between, share[i].context, &to->context) < 0)
			return -ENOMEM;
		to->touches = (float)share[i].base;
	}
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* How many samples are of threads before, or of this one up to its count. */
static size_t samples_upto(const struct loci_between *between, uint32_t thread, uint64_t count)
{
	const struct sample sought = { .thread = thread, .count = count, .number = SIZE_MAX };
	size_t low = 0, high = between->n_samples;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(&between->sample[middle], &sought) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Outcomes as distributions, and with their samples. */
static int take_outcomes(struct loci_between *between, size_t n)
{
	struct loci_survival_outcome *each = calloc(n + 1, sizeof(*each)), *all;
	size_t n_each = 0;
	int r = each ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct loci_weigh_outcome *outcome = &between->outcome[i];

		if (outcome->use < between->n_samples)
			between->sample[outcome->use].outcome = i;
		if (!(outcome->weight > 0))
			continue;
		each[n_each].distance = outcome->distance;
		each[n_each].weight = outcome->weight;
		r = number_of(between, outcome->context, &each[n_each++].context);
	}
	all = r == 0 ? calloc(n + 1, sizeof(*all)) : NULL;
	if (!all) {
		free(each);
		return -ENOMEM;
	}
	memcpy(all, each, n_each * sizeof(*all));
	r = loci_survival_init(&between->survival, each, n_each, between->n_contexts);
	if (loci_survival_init(&between->all, all, n_each, 0) < 0 || r < 0)
		return -ENOMEM;
	between->seen = calloc(between->n_contexts + 1, sizeof(*between->seen));
	between->look = calloc(between->n_samples + 1, sizeof(*between->look));
	between->looked = calloc(between->n_samples + 1, sizeof(*between->looked));
	return between->seen && between->look && between->looked ? 0 : -ENOMEM;
}

static double expected_of(const struct loci_between *between, uint32_t context, uint64_t distance)
{
	return loci_survival_weight(&between->survival, context) > 0
		? loci_survival_expected(&between->survival, context, distance)
		: loci_survival_expected(&between->all, 0, distance);
}

static struct context *see_context(struct loci_between *between, uint32_t number)
{
	struct context *context = &between->context[number];

	if (!context->is_seen) {
		context->is_seen = true;
		context->touches = context->looks = 0;
		between->seen[between->n_seen++] = number;
	}
	return context;
}

static struct look *see_look(struct loci_between *between, size_t sample)
{
	struct look *look = &between->look[sample];

	if (!look->is_seen) {
		*look = (struct look){ .is_seen = true };
		between->looked[between->n_looked++] = sample;
	}
	return look;
}

/* A sample between a use and its reuse, which stands for so many of them there. */
static void see_sample(struct loci_between *between, const struct loci_weigh_outcome *around,
	size_t number, double times)
{
	const struct sample *sample = &between->sample[number];
	struct look *look = see_look(between, number);
	double touches = (double)around->distance - 1, left, part;
	const struct loci_weigh_outcome *outcome;

	look->times += times;
	see_context(between, sample->context)->looks += times;
	for (size_t i = 0; i < sample->n_shares; i++) {
		const struct share *share = &between->share[sample->share + i];

		see_context(between, share->context)->touches += times * (double)share->touches;
	}
	if (sample->outcome == NO_OUTCOME || !(touches > 0))
		return;
	outcome = &between->outcome[sample->outcome];
	left = (double)(around->to - sample->count) * (double)around->distance /
		(double)(around->to - around->from);
	part = outcome->distance < around->distance ? (double)(outcome->distance - 1) / touches : 1;
	look->part += times * outcome->weight *
		(part - expected_of(between, sample->context, around->distance) / touches);
	look->place += times * outcome->weight * (((double)outcome->distance > left) - part);
}

static void see_stretch(
	struct loci_between *between, const struct loci_weigh_outcome *outcome, size_t looks)
{
	size_t from = samples_upto(between, outcome->thread, outcome->from);
	size_t to = samples_upto(between, outcome->thread, outcome->to - 1);
	size_t step = from < to ? (to - from + looks - 1) / looks : 1;

	for (size_t i = from + step / 2; i < to; i += step)
		see_sample(between, outcome, i, (double)step);
}

/* Returns the touches of all contexts; 0: there is no sample. */
static double see_pool(struct loci_between *between, const struct sought *sought, size_t n)
{
	size_t looks = POOL_LOOKS / n;
	double touches = 0;

	for (size_t i = 0; i < between->n_seen; i++)
		between->context[between->seen[i]].is_seen = false;
	for (size_t i = 0; i < between->n_looked; i++)
		between->look[between->looked[i]].is_seen = false;
	between->n_seen = between->n_looked = 0;
	if (looks > STRETCH_LOOKS)
		looks = STRETCH_LOOKS;
	if (looks < LEAST_LOOKS)
		looks = LEAST_LOOKS;
	for (size_t i = 0; i < n; i++)
		see_stretch(between, &between->outcome[sought[i].outcome], looks);
	for (size_t i = 0; i < between->n_seen; i++)
		touches += between->context[between->seen[i]].touches;
	return touches;
}

/* What StatStack expects of a pool's contexts. */
static double expected_between(
	const struct loci_between *between, double touches, uint64_t distance)
{
	double sum = 0;

	if (!(touches > 0))
		return loci_survival_expected(&between->all, 0, distance);
	for (size_t i = 0; i < between->n_seen; i++) {
		const struct context *context = &between->context[between->seen[i]];

		if (context->touches > 0)
			sum += context->touches / touches *
				expected_of(between, between->seen[i], distance);
	}
	return sum;
}

/* A sum that is more than chance makes of nothing. */
static double beyond_chance(double sum, double variance)
{
	return sum * sum > CHANCE * variance ? sum : 0;
}

/* Which part of the touches between the uses and reuses of a pool stay the last of their block,
 * more than their contexts' do in the whole run. Chance is what its samples show of it, or, if that
 * is more, what those of the whole run do: a few of great weight may be all that meets far reuses,
 * and not be among the pool's. */
static double more_between(const struct loci_between *between, double touches, uint64_t distance)
{
	struct loci_survival_chance seen = { 0 }, usual = { 0 };
	double part = 0, place = 0;

	for (size_t i = 0; i < between->n_looked; i++) {
		const struct look *look = &between->look[between->looked[i]];
		uint32_t number = between->sample[between->looked[i]].context;
		const struct context *context = &between->context[number];
		double samples = (double)context->samples;
		double mean = loci_survival_weight(&between->survival, number) / samples;
		struct loci_survival_chance chance;
		double times;

		if (!(mean > 0))
			continue;
		times = context->touches / touches / (mean * context->looks);
		part += times * look->part;
		place += times * look->place;
		seen.part += times * times * look->part * look->part;
		seen.place += times * times * look->place * look->place;
		chance = loci_survival_chance(&between->survival, number, distance);
		times *= look->times;
		usual.part += times * times * chance.part / samples;
		usual.place += times * times * chance.place / samples;
	}
	return beyond_chance(part, fmax(seen.part, usual.part)) +
		beyond_chance(place, fmax(seen.place, usual.place));
}

static void put(struct loci_weigh_outcome *outcome, double distance)
{
	double most = (double)outcome->distance - 1;

	outcome->distinct = (uint64_t)llround(fmax(0, fmin(distance, most))) + 1;
}

/* Those of one pool, by rising distance. What is expected of some is computed, of those between
 * them it is taken to lie on a line. */
static void find_pool(struct loci_between *between, const struct sought *sought, size_t n)
{
	double touches = see_pool(between, sought, n);
	double more = touches > 0 ? more_between(between, touches, sought[n / 2].distance) : 0;

	for (size_t from = 0, to; from < n; from = to + 1) {
		uint64_t low = sought[from].distance, high;
		double at_low, rise = 0;

		to = from + (n - 1) / POOL_LENGTHS;
		to = to < n ? to : n - 1;
		high = sought[to].distance;
		at_low = expected_between(between, touches, low);
		if (high > low)
			rise = (expected_between(between, touches, high) - at_low) /
				(double)(high - low);
		for (size_t i = from; i <= to; i++)
			put(&between->outcome[sought[i].outcome],
				at_low + rise * (double)(sought[i].distance - low) +
					more * (double)(sought[i].distance - 1));
	}
}

static int by_pool(const void *left, const void *right)
{
	const struct sought *a = left, *b = right;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return (a->outcome > b->outcome) - (a->outcome < b->outcome);
}

static bool is_sought(const struct loci_weigh_outcome *outcome)
{
	return outcome->distance != LOCI_INFINITE && !outcome->distinct &&
		outcome->to > outcome->from;
}

int loci_between_find(struct loci_between *between, const struct loci_weigh_result *result)
{
	struct loci_weigh_outcome *outcome = result->outcome;
	size_t n = result->n, n_sought = 0;
	loci_autofree struct sought *sought = calloc(n + 1, sizeof(*sought));

	between->outcome = outcome;
	if (!sought || take_outcomes(between, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n && between->all.n; i++) {
		struct sought *one = &sought[n_sought];

		if (!is_sought(&outcome[i]))
			continue;
		if (number_of(between, outcome[i].context, &one->context) < 0)
			return -ENOMEM;
		one->length = 64 - (uint32_t)__builtin_clzll((outcome[i].to - outcome[i].from) | 1);
		one->distance = outcome[i].distance;
		one->outcome = i;
		n_sought++;
	}
	if (between->n_samples)
		qsort(between->sample, between->n_samples, sizeof(*between->sample), by_place);
	qsort(sought, n_sought, sizeof(*sought), by_pool);
	for (size_t from = 0, to; from < n_sought; from = to) {
		for (to = from + 1; to < n_sought; to++)
			if (sought[to].context != sought[from].context ||
				sought[to].length != sought[from].length)
				break;
		find_pool(between, &sought[from], to - from);
	}
	return 0;
}
