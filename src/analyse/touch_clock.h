/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From references to touches where only references were counted: by how many blocks the references
 * around samples touched. What a sample saw stands for the references of the gap before it, so that
 * a stretch of a thread has the mean of its samples. Where only references after samples are told
 * it may be off by a hundredth or two, since samples are followed until their reuse: good for
 * distances, not for totals. */
#ifndef LOCI_ANALYSE_TOUCH_CLOCK_H
#define LOCI_ANALYSE_TOUCH_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct loci_touch_clock_mark {
	uint32_t thread;
	uint64_t count;       /* references of the thread so far */
	double refs, touches; /* that it stands for; once settled, with all marks before it */
};

struct loci_touch_clock {
	struct loci_touch_clock_mark *mark;
	size_t n, cap;
	double rate, spread; /* of all, and how far samples are from it; once settled */
};

void loci_touch_clock_fini(struct loci_touch_clock *clock);
/* A sample of the thread: gap references before it, and touches per reference around it. 0 or
 * -ENOMEM. */
int loci_touch_clock_add(
	struct loci_touch_clock *clock, uint32_t thread, uint64_t count, double gap, double rate);
/* After the last one. */
void loci_touch_clock_settle(struct loci_touch_clock *clock);
/* After one count of a thread, up to another: what the samples there stand for. None: both are 0.
 */
void loci_touch_clock_between(const struct loci_touch_clock *clock, uint32_t thread, uint64_t after,
	uint64_t upto, double *ret_refs, double *ret_touches);
/* Touches per reference around the thread's sample at this count; 0: there is none. */
double loci_touch_clock_at(const struct loci_touch_clock *clock, uint32_t thread, uint64_t count);
/* References that a sample stands for, in the mean. */
double loci_touch_clock_gap(const struct loci_touch_clock *clock);

#endif
