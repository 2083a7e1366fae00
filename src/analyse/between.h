/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stack distances of reuses that a watch met, by the samples between use and reuse. The stack
 * distance of a reuse is the number of touches in between after which their block is not touched
 * again until the reuse. Samples are any touches, and of many it is known when their block came
 * next: the share of such touches among those in between is the stack distance over the time
 * distance. Nothing has to be alike throughout the run, as StatStack (hist/statstack.h) takes it to
 * be.
 *
 * One stretch between use and reuse has few samples or none. So those tell together that begin in
 * the same context and are about as long, for programs go round (as in analyse/stretch.h): a pool.
 * Whose the touches in between are, the references before its samples tell, and of each context
 * there what StatStack expects by that context's samples in the whole run. If the pool's own
 * samples met something else than their contexts' usually do, by more than chance makes of it, that
 * counts: how much later, and, where data is walked back and forth, that some are touched again
 * before the reuse and others not. A pool without samples has what StatStack expects of the run.
 *
 * How it is wrong: a stretch is taken to be like those that it is pooled with, and a difference
 * that might be chance to be none. What is found is exact where all samples say the same;
 * otherwise chance moves it, and a distance next to the size of a cache may come out on either
 * side. */
#ifndef LOCI_ANALYSE_BETWEEN_H
#define LOCI_ANALYSE_BETWEEN_H

#include "analyse/weigh.h"

struct loci_between;

int loci_between_new(struct loci_between **ret, struct loci_err *err);
void loci_between_free(struct loci_between *between); /* NULL allowed */
/* Samples in the order of their numbers, which are outcomes' uses. 0 or -ENOMEM. */
int loci_between_add(struct loci_between *between, const struct loci_weigh_sample *sample);
/* After the last one, once: fills in what is not known of stack distances. 0 or -ENOMEM. */
int loci_between_find(struct loci_between *between, const struct loci_weigh_result *result);

#endif
