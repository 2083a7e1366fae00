// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/grain.h"

#include "base/cleanup.h"
#include "engine/naive.h"
#include "engine/sets.h"
#include "engine/stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define BATCH    LOCI_GRAIN_TOUCHES
#define TOGETHER 512 /* touches of runs, for an engine that knows no runs */

struct loci_grain_engine {
	struct loci_grain_options options;
	unsigned shift;
	struct loci_stack *stack;
	struct loci_sets *sets;
	uint64_t straddles;
	struct loci_naive *naive;
	uint64_t verified;
	struct loci_hist time, dirty; /* the naive stack's */
	size_t n;
	uint64_t block[BATCH];
	uint8_t is_write[BATCH];
	size_t n_seconds;
	uint32_t second[BATCH];
	struct loci_sets_halves halves;
	uint64_t distance[BATCH]; /* only while verifying */
};

void loci_grain_free(struct loci_grain_engine *grain)
{
	if (!grain)
		return;
	loci_stack_free(grain->stack);
	loci_sets_free(grain->sets);
	loci_naive_free(grain->naive);
	loci_hist_fini(&grain->time);
	loci_hist_fini(&grain->dirty);
	free(grain);
}

int loci_grain_new(const struct loci_grain_options *options, struct loci_grain_engine **ret,
	struct loci_err *err)
{
	struct loci_stack_options stack = { .max_bytes = options->max_bytes,
		.little = options->little,
		.keep_uses = options->keep_uses,
		.recent = options->recent };
	struct loci_sets_options sets = { .max_bits = LOCI_SETS_MAX_BITS };
	struct loci_grain_engine *grain = calloc(1, sizeof(*grain));
	int r;

	if (!grain)
		return loci_err_nomem(err);
	grain->options = *options;
	grain->shift = (unsigned)__builtin_ctzll(options->block_bytes);
	loci_hist_init(&grain->time, LOCI_SCHEME_FINE);
	loci_hist_init(&grain->dirty, LOCI_SCHEME_FINE);
	r = loci_stack_new(&stack, &grain->stack, err);
	if (r == 0 && !options->no_sets)
		r = loci_sets_new(&sets, &grain->sets, err);
	if (r == 0 && options->verify)
		r = loci_naive_new(&grain->naive, err);
	if (r < 0) {
		loci_grain_free(grain);
		return r;
	}
	*ret = grain;
	return 0;
}

static int mismatch(const struct loci_grain_engine *grain, const char *what, uint64_t where,
	double engine, double naive, struct loci_err *err)
{
	return loci_err_set(err, EILSEQ,
		"verify: %s %" PRIu64 " (%" PRIu64
		"-byte blocks): the engine says %.17g, the naive "
		"stack %.17g; this is a bug in loci",
		what, where, grain->options.block_bytes, engine, naive);
}

/* At the end of the prefix: what the engine does not hand out touch by touch must agree as
 * histograms. */
static int verify_hist(const struct loci_grain_engine *grain, const char *what,
	const struct loci_hist *engine, const struct loci_hist *naive, struct loci_err *err)
{
	for (uint32_t i = 0; i < engine->n_bins || i < naive->n_bins; i++) {
		double got = i < engine->n_bins ? engine->weight[i] : 0;
		double want = i < naive->n_bins ? naive->weight[i] : 0;

		if (got != want)
			return mismatch(
				grain, what, loci_bin_low(naive->scheme, i), got, want, err);
	}
	if (engine->cold != naive->cold)
		return mismatch(grain, what, LOCI_INFINITE, engine->cold, naive->cold, err);
	return 0;
}

static int verify_end(struct loci_grain_engine *grain, struct loci_err *err)
{
	loci_cleanup(loci_stack_result_fini) struct loci_stack_result result = { 0 };
	int r = loci_stack_result(grain->stack, &result, err);

	grain->options.verify = 0;
	if (r == 0)
		r = verify_hist(grain, "touches at time distance", &result.time, &grain->time, err);
	if (r == 0)
		r = verify_hist(grain, "writes at dirty level", &result.dirty, &grain->dirty, err);
	return r;
}

static int count(struct loci_hist *hist, uint64_t value)
{
	if (value != LOCI_INFINITE)
		return loci_hist_add(hist, value, 1);
	hist->cold++;
	return 0;
}

static int verify_touch(struct loci_grain_engine *grain, uint64_t block, bool is_write,
	uint64_t distance, struct loci_err *err)
{
	struct loci_naive_touch want;
	int r = loci_naive_touch(grain->naive, block, is_write, &want, err);

	if (r < 0)
		return r;
	if (distance == LOCI_UNSAMPLED) {
		/* from here on the engine estimates: nothing left to compare */
		grain->options.verify = 0;
		return 0;
	}
	if (distance != want.stack)
		return mismatch(grain, "stack distance of touch", grain->verified, (double)distance,
			(double)want.stack, err);
	if (count(&grain->time, want.time) < 0 ||
		(is_write && count(&grain->dirty, want.dirty) < 0))
		return loci_err_nomem(err);
	grain->verified++;
	return 0;
}

/* Histograms can be compared when all that was fed has been compared. */
static int verify_rest(struct loci_grain_engine *grain, struct loci_err *err)
{
	if (!grain->options.verify || grain->verified < grain->options.verify)
		return 0;
	return verify_end(grain, err);
}

static int verify(struct loci_grain_engine *grain, const uint64_t *block, const uint8_t *is_write,
	size_t n, const uint64_t *distance, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n && grain->options.verify; i++)
		r = verify_touch(grain, block[i], is_write[i], distance[i], err);
	return r < 0 ? r : verify_rest(grain, err);
}

int loci_grain_touches(struct loci_grain_engine *grain, const uint64_t *block,
	const uint8_t *is_write, const uint64_t *use, size_t n, uint64_t *ret_distance,
	uint64_t *ret_last_use, struct loci_err *err)
{
	bool verifying = grain->options.verify > 0;
	int r;

	if (verifying && !ret_distance)
		ret_distance = grain->distance;
	r = use ? loci_stack_feed_uses(
			  grain->stack, block, is_write, use, n, ret_distance, ret_last_use, err)
		: loci_stack_feed(grain->stack, block, is_write, n, ret_distance, err);
	if (r == 0 && grain->sets)
		r = loci_sets_feed_halves(grain->sets, block, is_write, n, &grain->halves, err);
	grain->halves.n = 0;
	if (r == 0 && verifying)
		r = verify(grain, block, is_write, n, ret_distance, err);
	return r;
}

/* Touch k of a run: which of those after the first are the writes makes no difference, all of them
 * being at distance 0 of a block just written. */
static bool writes(const struct loci_stack_runs *runs, size_t run, uint64_t k)
{
	return k ? k <= runs->more_writes[run] : runs->is_write[run];
}

static int feed_sets(struct loci_grain_engine *grain, const struct loci_stack_runs *runs,
	size_t n_runs, struct loci_err *err)
{
	uint64_t block[TOGETHER];
	uint8_t is_write[TOGETHER];
	uint32_t second[TOGETHER];
	struct loci_sets_halves halves = { second, 0 }, left = grain->halves;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n_runs; i++) {
		if (left.n && *left.second == i) {
			second[halves.n++] = (uint32_t)n;
			left = (struct loci_sets_halves){ left.second + 1, left.n - 1 };
		}
		for (uint64_t k = 0; r == 0 && k <= runs->more[i]; k++) {
			block[n] = runs->block[i];
			is_write[n++] = writes(runs, i, k);
			if (n < TOGETHER)
				continue;
			r = loci_sets_feed_halves(grain->sets, block, is_write, n, &halves, err);
			n = halves.n = 0;
		}
	}
	grain->halves.n = 0;
	return r < 0 ? r : loci_sets_feed_halves(grain->sets, block, is_write, n, &halves, err);
}

static int verify_runs(struct loci_grain_engine *grain, const struct loci_stack_runs *runs,
	size_t n, const uint64_t *distance, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n && grain->options.verify; i++)
		for (uint64_t k = 0; r == 0 && k <= runs->more[i]; k++)
			r = verify_touch(grain, runs->block[i], writes(runs, i, k),
				k ? 0 : distance[i], err);
	return r < 0 ? r : verify_rest(grain, err);
}

int loci_grain_runs(struct loci_grain_engine *grain, const struct loci_stack_runs *runs, size_t n,
	uint64_t *ret_distance, uint64_t *ret_last_use, struct loci_err *err)
{
	int r;

	if (grain->options.verify && !ret_distance)
		ret_distance = grain->distance;
	r = loci_stack_feed_runs(grain->stack, runs, n, ret_distance, ret_last_use, err);
	if (r == 0 && grain->sets)
		r = feed_sets(grain, runs, n, err);
	if (r == 0 && grain->options.verify)
		r = verify_runs(grain, runs, n, ret_distance, err);
	return r;
}

static int flush(struct loci_grain_engine *grain, struct loci_err *err)
{
	size_t n = grain->n;

	loci_grain_halves(grain, grain->second, grain->n_seconds);
	grain->n = 0;
	grain->n_seconds = 0;
	return loci_grain_touches(grain, grain->block, grain->is_write, NULL, n, NULL, NULL, err);
}

bool loci_grain_keeps_recent(const struct loci_grain_engine *grain)
{
	return grain->options.recent;
}

int loci_grain_recent(struct loci_grain_engine *grain, const struct loci_stack_recent *recent,
	size_t n, uint64_t *ret_distance, uint64_t *ret_last_use, struct loci_err *err)
{
	return loci_stack_feed_recent(grain->stack, recent, n, ret_distance, ret_last_use, err);
}

void loci_grain_add_recent(struct loci_grain_engine *grain, const struct loci_recent *recent,
	const uint64_t *stack_count)
{
	loci_stack_add_recent(grain->stack, recent, stack_count);
}

void loci_grain_leave_recent(struct loci_grain_engine *grain, const struct loci_recent *recent,
	const uint64_t *stack_count)
{
	loci_stack_leave_recent(grain->stack, recent, stack_count);
	grain->options.recent = false;
}

int loci_grain_held(const struct loci_grain_engine *grain, uint64_t **ret_block, size_t *ret_n,
	struct loci_hist *ret_hist, double *ret_rate, struct loci_err *err)
{
	loci_cleanup(loci_stack_result_fini) struct loci_stack_result result = { 0 };
	int r = loci_stack_result(grain->stack, &result, err);

	if (r < 0)
		return r;
	*ret_rate = result.sampling_rate;
	*ret_n = loci_stack_n_held(grain->stack);
	*ret_block = calloc(*ret_n + 1, sizeof(**ret_block));
	if (!*ret_block || loci_hist_copy(ret_hist, &result.stack) < 0)
		return loci_err_nomem(err);
	loci_stack_held(grain->stack, *ret_block, NULL);
	return 0;
}

void loci_grain_limit(struct loci_grain_engine *grain, uint64_t max_bytes)
{
	loci_stack_limit(grain->stack, max_bytes);
}

void loci_grain_straddled(struct loci_grain_engine *grain, uint64_t references)
{
	grain->straddles += references;
}

void loci_grain_halves(struct loci_grain_engine *grain, const uint32_t *second, size_t n)
{
	grain->halves = (struct loci_sets_halves){ second, n };
}

/* A reference that covers several blocks: one touch each, in address order. Of one over more than
 * two, each is thought of as a reference of its own. */
static int spread(struct loci_grain_engine *grain, uint64_t first, uint64_t last, bool is_write,
	bool bulk, struct loci_err *err)
{
	bool halves = !bulk && last - first == 1;

	for (uint64_t block = first;; block++) {
		if (grain->n == BATCH) {
			int r = flush(grain, err);

			if (r < 0)
				return r;
		}
		if (halves && block == last)
			grain->second[grain->n_seconds++] = (uint32_t)grain->n;
		grain->block[grain->n] = block;
		grain->is_write[grain->n++] = is_write;
		if (block == last)
			return 0;
	}
}

static int refer(struct loci_grain_engine *grain, uint64_t address, uint64_t size_bytes,
	bool is_write, bool bulk, struct loci_err *err)
{
	uint64_t first = address >> grain->shift;
	uint64_t last = (address + size_bytes - 1) >> grain->shift;
	int r;

	if (grain->n == BATCH) {
		r = flush(grain, err);
		if (r < 0)
			return r;
	}
	if (first == last || grain->options.objects) {
		grain->block[grain->n] = first;
		grain->is_write[grain->n++] = is_write;
		return 0;
	}
	if (last < first) /* runs over the end of the address space */
		last = UINT64_MAX >> grain->shift;
	if (first < last && !bulk)
		grain->straddles++;
	return spread(grain, first, last, is_write, bulk, err);
}

int loci_grain_feed(struct loci_grain_engine *grain, const struct loci_ref *refs, size_t n,
	struct loci_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct loci_ref *ref = &refs[i];
		int r;

		if (ref->op >= LOCI_OP_FRAME || ref->size_bytes == 0)
			continue;
		r = refer(grain, ref->address, ref->size_bytes, ref->op == LOCI_OP_STORE,
			ref->flags & LOCI_REF_BULK, err);
		if (r < 0)
			return r;
	}
	return 0;
}

uint64_t loci_grain_verified(const struct loci_grain_engine *grain)
{
	return grain->verified;
}

/* The lists of a single set and the stack are two engines for one number: its first 64 bins. */
static int agree(
	const struct loci_grain_engine *grain, const struct loci_hist *stack, struct loci_err *err)
{
	struct loci_sets_counts counts;

	loci_sets_counts(grain->sets, 0, &counts);
	for (uint32_t i = 0; i < LOCI_SETS_WAYS; i++) {
		double want = i < stack->n_bins ? stack->weight[i] : 0;

		if ((double)counts.position[i] != want)
			return loci_err_set(err, EILSEQ,
				"the engines disagree: %.0f and %" PRIu64
				" touches at distance %u; this is a bug in loci",
				want, counts.position[i], i);
	}
	return 0;
}

static int add_sets(
	const struct loci_grain_engine *grain, struct loci_grain_sum *sum, struct loci_err *err)
{
	for (unsigned bits = 0; grain->sets && bits <= LOCI_SETS_MAX_BITS; bits++) {
		loci_cleanup(loci_hist_fini) struct loci_hist hist = { 0 };
		loci_cleanup(loci_hist_fini) struct loci_hist dirty = { 0 };
		loci_cleanup(loci_hist_fini) struct loci_hist both = { 0 };
		struct loci_sets_counts counts;

		loci_sets_counts(grain->sets, bits, &counts);
		loci_hist_init(&hist, LOCI_SCHEME_LINEAR);
		loci_hist_init(&dirty, LOCI_SCHEME_LINEAR);
		loci_hist_init(&both, LOCI_SCHEME_LINEAR);
		if (loci_hist_from_counts(&hist, counts.position, LOCI_SETS_WAYS) < 0 ||
			loci_hist_from_counts(&dirty, counts.dirty, LOCI_SETS_WAYS) < 0 ||
			loci_hist_from_counts(&both, counts.both, LOCI_SETS_WAYS) < 0)
			return loci_err_nomem(err);
		hist.cold = (double)counts.absent;
		dirty.cold = (double)counts.dirty_absent;
		both.cold = (double)counts.both_absent;
		if (loci_hist_merge(&sum->set[bits], &hist) < 0 ||
			loci_hist_merge(&sum->set_dirty[bits], &dirty) < 0 ||
			loci_hist_merge(&sum->set_both[bits], &both) < 0)
			return loci_err_nomem(err);
	}
	return 0;
}

int loci_grain_finish(
	struct loci_grain_engine *grain, struct loci_grain_sum *sum, struct loci_err *err)
{
	loci_cleanup(loci_stack_result_fini) struct loci_stack_result result = { 0 };
	struct loci_grain totals;
	int r = flush(grain, err);

	if (r == 0 && grain->options.verify)
		r = verify_end(grain, err);
	if (r == 0)
		r = loci_stack_result(grain->stack, &result, err);
	if (r == 0 && grain->sets && result.sampling_rate == 1)
		r = agree(grain, &result.stack, err);
	if (r < 0)
		return r;
	totals = (struct loci_grain){
		.block_bytes = grain->options.block_bytes,
		.touches = result.touches,
		.writes = result.writes,
		.straddles = grain->straddles,
		.blocks = result.blocks,
		.sampling_rate = result.sampling_rate,
		.error_points = result.error_points,
		.sampled_from = result.sampled_from,
	};
	loci_grain_sum_totals(sum, &totals);
	sum->sets &= grain->sets != NULL;
	if (loci_hist_merge(&sum->stack, &result.stack) < 0 ||
		loci_hist_merge(&sum->time, &result.time) < 0 ||
		loci_hist_merge(&sum->dirty, &result.dirty) < 0)
		return loci_err_nomem(err);
	return add_sets(grain, sum, err);
}
