// SPDX-License-Identifier: GPL-2.0-or-later
/* Engines through the public interface: addresses in, answers out. The stack engine and the per-set
 * engine are fed the same blocks; the models read their counts directly, without a profile. */
#include "api/answer.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "engine/sets.h"
#include "engine/stack.h"
#include "model/curve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define BATCH           4096
#define BLOCK_MAX_BYTES (2ull << 20)

struct loci_engine {
	uint64_t block_bytes;
	unsigned shift;
	struct loci_stack *stack;
	struct loci_sets *sets;
	uint64_t block[BATCH];
};

void loci_engine_free(struct loci_engine *engine)
{
	if (!engine)
		return;
	loci_stack_free(engine->stack);
	loci_sets_free(engine->sets);
	free(engine);
}

static int new_engine(
	uint64_t block_bytes, uint64_t max_bytes, struct loci_engine **ret, struct loci_err *err)
{
	struct loci_stack_options stack = { .max_bytes = max_bytes };
	struct loci_sets_options sets = { .max_bits = LOCI_SETS_MAX_BITS };
	struct loci_engine *engine;
	int r;

	if (!loci_is_power_of_2(block_bytes) || block_bytes > BLOCK_MAX_BYTES)
		return loci_err_set(err, EINVAL,
			"a block of %" PRIu64 " bytes: must be a power of two, at most 2 MiB",
			block_bytes);
	engine = calloc(1, sizeof(*engine));
	if (!engine)
		return loci_err_nomem(err);
	engine->block_bytes = block_bytes;
	engine->shift = (unsigned)__builtin_ctzll(block_bytes);
	r = loci_stack_new(&stack, &engine->stack, err);
	if (r == 0)
		r = loci_sets_new(&sets, &engine->sets, err);
	if (r < 0)
		loci_engine_free(engine);
	else
		*ret = engine;
	return r;
}

int loci_engine_new(uint64_t block_bytes, uint64_t max_bytes, struct loci_engine **ret,
	struct loci_error *error)
{
	struct loci_err err = { "" };

	return loci_api_result(
		new_engine(block_bytes ? block_bytes : 64, max_bytes, ret, &err), &err, error);
}

static int touch(struct loci_engine *engine, const uint64_t *address, const uint8_t *is_write,
	size_t n, struct loci_err *err)
{
	int r;

	for (size_t i = 0; i < n; i++)
		engine->block[i] = address[i] >> engine->shift;
	r = loci_stack_feed(engine->stack, engine->block, is_write, n, NULL, err);
	return r < 0 ? r : loci_sets_feed(engine->sets, engine->block, is_write, n, err);
}

int loci_engine_touch(struct loci_engine *engine, const uint64_t *address, const uint8_t *is_write,
	size_t n, struct loci_error *error)
{
	struct loci_err err = { "" };
	int r = 0;

	for (size_t at = 0; at < n && r == 0; at += BATCH)
		r = touch(engine, address + at, is_write ? is_write + at : NULL,
			n - at < BATCH ? n - at : BATCH, &err);
	return loci_api_result(r, &err, error);
}

int loci_engine_totals(
	const struct loci_engine *engine, struct loci_totals *ret, struct loci_error *error)
{
	loci_cleanup(loci_stack_result_fini) struct loci_stack_result result = { 0 };
	struct loci_err err = { "" };
	int r = loci_stack_result(engine->stack, &result, &err);

	if (r == 0)
		*ret = (struct loci_totals){
			.references = result.touches,
			.loads = result.touches - result.writes,
			.stores = result.writes,
			.block_bytes = engine->block_bytes,
			.touches = result.touches,
			.writes = result.writes,
			.blocks = result.blocks,
			.sampling_rate = result.sampling_rate,
			.error_points = result.error_points,
		};
	return loci_api_result(r, &err, error);
}

int loci_engine_miss_ratio(const struct loci_engine *engine, uint64_t cache_bytes, double *ret,
	struct loci_error *error)
{
	loci_cleanup(loci_stack_result_fini) struct loci_stack_result result = { 0 };
	struct loci_err err = { "" };
	int r = loci_stack_result(engine->stack, &result, &err);

	if (r == 0)
		*ret = loci_curve_ratio(&result.stack, cache_bytes >> engine->shift);
	return loci_api_result(r, &err, error);
}

/* The counts of one number of sets as the models want them. */
static int set_hists(const struct loci_engine *engine, unsigned set_bits, struct loci_hist *ret_set,
	struct loci_hist *ret_dirty)
{
	struct loci_sets_counts counts;

	loci_sets_counts(engine->sets, set_bits, &counts);
	ret_set->cold = (double)counts.absent;
	ret_dirty->cold = (double)counts.dirty_absent;
	if (loci_hist_from_counts(ret_set, counts.position, LOCI_SETS_WAYS) < 0 ||
		loci_hist_from_counts(ret_dirty, counts.dirty, LOCI_SETS_WAYS) < 0)
		return -ENOMEM;
	return 0;
}

static int predict(const struct loci_engine *engine, const struct loci_stack_result *result,
	const struct loci_cache *cache, const struct loci_predict_options *options,
	struct loci_prediction *ret, struct loci_err *err)
{
	loci_cleanup(loci_hist_fini) struct loci_hist set, dirty;
	struct loci_predict_input input = {
		.touches = (double)result->touches,
		.blocks = result->blocks,
		.sampled = result->sampling_rate < 1,
		.sampling_points = result->error_points,
		.stores_known = true,
		.stack = &result->stack,
		.time = &result->time,
		.dirty = &result->dirty,
	};
	uint64_t sets = loci_cache_sets(cache);

	loci_hist_init(&set, LOCI_SCHEME_LINEAR);
	loci_hist_init(&dirty, LOCI_SCHEME_LINEAR);
	if (cache->line_bytes != engine->block_bytes)
		return loci_err_set(err, EINVAL,
			"%s has lines of %" PRIu64 " bytes, the engine blocks of %" PRIu64,
			cache->name, cache->line_bytes, engine->block_bytes);
	if (loci_is_power_of_2(sets) && sets <= 1ull << LOCI_SETS_MAX_BITS) {
		if (set_hists(engine, (unsigned)__builtin_ctzll(sets), &set, &dirty) < 0)
			return loci_err_nomem(err);
		input.set = &set;
		input.set_dirty = &dirty;
	}
	return loci_predict_cache(&input, cache, options, ret, err);
}

static int ask(const struct loci_engine *engine, const char *caches, unsigned flags,
	struct loci_answer *ret, size_t n, struct loci_err *err)
{
	loci_cleanup(loci_stack_result_fini) struct loci_stack_result result = { 0 };
	struct loci_prediction prediction[LOCI_LEVELS_MAX];
	struct loci_predict_options options;
	struct loci_hierarchy hierarchy;
	int r = loci_hierarchy_parse(caches, &hierarchy, err);

	if (r == 0)
		r = loci_api_room(&hierarchy, n, err);
	if (r == 0)
		r = loci_api_options(flags, &options, err);
	if (r == 0)
		r = loci_stack_result(engine->stack, &result, err);
	for (unsigned i = 0; r == 0 && i < hierarchy.n_levels; i++)
		r = predict(engine, &result, &hierarchy.level[i], &options, &prediction[i], err);
	if (r < 0)
		return r;
	loci_predict_hits(prediction, hierarchy.n_levels, options.policy);
	for (unsigned i = 0; i < hierarchy.n_levels; i++)
		loci_api_answer(&prediction[i], &ret[i]);
	return (int)hierarchy.n_levels;
}

int loci_engine_ask(const struct loci_engine *engine, const char *caches, unsigned flags,
	struct loci_answer *ret, size_t n, struct loci_error *error)
{
	struct loci_err err = { "" };

	return loci_api_result(ask(engine, caches, flags, ret, n, &err), &err, error);
}
