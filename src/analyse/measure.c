// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/measure.h"

#include "analyse/grow.h"
#include "engine/stack.h"

int loci_measure_init(struct loci_measure *measure, struct loci_grain_engine *grain,
	const struct loci_analyse_options *options, unsigned shift, struct loci_err *err)
{
	*measure = (struct loci_measure){ .grain = grain,
		.pair_kind = options->pairs,
		.recent = loci_grain_keeps_recent(grain) };
	loci_pairs_init(&measure->pairs, (unsigned)options->n_levels);
	measure->alikes.rows = &measure->rows;
	measure->alikes.contexts = &measure->contexts;
	measure->alikes.pairs = &measure->pairs;
	return loci_measure_open_levels(measure, options, shift, err);
}

void loci_measure_fini(struct loci_measure *measure)
{
	loci_spread_fini(&measure->rows);
	loci_spread_fini(&measure->contexts);
	loci_spread_fini(&measure->stages);
	loci_spread_fini(&measure->members);
	loci_share_free(measure->share);
	loci_pairs_fini(&measure->pairs);
	loci_levels_free(measure->levels);
	loci_levels_shared_free(measure->shared_levels);
	free(measure->row_levels.tally);
	free(measure->context_levels.tally);
	free(measure->stage_levels.tally);
	free(measure->member_levels.tally);
	free(measure->used_bytes);
	free(measure->cell);
	for (size_t i = 0; i < measure->stack_cap; i++)
		free(measure->stack[i].entry);
	free(measure->stack);
}

static int reserve(struct loci_measure *measure, const struct loci_loop_event *event)
{
	struct loci_measure_stack *stack;

	if (loci_grow(&measure->stack, &measure->stack_cap, event->stack + 1,
		    sizeof(*measure->stack)) < 0)
		return -ENOMEM;
	stack = &measure->stack[event->stack];
	return loci_grow(&stack->entry, &stack->cap, event->length + 1, sizeof(*stack->entry));
}

static inline int apply(struct loci_measure *measure, const struct loci_loop_event *event)
{
	struct loci_measure_stack *stack;

	if (__builtin_expect(event->stack >= measure->stack_cap ||
			    event->length >= measure->stack[event->stack].cap,
		    0) &&
		reserve(measure, event) < 0)
		return -ENOMEM;
	measure->current = event->stack;
	stack = &measure->stack[event->stack];
	stack->n = event->length;
	if (event->loop == LOCI_NO_LOOP)
		return 0;
	stack->entry[stack->n].time = event->time;
	stack->entry[stack->n++].loop = event->loop;
	if (event->time > measure->clock)
		measure->clock = event->time;
	return 0;
}

/* The loop that carries reuses of what was used from one time on, before another. */
struct carrier {
	int64_t from, before;
	uint32_t loop;
};

/* The innermost loop that was running already when the use happened, and still is. */
static struct carrier carrier(const struct loci_measure_stack *stack, int64_t used)
{
	struct carrier found = { INT64_MIN, INT64_MAX, LOCI_NO_LOOP };

	for (size_t i = stack ? stack->n : 0; i-- > 0;) {
		int64_t time = (int64_t)stack->entry[i].time;

		if (stack->entry[i].loop == LOCI_UNPROVEN)
			continue;
		if (time <= used) {
			found.from = time;
			found.loop = stack->entry[i].loop;
			break;
		}
		if (time < found.before)
			found.before = time;
	}
	return found;
}

/* Touches that are far, or of a pair, between two events. Times are known by their low bits: right
 * for reuses across up to 2^26 loop entries and allocations. Memory is recycled if it was allocated
 * after the use. */
static int count_listed(struct loci_measure *measure, const struct loci_batch *batch,
	const uint32_t *listed, const uint32_t *end)
{
	const struct loci_measure_stack *stack =
		measure->current < measure->stack_cap ? &measure->stack[measure->current] : NULL;
	/* bins from here on are of no pair */
	unsigned last = measure->pair_kind == LOCI_PAIRS_NONE ? 0 : LOCI_SPREAD_UNSAMPLED;
	struct carrier carried = { 0 }; /* of nothing */
	uint64_t clock = measure->clock;
	int r = 0;

	for (; listed < end; listed++) {
		unsigned i = *listed & UINT16_MAX, bin = *listed >> 16;
		uint64_t use = measure->last_use[i], reuse = batch->use[i];
		uint32_t now = (uint32_t)(reuse >> LOCI_USE_CLOCK), born = batch->born[i];
		uint32_t age = (now - (uint32_t)(use >> LOCI_USE_CLOCK)) & LOCI_CLOCK_MASK;
		bool recycled = (born != 0) & (((now - born) & LOCI_CLOCK_MASK) < age);
		int64_t used;

		if (__builtin_expect(bin >= last, 0)) {
			r |= loci_alikes_add(&measure->alikes, 0, reuse, 0, false, bin);
			continue;
		}
		clock += (now - (uint32_t)clock) & LOCI_CLOCK_MASK;
		used = (int64_t)(clock - age);
		if (used < carried.from || used >= carried.before)
			carried = carrier(stack, used);
		r |= loci_alikes_add(&measure->alikes, use, reuse, carried.loop, recycled,
			LOCI_ALIKE_PAIR | (uint32_t)batch->missed[i] << 8 | bin);
	}
	measure->clock = clock;
	return r;
}

/* All of them, and the events between. */
static int count_between(
	struct loci_measure *measure, const struct loci_batch *batch, unsigned n_listed)
{
	const uint32_t *next = measure->listed, *end = next + n_listed;

	for (size_t k = 0; k < batch->n_events; k++) {
		const uint32_t *from = next;

		while (next < end && (*next & UINT16_MAX) < batch->event[k].touch)
			next++;
		if ((next > from && count_listed(measure, batch, from, next) < 0) ||
			apply(measure, &batch->event[k]) < 0)
			return -ENOMEM;
	}
	return count_listed(measure, batch, next, end);
}

static int feed(struct loci_measure *measure, const struct loci_batch *batch, struct loci_err *err)
{
	bool pairs = measure->pair_kind != LOCI_PAIRS_NONE;
	struct loci_stack_runs runs = { .block = batch->block,
		.is_write = batch->is_write,
		.more = batch->more,
		.more_writes = batch->more_writes,
		.left = pairs ? batch->left : NULL };

	loci_grain_halves(measure->grain, batch->second, batch->n_seconds);
	return loci_grain_runs(measure->grain, &runs, batch->n, measure->distance,
		pairs ? measure->last_use : NULL, err);
}

static int feed_recent(
	struct loci_measure *measure, const struct loci_batch *batch, struct loci_err *err)
{
	bool pairs = measure->pair_kind != LOCI_PAIRS_NONE;
	struct loci_stack_recent recent = { .block = batch->block,
		.is_write = batch->is_write,
		.place = batch->place,
		.rank = batch->rank,
		.farthest = batch->farthest,
		.left_time = batch->left_time,
		.left = pairs ? batch->left : NULL,
		.time = batch->time };

	return loci_grain_recent(measure->grain, &recent, batch->n, measure->distance,
		pairs ? measure->last_use : NULL, err);
}

/* There is room for the near counts of a batch. */
static int prepare_near(struct loci_measure *measure, size_t n)
{
	measure->near += n;
	if (measure->near <= LOCI_SPREAD_NEAR_COUNTS)
		return 0;
	measure->near = n;
	if (loci_spread_near_clear(&measure->rows) < 0 ||
		loci_spread_near_clear(&measure->stages) < 0 ||
		loci_spread_near_clear(&measure->members) < 0)
		return -ENOMEM;
	return loci_spread_near_clear(&measure->contexts);
}

/* Counts near distances of no pair and lists the others. Returns how many. */
static unsigned count_near(struct loci_measure *measure, const struct loci_batch *batch)
{
	struct loci_spread rows = measure->rows, contexts = measure->contexts;
	/* bins below are near, and of no pair */
	unsigned nearest = measure->pair_kind == LOCI_PAIRS_NONE ? LOCI_SPREAD_NEAR
		: measure->pair_kind == LOCI_PAIRS_FAR ? loci_bin_coarse(LOCI_PAIRS_FAR_BLOCKS)
						       : 0;
	unsigned n = 0, n_near = 0;

	/* never a branch: how far a reuse is is hard to predict */
	for (unsigned i = 0; i < batch->n; i++) {
		unsigned bin = loci_spread_bin(measure->distance[i]);

		measure->listed[n] = measure->near_listed[n_near] = bin << 16 | i;
		n += bin >= nearest;
		n_near += bin < nearest;
	}
	for (unsigned k = 0; k < n_near; k++) {
		unsigned bin = measure->near_listed[k] >> 16;
		uint64_t use = batch->use[measure->near_listed[k] & UINT16_MAX];

		rows.near[loci_use_row(use)][bin]++;
		contexts.near[loci_use_context(use)][bin]++;
	}
	return n;
}

/* By stage, where the program has any: runs of touches of one. */
static int count_stages(struct loci_measure *measure, const struct loci_batch *batch)
{
	for (size_t k = 0; k < batch->n_stage_events; k++) {
		uint32_t stage = batch->stage[k].stage, i = batch->stage[k].touch;
		size_t end = k + 1 < batch->n_stage_events ? batch->stage[k + 1].touch : batch->n;

		for (; i < end; i++) {
			unsigned bin = loci_spread_bin(measure->distance[i]);

			loci_spread_near_count(&measure->stages, stage, bin);
			if (bin >= LOCI_SPREAD_NEAR &&
				loci_spread_far_count(&measure->stages.far[stage], bin, 1) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* By member, where there are several threads. */
static int count_members(struct loci_measure *measure, const struct loci_batch *batch)
{
	for (size_t k = 0; k < batch->n_turns; k++) {
		uint32_t member = batch->turn[k].member, i = batch->turn[k].touch;
		size_t end = k + 1 < batch->n_turns ? batch->turn[k + 1].touch : batch->n;
		uint64_t joined = 0;

		for (; i < end; i++) {
			unsigned bin = loci_spread_bin(measure->distance[i]);

			joined += batch->more[i];
			loci_spread_near_count(&measure->members, member, bin);
			if (bin >= LOCI_SPREAD_NEAR &&
				loci_spread_far_count(&measure->members.far[member], bin, 1) < 0)
				return -ENOMEM;
		}
		if (joined && loci_spread_far_add(&measure->members.far[member], 0, joined) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What the touches of each piece of an array met. */
static int count_cells(struct loci_measure *measure, const struct loci_batch *batch)
{
	if (loci_grow(&measure->cell, &measure->cell_cap, batch->n_cells, sizeof(*measure->cell)) <
		0)
		return -ENOMEM;
	for (size_t i = 0; i < batch->n; i++) {
		uint64_t distance = measure->distance[i];
		bool is_known = distance < LOCI_UNSAMPLED;

		for (unsigned k = 0; k < 2; k++) {
			struct loci_piece_cell *cell = &measure->cell[batch->cell[i][k]];

			cell->touches++;
			cell->cold += distance == LOCI_INFINITE;
			cell->reuses += is_known;
			cell->distance_blocks += is_known ? distance : 0;
			cell->misses += batch->missed[i] & 1;
		}
	}
	return 0;
}

int loci_measure_use(void *data, struct loci_batch *batch, struct loci_err *err)
{
	struct loci_measure *measure = data;
	unsigned n;
	int r;

	if (loci_spread_reserve(&measure->rows, batch->n_rows) < 0 ||
		loci_spread_reserve(&measure->contexts, batch->n_contexts) < 0 ||
		loci_spread_reserve(&measure->stages, batch->n_stages) < 0 ||
		loci_spread_reserve(&measure->members, batch->n_members) < 0 ||
		prepare_near(measure, batch->n) < 0)
		return loci_err_nomem(err);
	if (!measure->n_levels)
		memset(batch->missed, 0, batch->n);
	r = measure->recent ? feed_recent(measure, batch, err) : feed(measure, batch, err);
	if (r < 0)
		return r;
	if (batch->n_cells && count_cells(measure, batch) < 0)
		return loci_err_nomem(err);
	n = count_near(measure, batch);
	r = count_stages(measure, batch);
	if (r == 0)
		r = count_members(measure, batch);
	if (r == 0)
		r = count_between(measure, batch, n);
	if (r == 0)
		r = loci_alikes_tell(&measure->alikes);
	return r < 0 ? loci_err_nomem(err) : 0;
}

int loci_measure_first_member(struct loci_measure *measure, size_t n_rows,
	const uint64_t near[LOCI_RECENT], const struct loci_analyse_options *options,
	unsigned shift, struct loci_err *err)
{
	uint64_t bins[UINT8_MAX + 1] = { 0 };
	int r = loci_spread_reserve(&measure->members, 1);

	for (unsigned i = 0; i < LOCI_RECENT; i++)
		bins[i] = near[i]; /* near distances are bins */
	for (uint32_t i = 0; i < n_rows; i++)
		loci_spread_collect(&measure->rows, i, bins);
	for (unsigned i = 0; r == 0 && i <= UINT8_MAX; i++)
		if (bins[i])
			r = loci_spread_far_add(&measure->members.far[0], i, bins[i]);
	if (r < 0)
		return loci_err_nomem(err);
	return measure->levels ? loci_measure_share_levels(measure, options, shift, err) : 0;
}

int loci_measure_share(void *data, struct loci_batch *batch, struct loci_err *err)
{
	struct loci_measure *measure = data;

	return loci_share_use(measure->share, batch, err);
}

void loci_measure_finish(struct loci_measure *measure)
{
	if (measure->n_levels)
		loci_measure_drain(measure);
}
