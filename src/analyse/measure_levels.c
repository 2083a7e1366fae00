// SPDX-License-Identifier: GPL-2.0-or-later
/* The caches named at record time. */
#include "analyse/measure.h"

#include "analyse/grow.h"

#include <inttypes.h>

int loci_measure_open_levels(struct loci_measure *measure,
	const struct loci_analyse_options *options, unsigned shift, struct loci_err *err)
{
	struct loci_levels_geometry geometry[LOCI_LEVELS];

	if (!options->n_levels)
		return 0;
	if (options->n_levels > LOCI_LEVELS)
		return loci_err_set(err, EINVAL, "at most %d caches at once", LOCI_LEVELS);
	for (size_t i = 0; i < options->n_levels; i++) {
		const struct loci_level_row *level = &options->levels[i];
		uint64_t blocks = level->size_bytes >> shift;

		if (level->line_bytes != 1ull << shift)
			return loci_err_set(err, EINVAL,
				"%s has lines of %" PRIu64
				" bytes; caches are simulated with those of the first block size, "
				"%llu",
				level->name, level->line_bytes, 1ull << shift);
		if (!blocks || level->ways > UINT32_MAX || blocks > UINT32_MAX)
			return loci_err_set(
				err, EINVAL, "%s holds no block, or too many", level->name);
		geometry[i].ways = (uint32_t)(level->ways ? level->ways : blocks);
		geometry[i].sets = blocks / geometry[i].ways;
		if (!geometry[i].sets)
			return loci_err_set(
				err, EINVAL, "%s has more ways than blocks", level->name);
	}
	measure->n_levels = (unsigned)options->n_levels;
	return loci_levels_new(geometry, measure->n_levels, LOCI_ISA_BEST, &measure->levels, err);
}

bool loci_measure_may_be_recent(const struct loci_analyse_options *options, unsigned shift)
{
	struct loci_levels_geometry geometry[LOCI_LEVELS] = { 0 };

	if (options->pairs == LOCI_PAIRS_ALL || options->verify || options->one_by_one ||
		options->index || options->n_levels > LOCI_LEVELS)
		return false;
	for (size_t i = 0; i < options->n_levels; i++) {
		const struct loci_level_row *level = &options->levels[i];

		geometry[i].ways =
			(uint32_t)(level->ways ? level->ways : level->size_bytes >> shift);
	}
	return loci_levels_may_be_recent(geometry, (unsigned)options->n_levels);
}

static int reserve_tallies(struct loci_level_tallies *tallies, size_t n)
{
	return loci_grow(&tallies->tally, &tallies->cap, n, sizeof(*tallies->tally));
}

static void tally(
	struct loci_level_tally *level, unsigned n_levels, unsigned missed, unsigned dirty)
{
	if (missed) {
		unsigned hit = (unsigned)__builtin_ctz(~missed);

		if (hit < n_levels)
			level[hit].first_hits++;
	}
	for (; missed; missed &= missed - 1)
		level[__builtin_ctz(missed)].misses++;
	for (; dirty; dirty &= dirty - 1)
		level[__builtin_ctz(dirty)].writebacks++;
}

/* Hits of the first level are not counted one by one: they are what is left of the touches. */
static void count(struct loci_measure *measure, const struct loci_batch *batch, size_t i)
{
	unsigned n = measure->n_levels, missed = batch->missed[i], dirty = measure->dirty[i];
	uint64_t use = batch->use[i];

	tally(measure->row_levels.tally + (size_t)loci_use_row(use) * n, n, missed, dirty);
	tally(measure->context_levels.tally + (size_t)loci_use_context(use) * n, n, missed, dirty);
}

/* Most touches neither miss nor make anything dirty: eight are asked at once. */
static void count_all(struct loci_measure *measure, struct loci_batch *batch)
{
	memset(batch->missed + batch->n, 0, LOCI_BATCH_PAD);
	memset(measure->dirty + batch->n, 0, LOCI_BATCH_PAD);
	for (size_t i = 0; i < batch->n; i += sizeof(uint64_t)) {
		uint64_t missed, dirty;

		memcpy(&missed, batch->missed + i, sizeof(missed));
		memcpy(&dirty, measure->dirty + i, sizeof(dirty));
		for (size_t k = i; missed | dirty; k++) {
			if ((missed | dirty) & UINT8_MAX)
				count(measure, batch, k);
			missed >>= 8;
			dirty >>= 8;
		}
	}
}

/* The same by stage, where the program has any. */
static void count_stages(struct loci_measure *measure, const struct loci_batch *batch)
{
	unsigned n = measure->n_levels;

	for (size_t k = 0; k < batch->n_stage_events; k++) {
		struct loci_level_tally *level =
			measure->stage_levels.tally + (size_t)batch->stage[k].stage * n;
		size_t end = k + 1 < batch->n_stage_events ? batch->stage[k + 1].touch : batch->n;

		for (size_t i = batch->stage[k].touch; i < end; i++)
			if (batch->missed[i] | measure->dirty[i])
				tally(level, n, batch->missed[i], measure->dirty[i]);
	}
}

/* The same by member, where there are several threads. */
static void count_members(struct loci_measure *measure, const struct loci_batch *batch)
{
	unsigned n = measure->n_levels;

	for (size_t k = 0; k < batch->n_turns; k++) {
		struct loci_level_tally *level =
			measure->member_levels.tally + (size_t)batch->turn[k].member * n;
		size_t end = k + 1 < batch->n_turns ? batch->turn[k + 1].touch : batch->n;

		for (size_t i = batch->turn[k].touch; i < end; i++)
			if (batch->missed[i] | measure->dirty[i])
				tally(level, n, batch->missed[i], measure->dirty[i]);
	}
}

void loci_measure_sum_levels(
	const struct loci_measure *measure, struct loci_level_tally sum[LOCI_LEVELS])
{
	unsigned n = measure->n_levels;

	for (size_t i = 0; n && i + n <= measure->row_levels.cap; i += n)
		for (unsigned k = 0; k < n; k++) {
			const struct loci_level_tally *from = &measure->row_levels.tally[i + k];

			sum[k].first_hits += from->first_hits;
			sum[k].misses += from->misses;
			sum[k].writebacks += from->writebacks;
		}
}

int loci_measure_first_levels(struct loci_measure *measure)
{
	struct loci_level_tally sum[LOCI_LEVELS] = { 0 };

	if (reserve_tallies(&measure->member_levels, measure->n_levels) < 0)
		return -ENOMEM;
	loci_measure_sum_levels(measure, sum);
	for (unsigned i = 0; i < measure->n_levels; i++)
		measure->member_levels.tally[i] = sum[i];
	return 0;
}

static void use_bytes(struct loci_measure *measure, size_t n)
{
	for (size_t i = 0; i < n; i++)
		measure->used_bytes[measure->evicted[i].owner] += measure->evicted[i].used_bytes;
}

int loci_measure_simulate(void *data, struct loci_batch *batch, struct loci_err *err)
{
	struct loci_measure *measure = data;
	struct loci_levels_batch levels = { .block = batch->block,
		.is_write = batch->is_write,
		.bytes = batch->bytes,
		.owner = measure->owner,
		.place = measure->recent ? batch->place : NULL,
		.left_time = batch->left_time,
		.n = batch->n,
		.ret_missed = batch->missed,
		.ret_dirty = measure->dirty,
		.ret_evicted = measure->evicted };

	if (reserve_tallies(&measure->row_levels, batch->n_rows * measure->n_levels) < 0 ||
		reserve_tallies(&measure->context_levels, batch->n_contexts * measure->n_levels) <
			0 ||
		reserve_tallies(&measure->stage_levels, batch->n_stages * measure->n_levels) < 0 ||
		reserve_tallies(&measure->member_levels, batch->n_members * measure->n_levels) <
			0 ||
		loci_grow(&measure->used_bytes, &measure->used_cap, batch->n_rows,
			sizeof(*measure->used_bytes)) < 0)
		return loci_err_nomem(err);
	for (size_t i = 0; i < batch->n; i++)
		measure->owner[i] = loci_use_row(batch->use[i]);
	loci_levels_feed(measure->levels, &levels);
	count_all(measure, batch);
	count_stages(measure, batch);
	count_members(measure, batch);
	use_bytes(measure, levels.n_evicted);
	return 0;
}

void loci_measure_drain(struct loci_measure *measure)
{
	size_t n;

	while ((n = loci_levels_drain(measure->levels, measure->evicted, LOCI_BATCH)) > 0)
		use_bytes(measure, n);
}
