// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/measure.h"

#include "analyse/grow.h"
#include "engine/stack.h"

void loci_measure_init(struct loci_measure *measure, struct loci_grain_engine *grain,
	enum loci_analyse_pairs pairs, unsigned n_levels)
{
	*measure = (struct loci_measure){ .grain = grain, .pair_kind = pairs };
	loci_pairs_init(&measure->pairs, n_levels);
}

void loci_measure_fini(struct loci_measure *measure)
{
	loci_spread_fini(&measure->rows);
	loci_spread_fini(&measure->contexts);
	loci_pairs_fini(&measure->pairs);
	for (size_t i = 0; i < measure->stack_cap; i++)
		free(measure->stack[i].entry);
	free(measure->stack);
}

static int apply(struct loci_measure *measure, const struct loci_loop_event *event)
{
	struct loci_measure_stack *stack;

	if (loci_grow(&measure->stack, &measure->stack_cap, event->stack + 1,
		    sizeof(*measure->stack)) < 0)
		return -ENOMEM;
	measure->current = event->stack;
	stack = &measure->stack[event->stack];
	stack->n = event->length;
	if (event->loop == LOCI_NO_LOOP)
		return 0;
	if (loci_grow(&stack->entry, &stack->cap, stack->n + 1, sizeof(*stack->entry)) < 0)
		return -ENOMEM;
	stack->entry[stack->n++] =
		(struct loci_loop_entry){ .time = event->time, .loop = event->loop };
	if (event->time > measure->clock)
		measure->clock = event->time;
	return 0;
}

/* The innermost loop that was running already when the use happened, age ago, and still is. */
static uint32_t carrier(const struct loci_measure *measure, uint32_t age)
{
	const struct loci_measure_stack *stack;

	if (measure->current >= measure->stack_cap)
		return LOCI_NO_LOOP;
	stack = &measure->stack[measure->current];
	for (size_t i = stack->n; i-- > 0;)
		if (stack->entry[i].loop != LOCI_UNPROVEN &&
			stack->entry[i].time + age <= measure->clock)
			return stack->entry[i].loop;
	return LOCI_NO_LOOP;
}

/* Times are known by their low bits: right for reuses across up to 2^26 loop entries and
 * allocations. Memory is recycled if it was allocated after the use. */
static int count_pair(
	struct loci_measure *measure, const struct loci_batch *batch, size_t i, unsigned bin)
{
	uint64_t use = measure->last_use[i], reuse = batch->use[i];
	uint32_t now = (uint32_t)(reuse >> LOCI_USE_CLOCK), born = batch->born[i];
	uint32_t age = (now - (uint32_t)(use >> LOCI_USE_CLOCK)) & LOCI_CLOCK_MASK;
	bool recycled = born && ((now - born) & LOCI_CLOCK_MASK) < age;

	measure->clock += (now - (uint32_t)measure->clock) & LOCI_CLOCK_MASK;
	return loci_pairs_add(&measure->pairs, use, reuse, carrier(measure, age), recycled, bin,
		batch->missed[i]);
}

static inline int count(
	struct loci_measure *measure, const struct loci_batch *batch, size_t i, uint64_t nearest)
{
	uint64_t distance = measure->distance[i], use = batch->use[i];
	unsigned bin = loci_spread_bin(distance);

	if (loci_spread_count(&measure->rows, loci_use_row(use), bin) < 0 ||
		loci_spread_count(&measure->contexts, loci_use_context(use), bin) < 0)
		return -ENOMEM;
	if (distance < nearest || distance >= LOCI_UNSAMPLED)
		return 0;
	return count_pair(measure, batch, i, bin);
}

int loci_measure_use(void *data, struct loci_batch *batch, struct loci_err *err)
{
	struct loci_measure *measure = data;
	bool pairs = measure->pair_kind != LOCI_PAIRS_NONE;
	uint64_t nearest = !pairs                      ? UINT64_MAX
		: measure->pair_kind == LOCI_PAIRS_ALL ? 0
						       : (uint64_t)LOCI_PAIRS_FAR_BLOCKS;
	const struct loci_loop_event *event = batch->event, *end = event + batch->n_events;
	int r = 0;

	if (loci_spread_reserve(&measure->rows, batch->n_rows) < 0 ||
		loci_spread_reserve(&measure->contexts, batch->n_contexts) < 0)
		return loci_err_nomem(err);
	loci_grain_halves(measure->grain, batch->second, batch->n_seconds);
	r = loci_grain_touches(measure->grain, batch->block, batch->is_write,
		pairs ? batch->use : NULL, batch->n, measure->distance,
		pairs ? measure->last_use : NULL, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < batch->n; i++) {
		for (; r == 0 && event < end && event->touch <= i; event++)
			r = apply(measure, event);
		r |= count(measure, batch, i, nearest);
	}
	for (; r == 0 && event < end; event++)
		r = apply(measure, event);
	return r < 0 ? loci_err_nomem(err) : 0;
}
