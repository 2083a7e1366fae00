// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/stretch.h"

#include "analyse/grow.h"

#include <math.h>

/* How narrow kinds are, each within the one before but for what begins elsewhere in a context. */
enum level {
	OCTAVE, /* of lengths, that begin at about the same rate */
	PART,   /* of an octave */
	CONTEXT /* and from the same one */
};
#define LEVELS 3
/* Parts of an octave, of lengths and of rates where they begin. */
#define PARTS  4

/* In samples: what is wider tells of what is narrower. */
#define BEGIN_WORTH  1  /* of the octave */
#define OCTAVE_WORTH 2  /* of its part */
#define PART_WORTH   16 /* of a context's */
#define ALIKE_WORTH  32 /* of one stretch */

/* Before samples are heard. */
static const double odds_before[LOCI_STRETCH_WAYS] = { 4, 1, 1 };

void loci_stretches_init(struct loci_stretches *stretches, const struct loci_touch_clock *clock)
{
	*stretches = (struct loci_stretches){ .clock = clock };
}

void loci_stretches_fini(struct loci_stretches *stretches)
{
	loci_keymap_fini(&stretches->numbers);
	free(stretches->kind);
}

static uint64_t part_of(const struct loci_stretch *stretch)
{
	double length = fmax((double)(stretch->to - stretch->from), 1);

	return (uint64_t)fmin(PARTS * log2(length), PARTS * LOCI_STRETCH_OCTAVES - 1);
}

static double begin_of(const struct loci_stretches *stretches, const struct loci_stretch *stretch)
{
	double rate = loci_touch_clock_at(stretches->clock, stretch->thread, stretch->from);

	return rate > 0 ? rate : stretches->clock->rate;
}

static unsigned octave_of(const struct loci_stretch *stretch)
{
	return (unsigned)(part_of(stretch) / PARTS);
}

struct key {
	uint64_t of, length; /* level and length are one number */
};

static struct key key_of(const struct loci_stretches *stretches, const struct loci_stretch *stretch,
	enum level level)
{
	struct key key = { .length = part_of(stretch) * LEVELS + level };

	if (level == OCTAVE)
		key.length = octave_of(stretch) * LEVELS;
	key.of = level == CONTEXT ? stretch->context
				  : (uint64_t)llround(PARTS * log2(begin_of(stretches, stretch)));
	return key;
}

/* NULL: there is none. */
static struct loci_stretch_kind *kind_of(const struct loci_stretches *stretches,
	const struct loci_stretch *stretch, enum level level)
{
	struct key key = key_of(stretches, stretch, level);
	uint32_t at = loci_keymap_get(&stretches->numbers, key.of, key.length);

	return at != LOCI_KEYMAP_NONE ? &stretches->kind[at] : NULL;
}

static int add_kind(
	struct loci_stretches *stretches, const struct loci_stretch *stretch, enum level level)
{
	struct key key = key_of(stretches, stretch, level);

	if (loci_grow(&stretches->kind, &stretches->cap, stretches->n + 1,
		    sizeof(*stretches->kind)) < 0 ||
		loci_keymap_put(&stretches->numbers, key.of, key.length, (uint32_t)stretches->n) <
			0)
		return -ENOMEM;
	stretches->kind[stretches->n++] =
		(struct loci_stretch_kind){ .level = level, .octave = octave_of(stretch) };
	return 0;
}

int loci_stretches_add(struct loci_stretches *stretches, const struct loci_stretch *stretch)
{
	double refs, touches;

	loci_touch_clock_between(
		stretches->clock, stretch->thread, stretch->from, stretch->to, &refs, &touches);
	for (enum level level = OCTAVE; level <= CONTEXT; level++) {
		struct loci_stretch_kind *kind = kind_of(stretches, stretch, level);

		if (!kind) {
			if (add_kind(stretches, stretch, level) < 0)
				return -ENOMEM;
			kind = &stretches->kind[stretches->n - 1];
		}
		kind->refs += refs;
		kind->touches += touches;
		kind->begin += begin_of(stretches, stretch);
		kind->n++;
	}
	return 0;
}

static double begin_rate(const struct loci_stretch_kind *kind)
{
	return kind->begin / (double)kind->n;
}

/* Of being so far off, with this variance and but for a factor. */
static double log_likelihood(double off, double variance)
{
	return -off * off / (2 * variance);
}

/* What the samples of a kind say of its ways. One of its own may be anywhere, as far off as samples
 * are. */
static void hear(double odds[LOCI_STRETCH_WAYS], const struct loci_stretch_kind *kind,
	const struct loci_touch_clock *clock)
{
	double samples = kind->refs / loci_touch_clock_gap(clock);
	double one = clock->spread * clock->spread, mean = one / samples;
	double seen = kind->touches / kind->refs, from_begin = seen - begin_rate(kind);

	odds[LOCI_STRETCH_STAYS] += log_likelihood(from_begin, mean);
	odds[LOCI_STRETCH_GOES_ROUND] += log_likelihood(seen - clock->rate, mean);
	odds[LOCI_STRETCH_OWN_WAY] += log_likelihood(from_begin, mean + one) - log(samples + 1) / 2;
}

static void make_odds(double odds[LOCI_STRETCH_WAYS])
{
	double most = fmax(odds[0], fmax(odds[1], odds[2])), sum = 0;

	for (int way = 0; way < LOCI_STRETCH_WAYS; way++)
		sum += odds[way] = exp(odds[way] - most);
	for (int way = 0; way < LOCI_STRETCH_WAYS; way++)
		odds[way] /= sum;
}

void loci_stretches_settle(struct loci_stretches *stretches)
{
	const struct loci_touch_clock *clock = stretches->clock;

	for (int octave = 0; octave < LOCI_STRETCH_OCTAVES; octave++)
		for (int way = 0; way < LOCI_STRETCH_WAYS; way++)
			stretches->odds[octave][way] = log(odds_before[way]);
	for (size_t i = 0; i < stretches->n && clock->spread > 0; i++) {
		const struct loci_stretch_kind *kind = &stretches->kind[i];

		if (kind->level == OCTAVE && kind->refs > 0)
			hear(stretches->odds[kind->octave], kind, clock);
	}
	for (int octave = 0; octave < LOCI_STRETCH_OCTAVES; octave++)
		make_odds(stretches->odds[octave]);
}

/* Of a kind, where what is wider has a rate that is worth so many samples. */
static double narrowed(const struct loci_stretch_kind *kind, double rate, double worth, double gap)
{
	return (kind->touches + worth * gap * rate) / (kind->refs + worth * gap);
}

double loci_stretches_rate(
	const struct loci_stretches *stretches, const struct loci_stretch *stretch)
{
	const struct loci_touch_clock *clock = stretches->clock;
	const struct loci_stretch_kind *octave = kind_of(stretches, stretch, OCTAVE);
	const struct loci_stretch_kind *part = kind_of(stretches, stretch, PART);
	const struct loci_stretch_kind *context = kind_of(stretches, stretch, CONTEXT);
	double gap = loci_touch_clock_gap(clock), rate, begin;
	struct loci_stretch_kind own = { 0 };
	const double *odds;

	if (!(gap > 0) || !octave || !part || !context)
		return clock->rate;
	odds = stretches->odds[octave->octave];
	begin = begin_rate(part);
	rate = narrowed(octave, begin, BEGIN_WORTH, gap);
	rate = narrowed(part, rate, OCTAVE_WORTH, gap);
	rate = odds[LOCI_STRETCH_STAYS] * begin + odds[LOCI_STRETCH_GOES_ROUND] * clock->rate +
		odds[LOCI_STRETCH_OWN_WAY] * rate;
	rate = narrowed(context, rate, PART_WORTH, gap);
	loci_touch_clock_between(
		clock, stretch->thread, stretch->from, stretch->to, &own.refs, &own.touches);
	return narrowed(&own, rate, ALIKE_WORTH, gap);
}
