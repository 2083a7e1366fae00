// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/watch_events.h"

int loci_watch_events_init(
	struct loci_watch_events *watched, enum loci_weighting weighting, struct loci_err *err)
{
	*watched = (struct loci_watch_events){ 0 };
	return loci_weigh_new(weighting, &watched->weigh, err);
}

void loci_watch_events_fini(struct loci_watch_events *watched)
{
	loci_weigh_free(watched->weigh);
	watched->weigh = NULL;
}

void loci_watch_events_event(struct loci_watch_events *watched, const struct loci_event *event)
{
	int r = 0;

	if (event->kind == LOCI_MARK_SAMPLE_OPEN) {
		const struct loci_weigh_sample sample = { .id = event->payload,
			.count = event->raw[1],
			.context = event->raw[2],
			.watch = event->raw[4] < LOCI_WATCH_BURST   ? (uint32_t)event->raw[4]
				: event->raw[4] == LOCI_WATCH_BURST ? LOCI_WATCH_BURST
								    : LOCI_WATCH_NONE };

		r = loci_weigh_open(watched->weigh, &sample, NULL);
	} else if (event->kind == LOCI_MARK_SAMPLE_FIRE) {
		r = loci_weigh_fire(
			watched->weigh, event->payload, event->raw[1], event->raw[2], NULL);
	} else if (event->kind == LOCI_MARK_COUNT) {
		watched->references = event->raw[0];
	}
	if (r < 0)
		watched->failed = r;
}

int loci_watch_events_finish(
	struct loci_watch_events *watched, struct loci_sample_sum *sum, struct loci_err *err)
{
	struct loci_weigh_result result;
	double all = 0, scale;

	if (watched->failed || loci_weigh_finish(watched->weigh, &result, err) < 0)
		return loci_err_nomem(err);
	for (size_t i = 0; i < result.n; i++)
		all += result.outcome[i].weight;
	sum->references = watched->references;
	sum->touches = (double)watched->references;
	sum->samples = result.samples;
	sum->lost = result.pooled;
	scale = all > 0 ? (double)watched->references / all : 0;
	for (size_t i = 0; i < result.n; i++) {
		const struct loci_weigh_outcome *outcome = &result.outcome[i];
		double weight = outcome->weight * scale;

		sum->weight += weight;
		sum->square += weight * weight;
		if (outcome->distance == LOCI_INFINITE)
			sum->time.cold += weight;
		else if (loci_hist_add(&sum->time, outcome->distance, weight) < 0)
			return loci_err_nomem(err);
	}
	return 0;
}
