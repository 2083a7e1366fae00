/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Touches per reference between a use and its reuse. Samples within the stretch tell
 * (analyse/touch_clock.h), but there are few or none in most: those of all stretches that begin in
 * the same context and are about as long tell together, for programs go round, and a context comes
 * by the same code again. What a stretch's own samples say counts beside that as far as they are
 * many. */
#ifndef LOCI_ANALYSE_STRETCH_H
#define LOCI_ANALYSE_STRETCH_H

#include "analyse/keymap.h"
#include "analyse/touch_clock.h"

struct loci_stretch {
	uint32_t thread;
	uint64_t context;  /* of the use */
	uint64_t from, to; /* references of the thread */
};

struct loci_stretch_kind {
	double refs, touches;
};

struct loci_stretches {
	const struct loci_touch_clock *clock; /* settled; the caller's */
	struct loci_keymap numbers;
	struct loci_stretch_kind *kind;
	size_t n, cap;
};

void loci_stretches_init(struct loci_stretches *stretches, const struct loci_touch_clock *clock);
void loci_stretches_fini(struct loci_stretches *stretches);
/* 0 or -ENOMEM. */
int loci_stretches_add(struct loci_stretches *stretches, const struct loci_stretch *stretch);
/* After the last one: touches per reference of one of them. */
double loci_stretches_rate(
	const struct loci_stretches *stretches, const struct loci_stretch *stretch);

#endif
