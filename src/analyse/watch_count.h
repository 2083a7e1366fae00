/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a watch met its block: the thread's count of references, which its code keeps in a register
 * or in its frame, as far as debug information says where (symbol/budget.c). */
#ifndef LOCI_ANALYSE_WATCH_COUNT_H
#define LOCI_ANALYSE_WATCH_COUNT_H

#include "analyse/weigh.h"

struct loci_attribution;
struct loci_event;

struct loci_watch_counts {
	struct loci_weigh_count *count; /* by reuse, ascending */
	size_t n, cap;
	uint64_t *told; /* of reuses whose counts have not been asked for yet */
	size_t n_told, told_cap;
};

/* Of FIRE, the reuse of that number. 0 or -ENOMEM. */
int loci_watch_counts_fire(
	struct loci_watch_counts *counts, const struct loci_event *event, uint64_t reuse);
/* Asks for the counts of all that were told. */
int loci_watch_counts_settle(
	struct loci_watch_counts *counts, struct loci_attribution *a, struct loci_err *err);
void loci_watch_counts_fini(struct loci_watch_counts *counts);

#endif
