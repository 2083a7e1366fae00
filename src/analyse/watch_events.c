// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/watch_events.h"

#include "analyse/donors.h"
#include "analyse/grow.h"

#include <math.h>

/* References, and blocks of one: more are of damaged files. */
#define MOST_GAP    0x1p48
#define MOST_BLOCKS (1ull << 48)

enum { FIRE_WORDS = LOCI_FIRE_DISTINCT + 1 }; /* of SAMPLE_FIRE that are looked at */

int loci_watch_events_init(struct loci_watch_events *watched, enum loci_weighting weighting,
	uint64_t burst_refs, struct loci_err *err)
{
	int r;

	*watched = (struct loci_watch_events){ 0 };
	r = loci_between_new(&watched->between, err);
	return r < 0 ? r : loci_weigh_new(weighting, burst_refs, &watched->weigh, err);
}

void loci_watch_events_fini(struct loci_watch_events *watched)
{
	loci_watch_log_fini(&watched->log);
	loci_weigh_free(watched->weigh);
	watched->weigh = NULL;
	loci_between_free(watched->between);
	watched->between = NULL;
	loci_touch_clock_fini(&watched->clock);
	free(watched->sample);
	free(watched->thread);
}

/* A raw word that may be absent, or 0. */
static uint64_t word(const struct loci_event *event, unsigned i, uint64_t otherwise)
{
	return event->n_raw > i && event->raw[i] ? event->raw[i] : otherwise;
}

static struct loci_watch_thread *thread_of(struct loci_watch_events *watched, uint32_t id)
{
	for (size_t i = watched->n_threads; i-- > 0;)
		if (watched->thread[i].id == id)
			return &watched->thread[i];
	if (loci_grow(&watched->thread, &watched->thread_cap, watched->n_threads + 1,
		    sizeof(*watched->thread)) < 0)
		return NULL;
	watched->thread[watched->n_threads] = (struct loci_watch_thread){ .id = id };
	return &watched->thread[watched->n_threads++];
}

/* The thread has at least so many references. Samples stand in the process's ring, which may be
 * read later than the thread's own. */
static int count(struct loci_watch_events *watched, uint32_t id, uint64_t references)
{
	struct loci_watch_thread *thread = thread_of(watched, id);

	if (!thread)
		return -ENOMEM;
	if (!thread->is_over && thread->references < references)
		thread->references = references;
	return 0;
}

static uint32_t watch_of(uint64_t raw)
{
	if (raw >= LOCI_WATCHES && raw != LOCI_WATCH_BURST)
		return LOCI_WATCH_NONE;
	return (uint32_t)raw;
}

/* Returns how many shares there are: 0, if references around the sample are not told of. */
static size_t shares_of(const struct loci_event *event, double gap, struct loci_weigh_share *ret)
{
	uint64_t around = word(event, LOCI_OPEN_AROUND, 0);
	size_t n = 0;

	for (unsigned i = LOCI_OPEN_AROUND + 1; around && i + 1 < event->n_raw; i += 2)
		if (event->raw[i + 1])
			ret[n++] = (struct loci_weigh_share){ event->raw[i],
				gap * (double)event->raw[i + 1] / (double)around };
	return n;
}

/* By all shares. */
static double touches_of(const struct loci_weigh_share *share, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += share[i].base;
	return sum;
}

static bool is_part(const struct loci_event *event)
{
	return loci_ref_word_flags(event->raw[3]) & LOCI_REF_PARTS;
}

/* References that a sample stands for: of parts of a large one that is little of it. */
static double gap_of(const struct loci_event *event, uint64_t blocks)
{
	double mean = fmin((double)word(event, 6, 1), MOST_GAP);

	return is_part(event) ? mean / (double)blocks : mean;
}

/* Touches of large references are counted one by one, beside the others. */
static int tick(struct loci_watch_events *watched, const struct loci_event *event,
	const struct loci_watch_sample *sample, double rate)
{
	if (is_part(event))
		return 0;
	return loci_touch_clock_add(
		&watched->clock, sample->thread, event->raw[1], sample->gap, rate);
}

static uint32_t thread_told(const struct loci_event *event)
{
	return event->n_raw > 7 ? (uint32_t)event->raw[7] : event->thread;
}

static int open_sample(struct loci_watch_events *watched, const struct loci_event *event)
{
	uint64_t told = word(event, 8, 1);
	uint64_t blocks = told < 1 ? 1 : told < MOST_BLOCKS ? told : MOST_BLOCKS;
	const struct loci_watch_sample sample = { .thread = thread_told(event),
		.gap = gap_of(event, blocks),
		.blocks = blocks,
		.is_write = loci_ref_word_op(event->raw[3]) == LOCI_OP_STORE,
		.is_bulk = loci_ref_word_flags(event->raw[3]) & LOCI_REF_BULK };
	struct loci_weigh_share share[UINT8_MAX / 2];
	const struct loci_weigh_sample weighed = { .id = event->payload,
		.count = event->raw[1],
		.context = event->raw[2],
		.watch = watch_of(event->raw[4]),
		.thread = sample.thread,
		.base = sample.gap * (double)sample.blocks,
		.use = watched->n_samples,
		.followed = word(event, 10, 0),
		.at_once = is_part(event),
		.share = share,
		.n_shares = shares_of(event, sample.gap, share) };
	uint64_t followed = word(event, 9, 0);
	double rate = followed && event->n_raw > 10 ? (double)event->raw[10] / (double)followed
						    : (double)sample.blocks;

	if (weighed.n_shares)
		rate = touches_of(share, weighed.n_shares) / sample.gap;

	if (loci_grow_little(&watched->sample, &watched->sample_cap, watched->n_samples + 1,
		    sizeof(*watched->sample)) < 0 ||
		tick(watched, event, &sample, rate) < 0 ||
		loci_between_add(watched->between, &weighed) < 0)
		return -ENOMEM;
	watched->sample[watched->n_samples++] = sample;
	return loci_weigh_open(watched->weigh, &weighed, NULL);
}

static int fire(struct loci_watch_events *watched, const struct loci_event *event)
{
	bool is_counted = event->raw[3] && !is_part(event); /* by the touch */
	const struct loci_weigh_reuse reuse = { .count = event->raw[1],
		.touches = is_counted ? word(event, 6, 0) : 0,
		.in_parts = is_counted ? 0 : word(event, 6, 0),
		.distinct =
			event->n_raw >= LOCI_FIRE_MEMORY ? 0 : word(event, LOCI_FIRE_DISTINCT, 0),
		.thread = (uint32_t)event->raw[4],
		.reuse = watched->n_fires++,
		.off = word(event, 7, 0) };

	return loci_weigh_fire(watched->weigh, event->payload, &reuse, NULL);
}

/* Another may have its number from here on. */
static int end_thread(struct loci_watch_events *watched, uint32_t id)
{
	struct loci_watch_thread *thread = thread_of(watched, id);

	if (!thread)
		return -ENOMEM;
	thread->ended += thread->references;
	thread->references = 0;
	thread->is_over = true;
	return 0;
}

static int begin_thread(struct loci_watch_events *watched, uint32_t id)
{
	struct loci_watch_thread *thread = thread_of(watched, id);

	if (!thread)
		return -ENOMEM;
	thread->is_over = false;
	return 0;
}

static int keep_open(struct loci_watch_events *watched, const struct loci_event *event)
{
	int r = count(watched, thread_told(event), event->raw[1]);

	return r < 0 ? r : loci_watch_log_add(&watched->log, event, event->n_raw);
}

void loci_watch_events_event(struct loci_watch_events *watched, const struct loci_event *event)
{
	int r = 0;

	switch (event->kind) {
	case LOCI_MARK_SAMPLE_OPEN:
		r = keep_open(watched, event);
		break;
	case LOCI_MARK_SAMPLE_EVICT:
	case LOCI_MARK_SAMPLE_LOT:
	case LOCI_MARK_SAMPLE_FIRE:
		r = loci_watch_log_add(&watched->log, event, FIRE_WORDS);
		break;
	case LOCI_MARK_COUNT:
		r = count(watched, event->thread, event->raw[0]);
		break;
	case LOCI_MARK_THREAD_START:
		r = begin_thread(watched, (uint32_t)event->payload);
		break;
	case LOCI_MARK_THREAD_EXIT:
		r = end_thread(watched, (uint32_t)event->payload);
		break;
	default:
		break;
	}
	if (r < 0)
		watched->failed = r;
}

static int hear(void *data, const struct loci_event *event)
{
	struct loci_watch_events *watched = data;

	switch (event->kind) {
	case LOCI_MARK_SAMPLE_OPEN:
		return open_sample(watched, event);
	case LOCI_MARK_SAMPLE_EVICT:
		return loci_weigh_evict(
			watched->weigh, event->payload, event->raw[0], event->raw[1], NULL);
	case LOCI_MARK_SAMPLE_LOT:
		return loci_weigh_lot(watched->weigh, event->payload, event->raw[0], event->raw[1],
			event->raw[2] != 0, NULL);
	default:
		return fire(watched, event);
	}
}

static void hear_all(struct loci_watch_events *watched)
{
	int r = loci_watch_log_replay(&watched->log, hear, watched);

	if (r < 0)
		watched->failed = r;
}

void loci_watch_events_recount(
	struct loci_watch_events *watched, const struct loci_weigh_count *counts, size_t n)
{
	hear_all(watched);
	loci_weigh_recount(watched->weigh, counts, n);
}

/* What samples say of all references. Touches are those of samples, which are any references, and
 * not of what followed them: how long they were followed depends on what followed. */
static void add_samples(const struct loci_watch_events *watched, struct loci_sample_sum *sum)
{
	double gaps = 0, writes = 0, straddles = 0, stores = 0;

	for (size_t i = 0; i < watched->n_samples; i++) {
		const struct loci_watch_sample *sample = &watched->sample[i];

		gaps += sample->gap;
		stores += sample->is_write ? sample->gap : 0;
		writes += sample->is_write ? sample->gap * (double)sample->blocks : 0;
		straddles += sample->blocks > 1 && !sample->is_bulk ? sample->gap : 0;
		if (sum->last_mean < (uint64_t)sample->gap)
			sum->last_mean = (uint64_t)sample->gap;
	}
	if (!(gaps > 0))
		return;
	sum->touches = (double)sum->references * watched->result.touches / gaps;
	sum->stores = (double)sum->references * stores / gaps;
	sum->straddles = (double)sum->references * straddles / gaps;
	sum->writes = sum->touches * writes / watched->result.base;
}

static int add_outcome(
	struct loci_sample_sum *sum, const struct loci_weigh_outcome *outcome, double weight)
{
	sum->weight += weight;
	if (!outcome->is_borrowed) {
		sum->in_burst += outcome->in_burst;
		sum->never += outcome->distance == LOCI_INFINITE;
		sum->by_watch += outcome->distance != LOCI_INFINITE && !outcome->in_burst;
		sum->by_time += outcome->is_rough;
	}
	if (outcome->distance == LOCI_INFINITE) {
		sum->time.cold += weight;
		return 0;
	}
	if (outcome->remote && loci_hist_add(&sum->time_remote, outcome->distance, weight) < 0)
		return -ENOMEM;
	if (outcome->distinct &&
		(loci_hist_add(&sum->near, outcome->distinct - 1, weight) < 0 ||
			loci_hist_add(&sum->near_time, outcome->distance, weight) < 0))
		return -ENOMEM;
	return loci_hist_add(&sum->time, outcome->distance, weight);
}

int loci_watch_events_finish(
	struct loci_watch_events *watched, struct loci_sample_sum *sum, struct loci_err *err)
{
	struct loci_weigh_result *result = &watched->result;
	size_t n_threads = 0;
	double all = 0;

	hear_all(watched);
	loci_touch_clock_settle(&watched->clock);
	if (watched->failed ||
		loci_weigh_finish(watched->weigh, &watched->clock, result, err) < 0 ||
		loci_donors_fill(result) < 0 || loci_between_find(watched->between, result) < 0)
		return loci_err_nomem(err);
	for (size_t i = 0; i < watched->n_threads; i++) {
		struct loci_watch_thread *thread = &watched->thread[i];

		thread->references += thread->ended;
		thread->ended = 0;
		sum->references += thread->references;
		n_threads += thread->references > 0;
	}
	sum->threads = n_threads > 1;
	sum->samples = result->samples;
	sum->lost = result->pooled;
	sum->abandoned = result->abandoned;
	add_samples(watched, sum);
	sum->unknown = result->unknown * sum->touches;
	for (size_t i = 0; i < result->n; i++)
		all += result->outcome[i].weight;
	watched->scale = all > 0 ? sum->touches / all : 0;
	if (result->effective > 0)
		sum->square += sum->touches * sum->touches / result->effective;
	for (size_t i = 0; i < result->n; i++)
		if (add_outcome(sum, &result->outcome[i],
			    result->outcome[i].weight * watched->scale) < 0)
			return loci_err_nomem(err);
	return 0;
}
