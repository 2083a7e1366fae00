/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of a watching collector: samples that were opened, evicted and fired, and how many
 * references threads counted. They become a histogram of time distances.
 *
 * A sample is a reference, which stands for those of the gap before it, and watched is one of the
 * blocks that it touches, which stands for all of these. Time distances are in touches: counted
 * while samples were followed, and otherwise references times the touches that those took which
 * were followed (touch_clock.h). */
#ifndef LOCI_ANALYSE_WATCH_EVENTS_H
#define LOCI_ANALYSE_WATCH_EVENTS_H

#include "analyse/between.h"
#include "analyse/sample_sum.h"
#include "analyse/watch_log.h"
#include "analyse/weigh.h"
#include "stream/decode.h"

/* What is known of a sample beside its weight. */
struct loci_watch_sample {
	uint32_t thread;
	double gap;
	uint64_t blocks;
	bool is_write, is_bulk;
};

struct loci_watch_thread {
	uint32_t id;
	uint64_t references, ended; /* counted so far; by those of its number that have ended */
	bool is_over;               /* what is told of its samples after that is not news */
};

struct loci_watch_events {
	struct loci_watch_log log; /* of samples, until the last one has come; then: */
	struct loci_weigh *weigh;
	struct loci_between *between;
	struct loci_touch_clock clock;
	struct loci_watch_sample *sample; /* outcomes' use is the number here */
	size_t n_samples, sample_cap;
	uint64_t n_fires; /* outcomes' reuse is the number among them */
	struct loci_watch_thread *thread;
	size_t n_threads, thread_cap;
	struct loci_weigh_result result; /* in the end .. */
	double scale;                    /* .. and what its weights are to be multiplied by */
	int failed;                      /* -errno of what an event could not be heard for */
};

/* As loci_weigh_new. */
int loci_watch_events_init(struct loci_watch_events *watched, enum loci_weighting weighting,
	uint64_t burst_refs, struct loci_err *err);
void loci_watch_events_fini(struct loci_watch_events *watched);
/* SAMPLE_*, COUNT and THREAD_EXIT; others are nothing to it. */
void loci_watch_events_event(struct loci_watch_events *watched, const struct loci_event *event);
/* After the last one: what is known better of reuses (loci_weigh_recount). */
void loci_watch_events_recount(
	struct loci_watch_events *watched, const struct loci_weigh_count *counts, size_t n);
/* After that. sum is initialised. */
int loci_watch_events_finish(
	struct loci_watch_events *watched, struct loci_sample_sum *sum, struct loci_err *err);

#endif
