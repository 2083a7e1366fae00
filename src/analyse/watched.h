/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of a watching collector: samples that were opened, evicted and fired, and how many
 * references there were. They become a histogram of time distances. */
#ifndef LOCI_ANALYSE_WATCHED_H
#define LOCI_ANALYSE_WATCHED_H

#include "analyse/sample_sum.h"
#include "analyse/weigh.h"
#include "stream/decode.h"

struct loci_watched {
	struct loci_weigh *weigh;
	uint64_t references;
	int failed; /* -errno of what an event could not be heard for */
};

int loci_watched_init(
	struct loci_watched *watched, enum loci_weighting weighting, struct loci_err *err);
void loci_watched_fini(struct loci_watched *watched);
/* SAMPLE_* and COUNT; others are nothing to it. */
void loci_watched_event(struct loci_watched *watched, const struct loci_event *event);
/* After the last one. sum is initialised. */
int loci_watched_finish(
	struct loci_watched *watched, struct loci_sample_sum *sum, struct loci_err *err);

#endif
