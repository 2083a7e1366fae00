// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples stand in the process's ring, memory is told in the threads': a sample that says how many
 * events of memory there were before it waits until these have come. */
#include "analyse/watch_blame.h"

#include "analyse/attribute.h"
#include "analyse/grow.h"
#include "analyse/watch_place.h"
#include "base/cleanup.h"
#include "hist/statstack.h"

#include <math.h>

/* A use or reuse. */
struct place {
	struct loci_watch_code code;
	struct loci_watch_site site; /* until the object is known, of whichever */
	uint64_t address, frame;
	uint32_t row, context, epoch;
	uint64_t after; /* events of memory; 0: all that came before it in the stream */
};

struct places {
	struct place *place;
	size_t n, cap;
	size_t sought; /* up to here the objects are known */
};

struct loci_watch_blame {
	bool writes_only;
	struct places use, reuse;
	struct place *calls; /* whose return addresses may follow; NULL: nobody's */
	struct loci_watch_site called;
	uint64_t *back;
	size_t n_back, back_cap;
	struct loci_watch_places *known;
	struct loci_watch_counts counts; /* of reuses, by their number */
	struct loci_watch_times times;
};

int loci_watch_blame_new(bool writes_only, struct loci_watch_blame **ret, struct loci_err *err)
{
	struct loci_watch_blame *blame = calloc(1, sizeof(*blame));

	if (!blame || loci_watch_places_new(&blame->known) < 0) {
		free(blame);
		return loci_err_nomem(err);
	}
	blame->writes_only = writes_only;
	*ret = blame;
	return 0;
}

void loci_watch_blame_free(struct loci_watch_blame *blame)
{
	if (!blame)
		return;
	free(blame->use.place);
	free(blame->reuse.place);
	free(blame->back);
	loci_watch_places_free(blame->known);
	loci_watch_counts_fini(&blame->counts);
	loci_spread_fini(&blame->times.rows);
	loci_spread_fini(&blame->times.contexts);
	free(blame);
}

const struct loci_watch_times *loci_watch_blame_times(const struct loci_watch_blame *blame)
{
	return &blame->times;
}

/* The number of an event of memory or of what lies there; 0: it is none. */
static uint64_t sequence_of(const struct loci_event *event)
{
	switch (event->kind) {
	case LOCI_MARK_ALLOC:
	case LOCI_MARK_FREE:
	case LOCI_MARK_OBJECT:
	case LOCI_MARK_OBJECT_END:
		return event->raw[1];
	case LOCI_MARK_RESIZE:
	case LOCI_MARK_MAP:
	case LOCI_MARK_UNMAP:
	case LOCI_MARK_OBJECT_PART:
		return event->raw[2];
	case LOCI_MARK_MODULE_LOAD:
		return event->raw[4];
	case LOCI_MARK_MODULE_UNLOAD:
		return event->raw[0];
	default:
		return 0;
	}
}

/* The row of a place: its site's references to the object that the address is in now. */
static int seek(struct loci_watch_blame *blame, struct loci_attribution *a, struct place *place,
	struct loci_err *err)
{
	struct loci_shadow_frame frame = {
		.address = place->frame, .entry = place->site.code, .module = place->site.module
	};
	struct loci_shadow shadow = { .frame = &frame, .n = place->frame && place->site.code };
	struct loci_object_hit hit = { 0 };
	uint64_t offset;
	int r;

	r = loci_objects_find(a->objects, place->address, place->site.address, &shadow, &hit, err);
	place->code.object = hit.object;
	if (r == 0)
		r = loci_watch_site(blame->known, a, &place->code, &place->site, err);
	if (r < 0)
		return r;
	if (loci_rows_reserve(&a->rows, a->code.n_sites) < 0)
		return loci_err_nomem(err);
	offset = place->address - (hit.framed ? place->frame : 0) - hit.low;
	if (!hit.bytes && !offset)
		offset = LOCI_NO_OFFSET;
	hit.serial = NULL; /* the next one asks again */
	if (loci_rows_move(&a->rows, place->site.number, &hit, offset, 0) < 0)
		return loci_err_nomem(err);
	place->row = a->rows.site[place->site.number].row;
	place->epoch = loci_objects_epoch(a->objects, place->address);
	return 0;
}

/* Those that wait for no more than the events before this number; 0: all. */
static int seek_due(struct loci_watch_blame *blame, struct places *places,
	struct loci_attribution *a, uint64_t number, struct loci_err *err)
{
	int r = 0;

	for (; r == 0 && places->sought < places->n; places->sought++) {
		struct place *place = &places->place[places->sought];

		if (number && place->after >= number)
			break;
		r = seek(blame, a, place, err);
	}
	return r;
}

/* All return addresses have come. */
static int end_calls(
	struct loci_watch_blame *blame, struct loci_attribution *a, struct loci_err *err)
{
	struct place *place = blame->calls;
	int r = 0;

	if (place)
		r = loci_watch_context(blame->known, a, &blame->called, blame->back, blame->n_back,
			&place->context, err);
	blame->calls = NULL;
	blame->n_back = 0;
	return r;
}

static int take_calls(struct loci_watch_blame *blame, const struct loci_event *event)
{
	if (!blame->calls)
		return 0;
	if (loci_grow(&blame->back, &blame->back_cap, blame->n_back + event->n_raw,
		    sizeof(*blame->back)) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < event->n_raw; i++)
		blame->back[blame->n_back++] = event->raw[i];
	return 0;
}

/* after: the raw word that may say it. */
static int take_place(struct loci_watch_blame *blame, struct loci_attribution *a,
	struct places *places, const struct loci_event *event, unsigned after, struct loci_err *err)
{
	struct place place = { .code = { .address = event->raw[2],
				       .descriptor = event->raw[3],
				       .writes_only = blame->writes_only },
		.address = event->raw[0],
		.frame = event->raw[5],
		.after = event->n_raw > after ? event->raw[after] : 0 };
	int r = loci_watch_site(blame->known, a, &place.code, &place.site, err);

	if (r < 0)
		return r;
	if (loci_grow(&places->place, &places->cap, places->n + 1, sizeof(place)) < 0)
		return loci_err_nomem(err);
	places->place[places->n++] = place;
	blame->calls = &places->place[places->n - 1];
	blame->called = place.site;
	return place.after ? 0 : seek_due(blame, places, a, 1, err);
}

/* What threads say of memory may come between a sample and its return addresses, which are read
 * while they are written. Code is to be looked up before it changes. */
static bool ends_calls(enum loci_marker kind)
{
	return kind == LOCI_MARK_SAMPLE_OPEN || kind == LOCI_MARK_SAMPLE_FIRE ||
		kind == LOCI_MARK_MODULE_LOAD || kind == LOCI_MARK_MODULE_UNLOAD;
}

int loci_watch_blame_event(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_event *event, struct loci_err *err)
{
	uint64_t number = sequence_of(event);
	int r = 0;

	if (event->kind == LOCI_MARK_STACK)
		return take_calls(blame, event) < 0 ? loci_err_nomem(err) : 0;
	if (ends_calls(event->kind))
		r = end_calls(blame, a, err);
	if (r == 0 && number)
		r = seek_due(blame, &blame->use, a, number, err);
	if (r == 0 && number)
		r = seek_due(blame, &blame->reuse, a, number, err);
	if (r < 0)
		return r;
	if (event->kind == LOCI_MARK_SAMPLE_OPEN)
		return take_place(blame, a, &blame->use, event, 11, err);
	if (event->kind == LOCI_MARK_SAMPLE_FIRE)
		r = loci_watch_counts_fire(&blame->counts, a, event, blame->reuse.n, err);
	if (r == 0 && event->kind == LOCI_MARK_SAMPLE_FIRE)
		return take_place(blame, a, &blame->reuse, event, 8, err);
	return r;
}

const struct loci_watch_counts *loci_watch_blame_counts(const struct loci_watch_blame *blame)
{
	return &blame->counts;
}

static uint64_t word_of(const struct place *place)
{
	return place->row | (uint64_t)place->context << LOCI_USE_CONTEXT |
		(uint64_t)(place->site.op == LOCI_OP_STORE) << LOCI_USE_WRITE;
}

static int credit(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_weigh_outcome *outcome, const struct loci_statstack *statstack,
	uint64_t touches)
{
	bool is_reused = outcome->distance != LOCI_INFINITE;
	const struct place *use = &blame->use.place[outcome->use];
	const struct place *by = is_reused ? &blame->reuse.place[outcome->reuse] : use;
	unsigned time = is_reused ? loci_spread_bin(outcome->distance) : LOCI_SPREAD_COLD;
	unsigned stack = LOCI_SPREAD_COLD;

	if (is_reused)
		stack = loci_spread_bin(outcome->distinct
				? outcome->distinct - 1
				: loci_statstack_distance(statstack, outcome->distance));
	if (loci_spread_add(&a->measure.rows, by->row, stack, touches) < 0 ||
		loci_spread_add(&a->measure.contexts, by->context, stack, touches) < 0 ||
		loci_spread_add(&blame->times.rows, by->row, time, touches) < 0 ||
		loci_spread_add(&blame->times.contexts, by->context, time, touches) < 0)
		return -ENOMEM;
	if (!is_reused || a->options->pairs == LOCI_PAIRS_NONE)
		return 0;
	return loci_pairs_add_many(&a->measure.pairs, word_of(use), word_of(by),
		use->epoch != by->epoch, stack, touches);
}

static int reserve(struct loci_watch_blame *blame, struct loci_attribution *a)
{
	if (loci_spread_reserve(&a->measure.rows, a->rows.n) < 0 ||
		loci_spread_reserve(&a->measure.contexts, a->walk.contexts.n) < 0 ||
		loci_spread_reserve(&blame->times.rows, a->rows.n) < 0)
		return -ENOMEM;
	return loci_spread_reserve(&blame->times.contexts, a->walk.contexts.n);
}

/* References are known of all samples, distances of those that were watched to their end. */
static int add_up(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_watch_events *watched, const struct loci_sample_sum *sum)
{
	loci_cleanup(loci_statstack_fini) struct loci_statstack statstack;
	const struct loci_weigh_result *result = &watched->result;
	double gaps = 0;

	if (loci_statstack_init(&statstack, &sum->time) < 0 || reserve(blame, a) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < watched->n_samples; i++)
		gaps += watched->sample[i].gap;
	for (size_t i = 0; i < blame->use.n && i < watched->n_samples; i++) {
		double refs = watched->sample[i].gap * (double)sum->references / gaps;

		a->rows.row[blame->use.place[i].row].refs += (uint64_t)llround(refs);
		a->walk.contexts.node[blame->use.place[i].context].refs += (uint64_t)llround(refs);
	}
	for (size_t i = 0; i < result->n; i++)
		if (credit(blame, a, &result->outcome[i], &statstack,
			    (uint64_t)llround(result->outcome[i].weight * watched->scale)) < 0)
			return -ENOMEM;
	return 0;
}

int loci_watch_blame_finish(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_watch_events *watched, const struct loci_sample_sum *sum,
	struct loci_err *err)
{
	int r = end_calls(blame, a, err);

	if (r == 0)
		r = seek_due(blame, &blame->use, a, 0, err);
	if (r == 0)
		r = seek_due(blame, &blame->reuse, a, 0, err);
	if (r < 0)
		return r;
	return add_up(blame, a, watched, sum) < 0 ? loci_err_nomem(err) : 0;
}
