// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/grain_sum.h"

#include "base/cleanup.h"

#include <math.h>

void loci_grain_sum_init(struct loci_grain_sum *sum, uint64_t block_bytes, bool sets)
{
	*sum = (struct loci_grain_sum){
		.totals = { .block_bytes = block_bytes, .sampling_rate = 1 }, .sets = sets
	};
	loci_hist_init(&sum->stack, LOCI_SCHEME_FINE);
	loci_hist_init(&sum->time, LOCI_SCHEME_FINE);
	loci_hist_init(&sum->dirty, LOCI_SCHEME_FINE);
	for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++) {
		loci_hist_init(&sum->set[bits], LOCI_SCHEME_LINEAR);
		loci_hist_init(&sum->set_dirty[bits], LOCI_SCHEME_LINEAR);
		loci_hist_init(&sum->set_both[bits], LOCI_SCHEME_LINEAR);
	}
}

void loci_grain_sum_fini(struct loci_grain_sum *sum)
{
	loci_hist_fini(&sum->stack);
	loci_hist_fini(&sum->time);
	loci_hist_fini(&sum->dirty);
	for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++) {
		loci_hist_fini(&sum->set[bits]);
		loci_hist_fini(&sum->set_dirty[bits]);
		loci_hist_fini(&sum->set_both[bits]);
	}
}

void loci_grain_sum_totals(struct loci_grain_sum *sum, const struct loci_grain *totals)
{
	double error = totals->error_points * (double)totals->touches;
	struct loci_grain *all = &sum->totals;

	if (totals->sampled_from && !all->sampled_from)
		all->sampled_from = all->touches + totals->sampled_from;
	all->touches += totals->touches;
	all->writes += totals->writes;
	all->straddles += totals->straddles;
	all->blocks += totals->blocks;
	all->sampling_rate = fmin(all->sampling_rate, totals->sampling_rate);
	sum->error_square += error * error;
	all->error_points =
		all->touches ? sqrt(sum->error_square) / (double)all->touches : all->error_points;
}

int loci_grain_sum_merge(
	struct loci_grain_sum *into, const struct loci_grain_sum *from, struct loci_err *err)
{
	loci_grain_sum_totals(into, &from->totals);
	into->sets &= from->sets;
	if (loci_hist_merge(&into->stack, &from->stack) < 0 ||
		loci_hist_merge(&into->time, &from->time) < 0 ||
		loci_hist_merge(&into->dirty, &from->dirty) < 0)
		return loci_err_nomem(err);
	for (unsigned bits = 0; bits <= LOCI_SETS_MAX_BITS; bits++)
		if (loci_hist_merge(&into->set[bits], &from->set[bits]) < 0 ||
			loci_hist_merge(&into->set_dirty[bits], &from->set_dirty[bits]) < 0 ||
			loci_hist_merge(&into->set_both[bits], &from->set_both[bits]) < 0)
			return loci_err_nomem(err);
	return 0;
}

static int put_sets(
	const struct loci_grain_sum *sum, struct loci_profile *profile, struct loci_err *err)
{
	for (unsigned bits = 0; sum->sets && bits <= LOCI_SETS_MAX_BITS; bits++) {
		const struct {
			enum loci_distance distance;
			const struct loci_hist *hist;
		} hists[] = {
			{ LOCI_DISTANCE_SET, &sum->set[bits] },
			{ LOCI_DISTANCE_SET_DIRTY, &sum->set_dirty[bits] },
			{ LOCI_DISTANCE_SET_BOTH, &sum->set_both[bits] },
		};

		for (size_t i = 0; i < LOCI_ARRAY_SIZE(hists); i++) {
			struct loci_hist_key key = { .distance = hists[i].distance,
				.block_bytes = sum->totals.block_bytes,
				.set_bits = bits };
			int r = loci_profile_put_hist(profile, &key, hists[i].hist, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int loci_grain_sum_put(
	struct loci_grain_sum *sum, struct loci_profile *profile, struct loci_err *err)
{
	struct loci_hist_key key = { .block_bytes = sum->totals.block_bytes };
	const struct {
		enum loci_distance distance;
		const struct loci_hist *hist;
	} hists[] = {
		{ LOCI_DISTANCE_STACK, &sum->stack },
		{ LOCI_DISTANCE_TIME, &sum->time },
		{ LOCI_DISTANCE_DIRTY, &sum->dirty },
	};
	int r = loci_profile_put_grain(profile, &sum->totals, err);

	for (size_t i = 0; r == 0 && i < LOCI_ARRAY_SIZE(hists); i++) {
		key.distance = hists[i].distance;
		r = loci_profile_put_hist(profile, &key, hists[i].hist, err);
	}
	return r < 0 ? r : put_sets(sum, profile, err);
}
