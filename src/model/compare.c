// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/compare.h"

#include "base/units.h"
#include "model/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define USUAL_BLOCK 64
#define SAME        1e-3

const unsigned loci_compare_percents[LOCI_COMPARE_PERCENTILES] = { 50, 70, 80, 90, 95 };

double loci_change_relative(struct loci_change change)
{
	if (change.before == change.after)
		return 0;
	if (change.before == 0 || isinf(change.after))
		return INFINITY;
	if (isinf(change.before))
		return -1;
	return (change.after - change.before) / change.before;
}

enum loci_trend loci_change_trend(struct loci_change change, double whole, double error_points)
{
	double by = fabs(change.after - change.before);

	if (change.before == change.after || by < SAME * change.before ||
		(whole > 0 && 100 * by / whole < error_points))
		return LOCI_TREND_SAME;
	return change.after < change.before ? LOCI_TREND_BETTER : LOCI_TREND_WORSE;
}

static void list_blocks(const struct loci_profile *profile, char *buf, size_t size)
{
	char number[LOCI_UNITS_MAX];
	size_t n, used = 0;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);

	buf[0] = '\0';
	for (size_t i = 0; i < n && used + LOCI_UNITS_MAX < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
			loci_units_size(number, grain[i].block_bytes));
}

static const char *unit_of(const struct loci_profile *profile)
{
	const char *unit = loci_profile_run(profile)->unit;

	return unit ? unit : "byte";
}

int loci_compare_block(const struct loci_profile *before, const struct loci_profile *after,
	uint64_t block_bytes, uint64_t *ret, struct loci_err *err)
{
	const char *path[] = { loci_profile_path(before), loci_profile_path(after) };
	char list[2][160];
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(before, &n);

	if (strcmp(unit_of(before), unit_of(after)))
		return loci_err_set(err, EINVAL,
			"%.200s counts in %ss, %.200s in %ss: their distances have nothing in "
			"common",
			path[0], unit_of(before), path[1], unit_of(after));
	*ret = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t bytes = grain[i].block_bytes;

		if (!loci_profile_grain(after, bytes) || (block_bytes && bytes != block_bytes))
			continue;
		if (!*ret || bytes <= USUAL_BLOCK)
			*ret = bytes;
	}
	if (*ret)
		return 0;
	list_blocks(before, list[0], sizeof(list[0]));
	list_blocks(after, list[1], sizeof(list[1]));
	return loci_err_set(err, EINVAL,
		"%.200s has blocks of %s bytes, %.200s of %s: %s; record both with the same "
		"loci analyse -b SIZE",
		path[0], list[0], path[1], list[1],
		block_bytes ? "not both have the size asked for" : "they share no size");
}

/* Walks both histograms in step, shortest reuses first, each run's reuses adding up to one, and
 * hands out stretches that lie within one bin of either, with the caches, in blocks, that would
 * hold them. */
struct matcher {
	const struct loci_hist *hist[2];
	double whole[2]; /* weight of all reuses */
	uint32_t bin[2];
	double left[2]; /* share of the current bin not matched yet */
};

static bool matcher_next(
	struct matcher *m, double *ret_share, uint64_t *ret_before, uint64_t *ret_after)
{
	for (unsigned i = 0; i < 2; i++)
		while (m->left[i] <= 1e-15) {
			if (m->bin[i] >= m->hist[i]->n_bins)
				return false;
			m->left[i] = m->hist[i]->weight[m->bin[i]++] / m->whole[i];
		}
	*ret_share = fmin(m->left[0], m->left[1]);
	*ret_before = loci_bin_high(m->hist[0]->scheme, m->bin[0] - 1);
	*ret_after = loci_bin_high(m->hist[1]->scheme, m->bin[1] - 1);
	m->left[0] -= *ret_share;
	m->left[1] -= *ret_share;
	return true;
}

static struct matcher matcher_start(const struct loci_compare *c)
{
	struct matcher m = { .hist = { c->subject[0]->stack, c->subject[1]->stack } };

	for (unsigned i = 0; i < 2; i++)
		m.whole[i] = loci_hist_finite(m.hist[i]);
	return m;
}

static void tally_groups(struct loci_compare *c)
{
	struct matcher m = matcher_start(c);
	double share;
	uint64_t before, after;

	while (m.whole[0] > 0 && m.whole[1] > 0 && matcher_next(&m, &share, &before, &after)) {
		struct loci_compare_group *group =
			before <= c->boundary_blocks ? &c->near : &c->far;

		group->share += share;
		if (after / 2 >= before)
			group->longer += share;
		else if (before / 2 >= after)
			group->shorter += share;
	}
}

/* The medians of a group lie at a rank, which is the same in both runs. */
static void find_medians(struct loci_compare *c)
{
	struct loci_compare_group *group[] = { &c->near, &c->far };
	double rank[] = { c->near.share / 2, c->near.share + c->far.share / 2 };
	struct matcher m = matcher_start(c);
	double share, sum = 0;
	uint64_t before, after;
	unsigned g = 0;

	while (g < 2 && m.whole[0] > 0 && m.whole[1] > 0 &&
		matcher_next(&m, &share, &before, &after)) {
		sum += share;
		for (; g < 2 && sum >= rank[g] - 1e-12; g++)
			if (group[g]->share > 0)
				group[g]->median =
					(struct loci_change){ (double)before, (double)after };
	}
	for (g = 0; g < 2; g++)
		if (group[g]->share > 0) {
			group[g]->longer /= group[g]->share;
			group[g]->shorter /= group[g]->share;
		}
}

static double percentile(const struct loci_hist *hist, unsigned percent)
{
	uint64_t blocks = loci_hist_percentile(hist, percent / 100.);

	return blocks == LOCI_INFINITE ? INFINITY : (double)blocks;
}

static void compare_levels(struct loci_compare *c)
{
	const struct loci_subject *a = c->subject[0], *b = c->subject[1];

	for (unsigned i = 0; i < a->n_levels; i++) {
		const struct loci_prediction *p = &a->level[i], *q = NULL;
		struct loci_compare_level *level = &c->level[c->n_levels];

		for (unsigned j = 0; j < b->n_levels; j++)
			if (!strcmp(b->level[j].cache.name, p->cache.name))
				q = &b->level[j];
		if (!q)
			continue;
		c->n_levels++;
		*level = (struct loci_compare_level){
			.cache = q->cache,
			.misses = { p->misses, q->misses },
			.accesses = { p->accesses, q->accesses },
			.moved_bytes = { p->moved_bytes, q->moved_bytes },
			.writebacks = { p->writebacks, q->writebacks },
			.has_writebacks = p->has_writebacks && q->has_writebacks,
			.error_points = p->basis == q->basis
				? hypot(p->chance_points, q->chance_points)
				: hypot(p->error_points, q->error_points),
		};
	}
}

static void find_boundary(struct loci_compare *c)
{
	struct loci_verdict verdict;

	loci_verdict(c->subject[0], &verdict);
	c->boundary_blocks = verdict.near.blocks ? verdict.near.blocks : 1;
	if (verdict.near.blocks && verdict.near.level >= 0)
		memcpy(c->boundary_name, verdict.level[verdict.near.level].name,
			sizeof(c->boundary_name));
}

/* A sample's weights add up to less than the touches there were. */
static double first_touches(const struct loci_subject *subject)
{
	double total = loci_hist_total(subject->stack);

	return total > 0 ? subject->stack->cold * (double)subject->grain->touches / total : 0;
}

void loci_compare(const struct loci_subject *before, const struct loci_subject *after,
	unsigned max_rows, struct loci_compare *ret)
{
	uint64_t edge[LOCI_LEVELS_MAX];
	unsigned n_edges;

	*ret = (struct loci_compare){
		.subject = { before, after },
		.block_bytes = after->grain->block_bytes,
		.is_object = after->is_object,
		.error_points = hypot(before->grain->error_points, after->grain->error_points),
		.references = { (double)before->run->references, (double)after->run->references },
		.touches = { (double)before->grain->touches, (double)after->grain->touches },
		.blocks = { before->grain->blocks, after->grain->blocks },
		.cold = { first_touches(before), first_touches(after) },
	};
	for (unsigned i = 0; i < LOCI_COMPARE_PERCENTILES; i++)
		ret->percentile[i] = (struct loci_change){
			percentile(before->stack, loci_compare_percents[i]),
			percentile(after->stack, loci_compare_percents[i]),
		};
	compare_levels(ret);
	find_boundary(ret);
	tally_groups(ret);
	find_medians(ret);
	n_edges = loci_subject_edges(after, edge, NULL);
	loci_bins_cut(before->stack, after->stack, edge, n_edges, max_rows, &ret->bins);
}
