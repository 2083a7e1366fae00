// SPDX-License-Identifier: GPL-2.0-or-later
/* The caches named at record time. */
#include "analyse/attribute_touch.h"

#include "analyse/grow.h"

#include <inttypes.h>

int loci_attribution_open_levels(struct loci_attribution *a, struct loci_err *err)
{
	const struct loci_analyse_options *options = a->options;
	struct loci_levels_geometry geometry[LOCI_LEVELS];

	if (!options->n_levels)
		return 0;
	if (options->n_levels > LOCI_LEVELS)
		return loci_err_set(err, EINVAL, "at most %d caches at once", LOCI_LEVELS);
	for (size_t i = 0; i < options->n_levels; i++) {
		const struct loci_level_row *level = &options->levels[i];
		uint64_t blocks = level->size_bytes >> a->shift;

		if (level->line_bytes != 1ull << a->shift)
			return loci_err_set(err, EINVAL,
				"%s has lines of %" PRIu64
				" bytes; caches are simulated with those of the first block size, "
				"%llu",
				level->name, level->line_bytes, 1ull << a->shift);
		if (!blocks || level->ways > UINT32_MAX || blocks > UINT32_MAX)
			return loci_err_set(
				err, EINVAL, "%s holds no block, or too many", level->name);
		geometry[i].ways = (uint32_t)(level->ways ? level->ways : blocks);
		geometry[i].sets = blocks / geometry[i].ways;
		if (!geometry[i].sets)
			return loci_err_set(
				err, EINVAL, "%s has more ways than blocks", level->name);
	}
	a->n_levels = (unsigned)options->n_levels;
	return loci_levels_new(geometry, a->n_levels, LOCI_ISA_BEST, &a->levels, err);
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
int loci_attribution_simulate(struct loci_attribution *a, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	struct loci_levels_batch levels = { .block = b->block,
		.is_write = b->is_write,
		.bytes = a->bytes,
		.owner = a->owner,
		.n = b->n,
		.ret_missed = b->missed,
		.ret_dirty = a->dirty,
		.ret_evicted = a->evicted };

	if (reserve_tallies(&a->row_levels, a->rows.n * a->n_levels) < 0 ||
		reserve_tallies(&a->context_levels, a->walk.contexts.n * a->n_levels) < 0)
		return loci_err_nomem(err);
	loci_levels_feed(a->levels, &levels);
	for (size_t i = 0; i < b->n; i++) {
		if (!(b->missed[i] | a->dirty[i]))
			continue;
		tally(a->row_levels.tally + (size_t)a->owner[i] * a->n_levels, a->n_levels,
			b->missed[i], a->dirty[i]);
		tally(a->context_levels.tally + (size_t)loci_use_context(b->use[i]) * a->n_levels,
			a->n_levels, b->missed[i], a->dirty[i]);
	}
	for (size_t i = 0; i < levels.n_evicted; i++)
		a->rows.row[a->evicted[i].owner].used_bytes += a->evicted[i].used_bytes;
	return 0;
}

void loci_attribution_drain(struct loci_attribution *a)
{
	size_t n;

	while ((n = loci_levels_drain(a->levels, a->evicted, LOCI_BATCH)) > 0)
		for (size_t i = 0; i < n; i++)
			a->rows.row[a->evicted[i].owner].used_bytes += a->evicted[i].used_bytes;
}
