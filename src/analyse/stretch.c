// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/stretch.h"

#include "analyse/grow.h"

/* In samples: what all that are alike tell of one of them, and all of the run of those. */
#define ALIKE_WORTH 32
#define RUN_WORTH   2

void loci_stretches_init(struct loci_stretches *stretches, const struct loci_touch_clock *clock)
{
	*stretches = (struct loci_stretches){ .clock = clock };
}

void loci_stretches_fini(struct loci_stretches *stretches)
{
	loci_keymap_fini(&stretches->numbers);
	free(stretches->kind);
}

/* Which power of two its length is next to. */
static uint64_t length_of(const struct loci_stretch *stretch)
{
	return 64 - (uint64_t)__builtin_clzll((stretch->to - stretch->from) | 1);
}

int loci_stretches_add(struct loci_stretches *stretches, const struct loci_stretch *stretch)
{
	uint64_t length = length_of(stretch);
	uint32_t at = loci_keymap_get(&stretches->numbers, stretch->context, length);
	double refs, touches;

	loci_touch_clock_between(
		stretches->clock, stretch->thread, stretch->from, stretch->to, &refs, &touches);
	if (at == LOCI_KEYMAP_NONE) {
		at = (uint32_t)stretches->n;
		if (loci_grow(&stretches->kind, &stretches->cap, stretches->n + 1,
			    sizeof(*stretches->kind)) < 0 ||
			loci_keymap_put(&stretches->numbers, stretch->context, length, at) < 0)
			return -ENOMEM;
		stretches->kind[stretches->n++] = (struct loci_stretch_kind){ 0 };
	}
	stretches->kind[at].refs += refs;
	stretches->kind[at].touches += touches;
	return 0;
}

double loci_stretches_rate(
	const struct loci_stretches *stretches, const struct loci_stretch *stretch)
{
	const struct loci_touch_clock *clock = stretches->clock;
	uint32_t at = loci_keymap_get(&stretches->numbers, stretch->context, length_of(stretch));
	double gap = loci_touch_clock_gap(clock), rate = clock->rate, refs, touches;

	if (!(gap > 0))
		return rate;
	if (at != LOCI_KEYMAP_NONE)
		rate = (stretches->kind[at].touches + RUN_WORTH * gap * rate) /
			(stretches->kind[at].refs + RUN_WORTH * gap);
	loci_touch_clock_between(
		clock, stretch->thread, stretch->from, stretch->to, &refs, &touches);
	return (touches + ALIKE_WORTH * gap * rate) / (refs + ALIKE_WORTH * gap);
}
