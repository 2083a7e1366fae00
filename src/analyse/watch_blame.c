// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples stand in the process's ring, memory is told in the threads': a sample that says how many
 * events of memory there were before it waits until these have come. */
#include "analyse/watch_blame.h"

#include "analyse/attribute.h"
#include "analyse/grow.h"
#include "analyse/watch_calls.h"
#include "analyse/watch_look.h"
#include "analyse/watch_place.h"
#include "base/cleanup.h"
#include "hist/statstack.h"

#include <math.h>

/* All that is wanted of it in the end. */
struct settled {
	uint32_t row, context, epoch;
	uint8_t op;
};

struct list {
	uint32_t *place;
	size_t n, cap;
	size_t sought; /* up to here the memory has been looked at */
};

struct loci_watch_blame {
	bool writes_only;
	size_t n;                      /* places */
	size_t gone;                   /* of these, the first, which are packed or settled; .. */
	struct loci_watch_look *place; /* .. the others, as they came */
	size_t cap;
	struct loci_watch_log packed; /* until the symbols are asked */
	struct settled *settled;      /* by place */
	size_t settled_cap;
	struct list use, reuse;
	uint64_t seen;  /* number of the last event that has one */
	uint32_t calls; /* place, plus one, whose return addresses may follow; 0: nobody's */
	struct loci_watch_calls back;
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
	free(blame->place);
	loci_watch_log_fini(&blame->packed);
	free(blame->settled);
	free(blame->use.place);
	free(blame->reuse.place);
	loci_watch_calls_fini(&blame->back);
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

static struct loci_watch_code code_of(
	const struct loci_watch_blame *blame, const struct loci_watch_look *place, uint32_t object)
{
	return (struct loci_watch_code){ .address = place->code,
		.descriptor = place->descriptor,
		.object = object,
		.writes_only = blame->writes_only };
}

/* The row of a place: its site's references to the object that the address was in. */
static int find_row(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_watch_site *site, const struct loci_watch_look *place,
	struct settled *ret, struct loci_err *err)
{
	struct loci_shadow_frame frame = {
		.address = place->frame, .entry = site->code, .module = site->module
	};
	struct loci_shadow shadow = { .frame = &frame, .n = place->frame && site->code };
	struct loci_object_hit hit = { 0 };
	struct loci_watch_code code;
	struct loci_watch_site at;
	uint64_t offset;
	int r;

	r = loci_objects_tell(
		a->objects, &place->look, place->address, site->address, &shadow, &hit, err);
	code = code_of(blame, place, hit.object);
	if (r == 0)
		r = loci_watch_site(blame->known, a, &code, &at, err);
	if (r < 0)
		return r;
	if (loci_rows_reserve(&a->rows, a->code.n_sites) < 0)
		return loci_err_nomem(err);
	offset = place->address - (hit.framed ? place->frame : 0) - hit.low;
	if (!hit.bytes && !offset)
		offset = LOCI_NO_OFFSET;
	hit.serial = NULL; /* the next one asks again */
	if (loci_rows_move(&a->rows, at.number, &hit, offset, 0) < 0)
		return loci_err_nomem(err);
	*ret = (struct settled){ .row = a->rows.site[at.number].row,
		.context = place->context,
		.epoch = place->epoch,
		.op = at.op };
	return 0;
}

/* Asks what can be asked by now. */
static int settle_place(struct loci_watch_blame *blame, struct loci_attribution *a,
	struct loci_watch_look *place, size_t number, struct loci_err *err)
{
	struct loci_watch_code code = code_of(blame, place, 0); /* .. of whichever object */
	struct loci_watch_site site;
	const uint64_t *back;
	size_t n;
	int r = loci_watch_site(blame->known, a, &code, &site, err);

	if (r == 0 && !place->is_named) {
		back = loci_watch_calls_list(&blame->back, place->calls, &n);
		r = loci_watch_context(blame->known, a, &site, back, n, &place->context, err);
		place->is_named = true;
	}
	if (r == 0 && place->is_sought) {
		r = find_row(blame, a, &site, place, &blame->settled[number], err);
		place->is_settled = true;
	}
	return r;
}

/* Those that nothing more is to be heard of take a third of the room. */
static int pack(struct loci_watch_blame *blame)
{
	size_t n = 0, all = blame->n - blame->gone;

	for (; n < all && blame->place[n].is_sought && blame->gone + n + 1 != blame->calls; n++)
		if (!blame->place[n].is_settled &&
			loci_watch_look_pack(&blame->packed, &blame->place[n], blame->gone + n) < 0)
			return -ENOMEM;
	if (n)
		memmove(blame->place, blame->place + n, (all - n) * sizeof(*blame->place));
	blame->gone += n;
	return 0;
}

struct settling {
	struct loci_watch_blame *blame;
	struct loci_attribution *a;
	struct loci_err *err;
};

static int settle_packed(void *data, const struct loci_event *event)
{
	struct settling *settling = data;
	struct loci_watch_look place = loci_watch_look_unpack(event);

	return settle_place(
		settling->blame, settling->a, &place, (size_t)event->payload, settling->err);
}

/* Debug information is opened here, and nowhere before. */
static int settle(struct loci_watch_blame *blame, struct loci_attribution *a, struct loci_err *err)
{
	struct settling settling = { blame, a, err };
	int r = loci_watch_counts_settle(&blame->counts, a, err);

	if (r == 0 &&
		loci_grow(&blame->settled, &blame->settled_cap, blame->n, sizeof(*blame->settled)) <
			0)
		r = loci_err_nomem(err);
	if (r == 0)
		r = loci_watch_log_replay(&blame->packed, settle_packed, &settling);
	for (size_t i = blame->gone; r == 0 && i < blame->n; i++)
		if (!blame->place[i - blame->gone].is_settled)
			r = settle_place(blame, a, &blame->place[i - blame->gone], i, err);
	return r;
}

/* Those that wait for no more than the events before this number; 0: all. */
static int seek_due(struct loci_watch_blame *blame, struct list *list, struct loci_attribution *a,
	uint64_t number, struct loci_err *err)
{
	int r = 0;

	for (; r == 0 && list->sought < list->n; list->sought++) {
		struct loci_watch_look *place =
			&blame->place[list->place[list->sought] - blame->gone];

		if (number && place->after >= number)
			break;
		r = loci_objects_look(a->objects, place->address, place->frame, &place->look, err);
		place->epoch = loci_objects_epoch(a->objects, place->address);
		place->is_sought = true;
	}
	return r;
}

/* All return addresses have come. */
static int end_calls(struct loci_watch_blame *blame, struct loci_err *err)
{
	int r = 0;

	if (blame->calls)
		r = loci_watch_calls_end(
			&blame->back, &blame->place[blame->calls - 1 - blame->gone].calls);
	blame->calls = 0;
	return r < 0 ? loci_err_nomem(err) : 0;
}

/* after: the raw word that may say it. */
static int take_place(struct loci_watch_blame *blame, struct loci_attribution *a, struct list *list,
	const struct loci_event *event, unsigned after, struct loci_err *err)
{
	const struct loci_watch_look place = { .code = event->raw[2],
		.descriptor = event->raw[3],
		.address = event->raw[0],
		.frame = event->raw[5],
		.after = event->n_raw > after ? event->raw[after] : 0 };

	if (blame->n == UINT32_MAX - 1)
		return loci_err_set(err, ENOMEM, "more than 2^32 samples");
	if ((blame->n - blame->gone == blame->cap && pack(blame) < 0) ||
		loci_grow(&blame->place, &blame->cap, blame->n - blame->gone + 1, sizeof(place)) <
			0 ||
		loci_grow(&list->place, &list->cap, list->n + 1, sizeof(*list->place)) < 0)
		return loci_err_nomem(err);
	list->place[list->n++] = (uint32_t)blame->n;
	blame->place[blame->n++ - blame->gone] = place;
	blame->calls = (uint32_t)blame->n;
	return seek_due(blame, list, a, blame->seen + 1, err);
}

int loci_watch_blame_before(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_event *event, struct loci_err *err)
{
	int r;

	if (!loci_objects_loses_module(a->objects, event))
		return 0;
	r = end_calls(blame, err);
	return r < 0 ? r : settle(blame, a, err);
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

	if (event->kind == LOCI_MARK_STACK && blame->calls)
		return loci_watch_calls_add(&blame->back, event) < 0 ? loci_err_nomem(err) : 0;
	if (ends_calls(event->kind))
		r = end_calls(blame, err);
	if (r == 0 && number)
		r = seek_due(blame, &blame->use, a, number, err);
	if (r == 0 && number)
		r = seek_due(blame, &blame->reuse, a, number, err);
	if (r < 0)
		return r;
	if (number)
		blame->seen = number;
	if (event->kind == LOCI_MARK_SAMPLE_OPEN)
		return take_place(blame, a, &blame->use, event, 11, err);
	if (event->kind == LOCI_MARK_SAMPLE_FIRE &&
		loci_watch_counts_fire(&blame->counts, event, blame->reuse.n) < 0)
		return loci_err_nomem(err);
	if (event->kind == LOCI_MARK_SAMPLE_FIRE)
		return take_place(blame, a, &blame->reuse, event, 8, err);
	return 0;
}

int loci_watch_blame_end(
	struct loci_watch_blame *blame, struct loci_attribution *a, struct loci_err *err)
{
	int r = end_calls(blame, err);

	if (r == 0)
		r = seek_due(blame, &blame->use, a, 0, err);
	if (r == 0)
		r = seek_due(blame, &blame->reuse, a, 0, err);
	return r < 0 ? r : settle(blame, a, err);
}

const struct loci_watch_counts *loci_watch_blame_counts(const struct loci_watch_blame *blame)
{
	return &blame->counts;
}

static uint64_t word_of(const struct settled *place)
{
	return place->row | (uint64_t)place->context << LOCI_USE_CONTEXT |
		(uint64_t)(place->op == LOCI_OP_STORE) << LOCI_USE_WRITE;
}

static int credit(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_weigh_outcome *outcome, const struct loci_statstack *statstack,
	uint64_t touches)
{
	bool is_reused = outcome->distance != LOCI_INFINITE;
	const struct settled *use = &blame->settled[blame->use.place[outcome->use]];
	const struct settled *by =
		is_reused ? &blame->settled[blame->reuse.place[outcome->reuse]] : use;
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

/* Those of a part of a large copy stand for less than one. */
static int add_refs(struct loci_watch_blame *blame, struct loci_attribution *a,
	const struct loci_watch_events *watched, double scale)
{
	loci_autofree double *of_row = calloc(a->rows.n + 1, sizeof(*of_row));
	loci_autofree double *of_context = calloc(a->walk.contexts.n + 1, sizeof(*of_context));

	if (!of_row || !of_context)
		return -ENOMEM;
	for (size_t i = 0; i < blame->use.n && i < watched->n_samples; i++) {
		const struct settled *use = &blame->settled[blame->use.place[i]];

		of_row[use->row] += watched->sample[i].gap * scale;
		of_context[use->context] += watched->sample[i].gap * scale;
	}
	for (size_t i = 0; i < a->rows.n; i++)
		a->rows.row[i].refs += (uint64_t)llround(of_row[i]);
	for (size_t i = 0; i < a->walk.contexts.n; i++)
		a->walk.contexts.node[i].refs += (uint64_t)llround(of_context[i]);
	return 0;
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
	if (add_refs(blame, a, watched, gaps > 0 ? (double)sum->references / gaps : 0) < 0)
		return -ENOMEM;
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
	return add_up(blame, a, watched, sum) < 0 ? loci_err_nomem(err) : 0;
}
