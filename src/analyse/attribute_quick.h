/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions of blocks that need no more than most do. For the attribution's own files. */
#ifndef LOCI_ANALYSE_ATTRIBUTE_QUICK_H
#define LOCI_ANALYSE_ATTRIBUTE_QUICK_H

#include "analyse/attribute.h"
#include "stream/decode_runs.h"

/* Whether there may be such: the stream tells code addresses, blocks are of 64 bytes, and nothing
 * is asked for that needs to hear of every reference. */
static inline bool loci_attribution_is_quick(const struct loci_attribution *a)
{
	return a->recents && a->recent.n == LOCI_RECENT;
}

/* As many executions as follow and are such; the runs then stand before what comes next. */
int loci_attribution_quick(
	struct loci_attribution *a, struct loci_runs *runs, struct loci_err *err);

/* While no sample is open, as many executions as follow and only refer to memory. False: there are
 * no more; otherwise the one at hand is for others. */
bool loci_attribution_skip(struct loci_attribution *a, struct loci_runs *runs);

#endif
