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
};

/* Of FIRE, the reuse of that number. */
int loci_watch_counts_fire(struct loci_watch_counts *counts, struct loci_attribution *a,
	const struct loci_event *event, uint64_t reuse, struct loci_err *err);
void loci_watch_counts_fini(struct loci_watch_counts *counts);

#endif
