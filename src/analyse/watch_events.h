/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of a watching collector: samples that were opened, evicted and fired, and how many
 * references there were. They become a histogram of time distances. */
#ifndef LOCI_ANALYSE_WATCH_EVENTS_H
#define LOCI_ANALYSE_WATCH_EVENTS_H

#include "analyse/sample_sum.h"
#include "analyse/weigh.h"
#include "stream/decode.h"

struct loci_watch_events {
	struct loci_weigh *weigh;
	uint64_t references;
	int failed; /* -errno of what an event could not be heard for */
};

int loci_watch_events_init(
	struct loci_watch_events *watched, enum loci_weighting weighting, struct loci_err *err);
void loci_watch_events_fini(struct loci_watch_events *watched);
/* SAMPLE_* and COUNT; others are nothing to it. */
void loci_watch_events_event(struct loci_watch_events *watched, const struct loci_event *event);
/* After the last one. sum is initialised. */
int loci_watch_events_finish(
	struct loci_watch_events *watched, struct loci_sample_sum *sum, struct loci_err *err);

#endif
