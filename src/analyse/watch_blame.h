/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose the uses and reuses of watched samples are: site, object, calling context. The collector
 * tells the site of a use and, if it was followed, of the reuse; a watch tells an address of code,
 * which is the site in its line (symbol/cc_reference.c). Calls come as return addresses (STACK),
 * from which contexts are made as where functions tell of their entry: nodes are functions that
 * were compiled to be watched, those in between are not seen.
 *
 * What is found goes to the rows, contexts and pairs of the attribution, as if it had been
 * measured: a distance is the reuse's, what is never reused is the use's. Stack distances are those
 * that were counted or that samples in between tell of (analyse/between.h), or else what StatStack
 * expects of the time distance in the whole process. */
#ifndef LOCI_ANALYSE_WATCH_BLAME_H
#define LOCI_ANALYSE_WATCH_BLAME_H

#include "analyse/spread.h"
#include "analyse/watch_count.h"
#include "analyse/watch_events.h"

struct loci_attribution;
struct loci_watch_blame;

int loci_watch_blame_new(bool writes_only, struct loci_watch_blame **ret, struct loci_err *err);
void loci_watch_blame_free(struct loci_watch_blame *blame); /* NULL allowed */

/* A marker of the stream, before anything is done about it, and before memory changes by it. */
int loci_watch_blame_before(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_event *event, struct loci_err *err);
int loci_watch_blame_event(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_event *event, struct loci_err *err);
/* The stream has ended: asks the symbols. */
int loci_watch_blame_end(
	struct loci_watch_blame *blame, struct loci_attribution *a, struct loci_err *err);
/* After that: what they are known to have counted. */
const struct loci_watch_counts *loci_watch_blame_counts(const struct loci_watch_blame *blame);
/* The samples have ended, too, which are the same. */
int loci_watch_blame_finish(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_watch_events *watched, const struct loci_sample_sum *sum,
	struct loci_err *err);

/* After that: time distances by row and by context. */
struct loci_watch_times {
	struct loci_spread rows, contexts;
};
const struct loci_watch_times *loci_watch_blame_times(const struct loci_watch_blame *blame);

#endif
