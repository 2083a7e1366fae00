/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Touches per reference between a use and its reuse. Samples within the stretch tell
 * (analyse/touch_clock.h), but there are few or none in most: those of all stretches that are about
 * as long tell together, if they begin where references touch about as many blocks, and more so if
 * they begin in the same context, for programs go round: what is as long from like code comes by
 * the same code. Of some there are few samples even so. Short stretches stay where they begin, and
 * have the rate that was seen there; long ones go round with the program, and have that of the run;
 * others have one of their own. Which of these it is, samples in all stretches within a power of
 * two say together. What a stretch's own samples say counts beside that as far as they are many. */
#ifndef LOCI_ANALYSE_STRETCH_H
#define LOCI_ANALYSE_STRETCH_H

#include "analyse/keymap.h"
#include "analyse/touch_clock.h"

struct loci_stretch {
	uint32_t thread;
	uint64_t context;  /* of the use */
	uint64_t from, to; /* references of the thread: of a sample, and later */
};

enum loci_stretch_way { LOCI_STRETCH_STAYS, LOCI_STRETCH_GOES_ROUND, LOCI_STRETCH_OWN_WAY };
#define LOCI_STRETCH_WAYS    3
#define LOCI_STRETCH_OCTAVES 64

struct loci_stretch_kind {
	unsigned level, octave; /* how narrow it is; of lengths */
	double refs, touches;
	double begin; /* sum of touches per reference where they begin */
	size_t n;
};

struct loci_stretches {
	const struct loci_touch_clock *clock; /* settled; the caller's */
	struct loci_keymap numbers;
	struct loci_stretch_kind *kind;
	size_t n, cap;
	double odds[LOCI_STRETCH_OCTAVES]
		   [LOCI_STRETCH_WAYS]; /* by octave; once settled they add up to 1 */
};

void loci_stretches_init(struct loci_stretches *stretches, const struct loci_touch_clock *clock);
void loci_stretches_fini(struct loci_stretches *stretches);
/* 0 or -ENOMEM. */
int loci_stretches_add(struct loci_stretches *stretches, const struct loci_stretch *stretch);
/* After the last one. */
void loci_stretches_settle(struct loci_stretches *stretches);
/* Then: touches per reference of one of them. */
double loci_stretches_rate(
	const struct loci_stretches *stretches, const struct loci_stretch *stretch);

#endif
