// SPDX-License-Identifier: GPL-2.0-or-later
/* Sampling of blocks, when the engine may not grow any more (after SHARDS, Waldspurger et al. 2015,
 * in its fixed-size form): only blocks whose hash is below a threshold are followed, and the
 * threshold is halved whenever they become too many.
 *
 * The top of the stack stays exact: it holds all blocks, followed or not, so that distances below
 * its size are counted for every touch, with weight 1. Blocks that are not followed are forgotten
 * when they leave it. Touches further down are counted for followed blocks only, with weight
 * 2^shift, at the distance (blocks in the top) + (followed blocks deeper, times 2^shift). So the
 * weight of a stack distance or dirty level is known from its bin: those below the top's size weigh
 * 1. A block entering the top unknown has an unknown dirty level until it is written.
 *
 * The totals of touches and writes are exact, and the weights are made to add up to them as in
 * SHARDS-adj: followed blocks being touched too often or too seldom is mostly a matter of the most
 * frequent ones, whose distances are short, so what is missing is added at the shortest sampled
 * distance, and what is too much is taken from the shortest sampled distances on.
 *
 * Error: followed blocks fall into groups by other bits of the hash, which are as many independent
 * samples; their spread gives the 95 % interval of the misses at every power-of-two size. To that
 * comes the error of the sizes themselves: a distance d is known to about sqrt(d * 2^shift), so the
 * misses at a size may be those of one that much smaller or larger. Both are approximate. */
#include "engine/stack_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define STUDENT   2.131 /* 95 %, two-sided, 15 degrees of freedom: one less than GROUPS */
#define NORMAL    1.96
#define MAX_SHIFT 48

enum { STACK, TIME, DIRTY };

void loci_stack_sample_free(struct loci_stack_sample *sample)
{
	if (!sample)
		return;
	free(sample->front);
	free(sample);
}

static int begin(struct loci_stack *stack)
{
	struct loci_stack_sample *sample = calloc(1, sizeof(*sample));

	if (!sample)
		return -ENOMEM;
	sample->front = aligned_alloc(64, LOCI_STACK_FRONT_BYTES);
	if (!sample->front) {
		free(sample);
		return -ENOMEM;
	}
	memset(sample->front, 0, LOCI_STACK_FRONT_BYTES);
	sample->from = stack->now;
	for (unsigned bin = 0; bin < LOCI_STACK_BINS; bin++) {
		sample->exact[bin] = (double)stack->counts->stack[bin];
		sample->writes += stack->counts->dirty[bin];
	}
	stack->sample = sample;
	if (stack->recent)
		loci_stack_rank_top(stack);
	return 0;
}

static double weight_of(const struct loci_stack_sample *sample, unsigned bin)
{
	return bin < LOCI_STACK_TOP ? 1 : ldexp(1, (int)sample->shift);
}

/* What has been counted in a bin of a metric, with its weight. */
static double weight_in(
	const struct loci_stack *stack, unsigned metric, unsigned bin, double *ret_square)
{
	const struct loci_stack_sample *sample = stack->sample;
	double deep = ldexp(1, (int)sample->shift), weight, n;

	if (metric == TIME) {
		n = (double)sample->time[bin];
		*ret_square = (double)stack->counts->time[bin] + n * deep * deep;
		return (double)stack->counts->time[bin] + n * deep;
	}
	n = (double)(metric == STACK ? stack->counts->stack : stack->counts->dirty)[bin];
	weight = weight_of(sample, bin);
	*ret_square = n * weight * weight;
	return n * weight;
}

/* Before the rate changes: what has been counted gets the weight it was counted at. */
static void settle(struct loci_stack *stack)
{
	struct loci_stack_sample *sample = stack->sample;

	for (unsigned metric = STACK; metric <= DIRTY; metric++)
		for (unsigned bin = 0; bin < LOCI_STACK_BINS; bin++) {
			double square;

			sample->weight[metric][bin] += weight_in(stack, metric, bin, &square);
			sample->square[metric][bin] += square;
		}
	for (unsigned group = 0; group < LOCI_STACK_GROUPS; group++)
		for (unsigned class = 0; class < LOCI_STACK_CLASSES; class ++)
			sample->group_weight[group][class] +=
				ldexp((double)sample->group[group][class], (int)sample->shift);
	memset(stack->counts, 0, sizeof(*stack->counts));
	memset(sample->time, 0, sizeof(sample->time));
	memset(sample->group, 0, sizeof(sample->group));
}

static void add_to_front(struct loci_stack *stack, uint64_t key, uint64_t stamp, uint32_t slot)
{
	struct loci_stack_bucket *home =
		&stack->sample->front[loci_stack_home(key, LOCI_STACK_FRONT_HOMES)];

	stack->place[slot - 1] = loci_stack_bucket_add(home, key, stamp, slot);
}

void loci_stack_sample_clean(struct loci_stack *stack)
{
	struct loci_stack_sample *sample = stack->sample;
	uint64_t key[LOCI_STACK_TOP], stamp[LOCI_STACK_TOP];
	uint32_t slot[LOCI_STACK_TOP];
	unsigned n = 0;

	for (unsigned i = 0; i < LOCI_STACK_TOP; i++) {
		uint32_t *entry = stack->place[i];

		if (!entry || !loci_stack_in_front(sample, entry))
			continue;
		key[n] = *loci_stack_key(entry);
		stamp[n] = *loci_stack_stamp(entry);
		slot[n++] = *entry;
	}
	memset(sample->front, 0, LOCI_STACK_FRONT_BYTES);
	for (unsigned i = 0; i < n; i++)
		add_to_front(stack, key[i], stamp[i], slot[i]);
}

/* A dirty level that the block brought from below is not known of blocks not followed. */
static uint64_t without_dirty(uint64_t stamp)
{
	if ((stamp & LOCI_STACK_BIN_COLD) < LOCI_STACK_TOP)
		return stamp;
	return (stamp & ~(uint64_t)LOCI_STACK_BIN_COLD) | LOCI_STACK_BIN_UNKNOWN;
}

static bool keep(void *data, uint64_t key, uint64_t stamp, uint32_t slot)
{
	struct loci_stack *stack = data;

	if (loci_stack_sampled(key, stack->sample->shift))
		return true;
	if (slot <= LOCI_STACK_TOP)
		add_to_front(stack, key, without_dirty(stamp), slot);
	else
		loci_stack_slots_clear(&stack->slots, slot - LOCI_STACK_DEEP);
	return false;
}

int loci_stack_sample_less(struct loci_stack *stack, struct loci_err *err)
{
	uint64_t n_deep;

	if (!stack->sample && begin(stack) < 0)
		return loci_err_nomem(err);
	if (stack->sample->shift == MAX_SHIFT)
		return loci_err_set(err, EOVERFLOW,
			"touch %llu: too many blocks for the memory given",
			(unsigned long long)stack->now);
	settle(stack);
	stack->sample->shift++;
	loci_stack_sample_clean(stack);
	loci_stack_map_filter(&stack->map, stack->place, keep, stack);
	n_deep = loci_stack_n_deep(stack);
	if (loci_stack_slots_renumber(
		    &stack->slots, &stack->map, n_deep, loci_stack_slots_for(stack, n_deep)) < 0)
		return loci_err_nomem(err);
	return 0;
}

/* Makes the weights add up to a total, from the shortest sampled distance on. */
static void adjust(struct loci_hist *hist, uint64_t total, uint32_t shortest)
{
	double missing = (double)total - loci_hist_total(hist);

	for (uint32_t bin = shortest; bin < hist->n_bins && missing != 0; bin++) {
		double weight = fmax(0, hist->weight[bin] + missing);

		missing -= weight - hist->weight[bin];
		hist->weight[bin] = weight;
	}
	hist->cold += missing; /* only infinite distances were sampled */
}

static int fill(const struct loci_stack *stack, unsigned metric, uint64_t total, uint32_t shortest,
	struct loci_hist *hist)
{
	const struct loci_stack_sample *sample = stack->sample;
	double square;

	if (loci_hist_reserve(hist, LOCI_FINE_BINS) < 0)
		return -ENOMEM;
	hist->square = calloc(LOCI_FINE_BINS, sizeof(double));
	if (!hist->square)
		return -ENOMEM;
	for (unsigned bin = 0; bin < LOCI_FINE_BINS; bin++) {
		hist->weight[bin] =
			sample->weight[metric][bin] + weight_in(stack, metric, bin, &square);
		hist->square[bin] = sample->square[metric][bin] + square;
	}
	hist->cold = sample->weight[metric][LOCI_STACK_BIN_COLD] +
		weight_in(stack, metric, LOCI_STACK_BIN_COLD, &square);
	while (hist->n_bins > shortest + 1 && hist->square[hist->n_bins - 1] == 0)
		hist->n_bins--;
	adjust(hist, total, shortest);
	return 0;
}

/* The half-width of the misses of a cache of 2^log2 blocks from the spread of the groups. */
static double spread(const struct loci_stack_sample *sample, unsigned log2)
{
	double misses[LOCI_STACK_GROUPS], mean = 0, squares = 0;

	for (unsigned group = 0; group < LOCI_STACK_GROUPS; group++) {
		misses[group] = 0;
		for (unsigned class = log2 + 1; class < LOCI_STACK_CLASSES; class ++)
			misses[group] += sample->group_weight[group][class] +
				ldexp((double)sample->group[group][class], (int)sample->shift);
		mean += misses[group] / LOCI_STACK_GROUPS;
	}
	for (unsigned group = 0; group < LOCI_STACK_GROUPS; group++)
		squares += (misses[group] - mean) * (misses[group] - mean);
	return STUDENT * sqrt(squares * LOCI_STACK_GROUPS / (LOCI_STACK_GROUPS - 1));
}

/* How much the misses change within the error of the size. sampled: stack distances counted while
 * sampling. */
static double slope(
	const struct loci_stack_sample *sample, const struct loci_hist *sampled, unsigned log2)
{
	double size = ldexp(1, (int)log2), error = NORMAL * sqrt(ldexp(size, (int)sample->shift));
	double at = loci_hist_at_least(sampled, (uint64_t)size, NULL);
	double below = loci_hist_at_least(sampled, (uint64_t)fmax(0, size - error), NULL);
	double above = loci_hist_at_least(sampled, (uint64_t)(size + error), NULL);

	return fmax(below - at, at - above);
}

static int error_of(const struct loci_stack *stack, struct loci_stack_result *ret)
{
	const struct loci_stack_sample *sample = stack->sample;
	struct loci_hist sampled;

	if (loci_hist_copy(&sampled, &ret->stack) < 0) {
		loci_hist_fini(&sampled);
		return -ENOMEM;
	}
	for (uint32_t bin = 0; bin < sampled.n_bins; bin++)
		sampled.weight[bin] = fmax(0, sampled.weight[bin] - sample->exact[bin]);
	for (unsigned log2 = 0; log2 < 63; log2++) {
		double error;

		if (1ull << log2 <= LOCI_STACK_TOP)
			continue;
		error = hypot(spread(sample, log2), slope(sample, &sampled, log2));
		ret->error_points = fmax(ret->error_points, 100 * error / (double)ret->touches);
	}
	loci_hist_fini(&sampled);
	return 0;
}

int loci_stack_sample_result(const struct loci_stack *stack, struct loci_stack_result *ret)
{
	const struct loci_stack_sample *sample = stack->sample;

	ret->writes = sample->writes;
	if (fill(stack, STACK, ret->touches, LOCI_STACK_TOP, &ret->stack) < 0 ||
		fill(stack, TIME, ret->touches, LOCI_STACK_TOP + 1, &ret->time) < 0 ||
		fill(stack, DIRTY, ret->writes, LOCI_STACK_TOP, &ret->dirty) < 0)
		return -ENOMEM;
	ret->blocks = ret->stack.cold;
	ret->sampling_rate = ldexp(1, -(int)sample->shift);
	ret->sampled_from = sample->from;
	return error_of(stack, ret);
}
