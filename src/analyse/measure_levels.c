// SPDX-License-Identifier: GPL-2.0-or-later
/* The caches named at record time. */
#include "analyse/measure.h"

#include "analyse/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int geometry_of(const struct loci_level_row *level, unsigned shift,
	struct loci_levels_geometry *ret, struct loci_err *err)
{
	uint64_t blocks = level->size_bytes >> shift;

	if (level->line_bytes != 1ull << shift)
		return loci_err_set(err, EINVAL,
			"%s has lines of %" PRIu64
			" bytes; caches are simulated with those of the first block size, %llu",
			level->name, level->line_bytes, 1ull << shift);
	if (!blocks || level->ways > UINT32_MAX || blocks > UINT32_MAX)
		return loci_err_set(err, EINVAL, "%s holds no block, or too many", level->name);
	ret->ways = (uint32_t)(level->ways ? level->ways : blocks);
	ret->sets = blocks / ret->ways;
	if (!ret->sets)
		return loci_err_set(err, EINVAL, "%s has more ways than blocks", level->name);
	return 0;
}

int loci_measure_open_levels(struct loci_measure *measure,
	const struct loci_analyse_options *options, unsigned shift, struct loci_err *err)
{
	struct loci_levels_geometry geometry[LOCI_LEVELS];

	if (!options->n_levels)
		return 0;
	if (options->n_levels > LOCI_LEVELS)
		return loci_err_set(err, EINVAL, "at most %d caches at once", LOCI_LEVELS);
	for (size_t i = 0; i < options->n_levels; i++) {
		int r = geometry_of(&options->levels[i], shift, &geometry[i], err);

		if (r < 0)
			return r;
	}
	measure->n_levels = (unsigned)options->n_levels;
	return loci_levels_new(geometry, measure->n_levels, LOCI_ISA_BEST, &measure->levels, err);
}

/* How many threads share each cache of a level, as the profile words it; 0: all. */
static uint32_t threads_of(const char *share)
{
	if (share && !strncmp(share, "share", 5) && share[5] >= '1' && share[5] <= '9')
		return (uint32_t)strtoul(share + 5, NULL, 10);
	return share && !strcmp(share, "shared") ? 0 : 1;
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

/* What a touch did, as in loci_level_alike. */
static inline uint32_t met_by(
	const struct loci_measure *measure, const struct loci_batch *batch, size_t i)
{
	uint32_t missed = batch->missed[i], coherence = measure->coherence[i] & missed;

	return missed | (uint32_t)measure->dirty[i] << 8 | coherence << 16 |
		(uint32_t)measure->transfer[i] << 24;
}

/* n touches that did the same. */
static void tally(struct loci_level_tally *level, unsigned n_levels, uint32_t met, uint32_t n)
{
	unsigned missed = met & UINT8_MAX;

	if (missed) {
		unsigned hit = (unsigned)__builtin_ctz(~missed);

		if (hit < n_levels)
			level[hit].first_hits += n;
	}
	for (; missed; missed &= missed - 1)
		level[__builtin_ctz(missed)].misses += n;
	for (unsigned dirty = met >> 8 & UINT8_MAX; dirty; dirty &= dirty - 1)
		level[__builtin_ctz(dirty)].writebacks += n;
	for (unsigned lost = met >> 16 & UINT8_MAX; lost; lost &= lost - 1)
		level[__builtin_ctz(lost)].coherence += n;
	for (unsigned taken = met >> 24; taken; taken &= taken - 1)
		level[__builtin_ctz(taken)].transfers += n;
}

static void tell(struct loci_measure *measure, struct loci_level_alike *alike)
{
	unsigned n = measure->n_levels;
	size_t row = loci_use_row(alike->who), context = loci_use_context(alike->who);

	tally(measure->row_levels.tally + row * n, n, alike->met, alike->n);
	tally(measure->context_levels.tally + context * n, n, alike->met, alike->n);
	alike->n = 0;
}

/* Hits of the first level are not counted one by one: they are what is left of the touches. */
static inline void count(struct loci_measure *measure, const struct loci_batch *batch, size_t i)
{
	uint64_t who = batch->use[i] & ((1ull << LOCI_USE_WRITE) - 1);
	uint32_t met = met_by(measure, batch, i);
	struct loci_level_alike *alike =
		&measure->level_alike[((who ^ (uint64_t)met << 28) * 0x9e3779b97f4a7c15u) >>
			(64 - LOCI_LEVEL_ALIKE_BITS)];

	if (__builtin_expect(alike->who != who || alike->met != met, 0)) {
		if (alike->n)
			tell(measure, alike);
		alike->who = who;
		alike->met = met;
	}
	alike->n++;
}

/* Most touches neither miss nor make anything dirty: eight are asked at once. */
static void count_all(struct loci_measure *measure, struct loci_batch *batch)
{
	memset(batch->missed + batch->n, 0, LOCI_BATCH_PAD);
	memset(measure->dirty + batch->n, 0, LOCI_BATCH_PAD);
	memset(measure->transfer + batch->n, 0, LOCI_BATCH_PAD);
	for (size_t i = 0; i < batch->n; i += sizeof(uint64_t)) {
		uint64_t missed, dirty, any;

		memcpy(&missed, batch->missed + i, sizeof(missed));
		memcpy(&dirty, measure->dirty + i, sizeof(dirty));
		memcpy(&any, measure->transfer + i, sizeof(any));
		any |= missed | dirty;
		for (size_t k = i; any; k++) {
			if (any & UINT8_MAX)
				count(measure, batch, k);
			any >>= 8;
		}
	}
	for (size_t i = 0; i < 1 << LOCI_LEVEL_ALIKE_BITS; i++)
		if (measure->level_alike[i].n)
			tell(measure, &measure->level_alike[i]);
}

/* The same for an owner of touches from one on, up to another. */
static void count_part(struct loci_measure *measure, const struct loci_batch *batch, size_t from,
	size_t to, struct loci_level_tally *level)
{
	uint32_t last = 0, n = 0;

	for (size_t i = from; i < to; i++) {
		uint32_t met = met_by(measure, batch, i);

		if (!met)
			continue;
		if (met != last) {
			if (n)
				tally(level, measure->n_levels, last, n);
			last = met;
			n = 0;
		}
		n++;
	}
	if (n)
		tally(level, measure->n_levels, last, n);
}

/* By stage, where the program has any. */
static void count_stages(struct loci_measure *measure, const struct loci_batch *batch)
{
	for (size_t k = 0; k < batch->n_stage_events; k++) {
		size_t end = k + 1 < batch->n_stage_events ? batch->stage[k + 1].touch : batch->n;

		count_part(measure, batch, batch->stage[k].touch, end,
			measure->stage_levels.tally +
				(size_t)batch->stage[k].stage * measure->n_levels);
	}
}

/* By member, where there are several threads. */
static void count_members(struct loci_measure *measure, const struct loci_batch *batch)
{
	for (size_t k = 0; k < batch->n_turns; k++) {
		size_t end = k + 1 < batch->n_turns ? batch->turn[k + 1].touch : batch->n;

		count_part(measure, batch, batch->turn[k].touch, end,
			measure->member_levels.tally +
				(size_t)batch->turn[k].member * measure->n_levels);
	}
}

void loci_measure_sum_levels(
	const struct loci_measure *measure, struct loci_level_tally sum[LOCI_LEVELS])
{
	unsigned n = measure->n_levels;

	for (size_t i = 0; n && i + n <= measure->row_levels.cap; i += n)
		for (unsigned k = 0; k < n; k++) {
			const struct loci_level_tally *from = &measure->row_levels.tally[i + k];

			loci_level_tally_add(&sum[k], from);
		}
}

/* What all met so far is the first member's, and so are the caches' contents. */
int loci_measure_share_levels(struct loci_measure *measure,
	const struct loci_analyse_options *options, unsigned shift, struct loci_err *err)
{
	struct loci_levels_sharing level[LOCI_LEVELS];
	struct loci_level_tally sum[LOCI_LEVELS] = { 0 };
	int r = 0;

	if (reserve_tallies(&measure->member_levels, measure->n_levels) < 0)
		return loci_err_nomem(err);
	loci_measure_sum_levels(measure, sum);
	for (unsigned i = 0; r == 0 && i < measure->n_levels; i++) {
		measure->member_levels.tally[i] = sum[i];
		level[i].threads = threads_of(options->levels[i].share);
		r = geometry_of(&options->levels[i], shift, &level[i].geometry, err);
	}
	if (r == 0)
		r = loci_levels_shared_new(
			level, measure->n_levels, LOCI_ISA_BEST, &measure->shared_levels, err);
	if (r == 0)
		r = loci_levels_shared_adopt(measure->shared_levels, 0, measure->levels, err);
	if (r < 0) { /* what was counted before stays good */
		loci_levels_shared_free(measure->shared_levels);
		measure->shared_levels = NULL;
		return r;
	}
	loci_levels_free(measure->levels);
	measure->levels = NULL;
	return 0;
}

static void use_bytes(
	struct loci_measure *measure, const struct loci_levels_eviction *evicted, size_t n)
{
	for (size_t i = 0; i < n; i++)
		measure->used_bytes[evicted[i].owner] += evicted[i].used_bytes;
}

static void feed(struct loci_measure *measure, struct loci_batch *batch)
{
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

	loci_levels_feed(measure->levels, &levels);
	use_bytes(measure, measure->evicted, levels.n_evicted);
}

/* The same through caches of threads: touches from one on, of turns from one on, up to another;
 * *turn becomes that of the latter. */
static int feed_part(struct loci_measure *measure, struct loci_batch *batch, size_t from, size_t to,
	size_t *turn, struct loci_err *err)
{
	uint32_t touch[LOCI_BATCH_TURNS], member[LOCI_BATCH_TURNS];
	struct loci_levels_shared_batch levels = { .block = batch->block + from,
		.is_write = batch->is_write + from,
		.bytes = batch->bytes + from,
		.owner = measure->owner + from,
		.n = to - from,
		.turn_touch = touch,
		.turn_member = member,
		.ret_missed = batch->missed + from,
		.ret_dirty = measure->dirty + from,
		.ret_coherence = measure->coherence + from,
		.ret_transfer = measure->transfer + from };
	size_t k = *turn;
	int r;

	if (from == to)
		return 0;
	while (k + 1 < batch->n_turns && batch->turn[k + 1].touch <= from)
		k++;
	for (; k < batch->n_turns && batch->turn[k].touch < to; k++) {
		size_t at = batch->turn[k].touch;

		*turn = k;
		touch[levels.n_turns] = (uint32_t)(at > from ? at - from : 0);
		member[levels.n_turns++] = batch->turn[k].member;
	}
	r = loci_levels_shared_feed(measure->shared_levels, &levels, err);
	if (r == 0)
		use_bytes(measure, levels.evicted, levels.n_evicted);
	return r;
}

/* Those that have ended give theirs back there and then. */
static int feed_shared(struct loci_measure *measure, struct loci_batch *batch, struct loci_err *err)
{
	size_t from = 0, turn = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < batch->n_ended; i++) {
		const struct loci_levels_eviction *evicted = NULL;
		size_t n = 0;

		r = feed_part(measure, batch, from, batch->ended[i].touch, &turn, err);
		from = batch->ended[i].touch;
		if (r == 0)
			r = loci_levels_shared_end(
				measure->shared_levels, batch->ended[i].member, &evicted, &n, err);
		if (r == 0)
			use_bytes(measure, evicted, n);
	}
	return r < 0 ? r : feed_part(measure, batch, from, batch->n, &turn, err);
}

int loci_measure_simulate(void *data, struct loci_batch *batch, struct loci_err *err)
{
	struct loci_measure *measure = data;
	int r = 0;

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
	if (measure->shared_levels)
		r = feed_shared(measure, batch, err);
	else
		feed(measure, batch);
	count_all(measure, batch);
	count_stages(measure, batch);
	count_members(measure, batch);
	return r;
}

void loci_measure_drain(struct loci_measure *measure)
{
	size_t n;

	do {
		n = measure->shared_levels
			? loci_levels_shared_drain(
				  measure->shared_levels, measure->evicted, LOCI_BATCH)
			: loci_levels_drain(measure->levels, measure->evicted, LOCI_BATCH);
		use_bytes(measure, measure->evicted, n);
	} while (n);
}
