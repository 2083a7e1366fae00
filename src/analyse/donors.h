/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reuses that a watch met, by others of the same context that are equally far away, in references,
 * and were followed all the way (collect/runtime/watch_far.h): these have the touches and the
 * distinct blocks in between counted. Programs go round, so that the next turn of a loop is mostly
 * like the last one; and where distances are chance's, one of the same length is as good a draw as
 * any. A distance that was counted to a turn of the loop at its end is exact so, which decides
 * where it is next to the size of a cache. */
#ifndef LOCI_ANALYSE_DONORS_H
#define LOCI_ANALYSE_DONORS_H

#include "analyse/weigh.h"

/* Fills in distances and stack distances of outcomes that have a like one. 0 or -ENOMEM. */
int loci_donors_fill(const struct loci_weigh_result *result);

#endif
