// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/sample_sum.h"

#include "base/cleanup.h"
#include "profile/dimension.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NORMAL_95 1.96
#define NOUGHT    1e-9 /* what may be left of a ratio by rounding */
#define MINOR     0.01 /* of all touches */

/* Without memory for squares it is an exact one, and adding to it will fail, too. */
static void init_hist(struct loci_hist *hist)
{
	loci_hist_init(hist, LOCI_SCHEME_FINE);
	hist->square = calloc(1, sizeof(*hist->square));
}

static void init_hists(struct loci_sample_hists *hists)
{
	init_hist(&hists->distance);
	init_hist(&hists->at_least);
}

static void fini_hists(struct loci_sample_hists *hists)
{
	loci_hist_fini(&hists->distance);
	loci_hist_fini(&hists->at_least);
}

void loci_sample_sum_init(struct loci_sample_sum *sum)
{
	*sum = (struct loci_sample_sum){ 0 };
	init_hists(&sum->shared);
	init_hists(&sum->private_);
	init_hist(&sum->time);
	init_hist(&sum->time_remote);
	init_hist(&sum->near);
	init_hist(&sum->near_time);
}

void loci_sample_sum_fini(struct loci_sample_sum *sum)
{
	fini_hists(&sum->shared);
	fini_hists(&sum->private_);
	loci_hist_fini(&sum->time);
	loci_hist_fini(&sum->time_remote);
	loci_hist_fini(&sum->near);
	loci_hist_fini(&sum->near_time);
	for (size_t i = 0; i < sum->n_threads; i++)
		fini_hists(&sum->thread[i].private_);
	free(sum->thread);
	sum->thread = NULL;
	sum->n_threads = 0;
}

int loci_sample_sum_add_threads(struct loci_sample_sum *sum, size_t n)
{
	sum->thread = calloc(n ? n : 1, sizeof(*sum->thread));
	if (!sum->thread)
		return -ENOMEM;
	for (; sum->n_threads < n; sum->n_threads++)
		init_hists(&sum->thread[sum->n_threads].private_);
	return 0;
}

static int merge_hists(struct loci_sample_hists *into, const struct loci_sample_hists *from)
{
	if (loci_hist_merge(&into->distance, &from->distance) < 0)
		return -ENOMEM;
	return loci_hist_merge(&into->at_least, &from->at_least);
}

int loci_sample_sum_merge(struct loci_sample_sum *into, const struct loci_sample_sum *from)
{
	into->references += from->references;
	into->analysed += from->analysed;
	into->samples += from->samples;
	into->pruned += from->pruned;
	into->lost += from->lost;
	into->unseen += from->unseen;
	into->in_burst += from->in_burst;
	into->by_watch += from->by_watch;
	into->never += from->never;
	into->abandoned += from->abandoned;
	into->by_time += from->by_time;
	into->stores += from->stores;
	if (into->last_mean < from->last_mean)
		into->last_mean = from->last_mean;
	into->weight += from->weight;
	into->square += from->square;
	into->touches += from->touches;
	into->writes += from->writes;
	into->straddles += from->straddles;
	into->unknown += from->unknown;
	into->threads |= from->threads;
	if (merge_hists(&into->shared, &from->shared) < 0 ||
		loci_hist_merge(&into->time, &from->time) < 0 ||
		loci_hist_merge(&into->time_remote, &from->time_remote) < 0 ||
		loci_hist_merge(&into->near, &from->near) < 0 ||
		loci_hist_merge(&into->near_time, &from->near_time) < 0)
		return -ENOMEM;
	return merge_hists(&into->private_, &from->private_);
}

double loci_sample_sum_effective(const struct loci_sample_sum *sum)
{
	return sum->square > 0 ? sum->weight * sum->weight / sum->square : 0;
}

/* How far the interval of Wilson (1927) goes from a ratio of n samples: also where all of them say
 * the same. */
static double chance_of(double p, double n)
{
	double z = NORMAL_95 * NORMAL_95 / n;
	double middle = (p + z / 2) / (1 + z);
	double half = sqrt(z * (p * (1 - p) + z / 4)) / (1 + z);

	return fabs(middle - p) + half;
}

/* Far samples weigh more than near ones, of which a ratio of the two varies more than of as many
 * that weigh alike: by the linear part of that (Cochran 1977). squares: of near and far weights, of
 * which the sum is 1. */
static double weighted_chance(double p, double n, double near_squares, double far_squares)
{
	double varies = (1 - p) * (1 - p) * far_squares + p * p * near_squares;

	if (p > NOUGHT && p < 1 - NOUGHT && varies * n > p * (1 - p))
		n = p * (1 - p) / varies;
	return chance_of(p, n);
}

/* At the cut that errs most. squares: sum of them; what no bin has is of infinite distances, if
 * there are any. */
static double worst_chance(const struct loci_hist *hist, double squares, double n)
{
	double all = loci_hist_total(hist), beyond = all, near = 0, in_bins = 0, worst = 0;

	if (!(n > 0))
		return 1;
	for (uint32_t i = 0; hist->square && i < hist->n_bins; i++)
		in_bins += hist->square[i];
	squares = fmax(squares, in_bins);
	for (uint32_t i = 0; i <= hist->n_bins && all > 0; i++) {
		double p = fmin(fmax(beyond / all, 0), 1);
		double part = hist->cold > 0 || !(in_bins > 0) ? near : near * squares / in_bins;

		worst = fmax(worst,
			weighted_chance(
				p, n, part / (all * all), fmax(squares - part, 0) / (all * all)));
		if (i < hist->n_bins) {
			beyond -= hist->weight[i];
			near += hist->square ? hist->square[i] : 0;
		}
	}
	return fmin(fmax(worst, chance_of(1, n)), 1);
}

bool loci_sample_sum_is_blind(const struct loci_sample_sum *sum)
{
	return sum->unknown > 0 && sum->unknown >= MINOR * sum->touches && !sum->by_watch &&
		!sum->never;
}

double loci_sample_sum_error(const struct loci_sample_sum *sum)
{
	double all = loci_hist_total(&sum->shared.distance), n = loci_sample_sum_effective(sum);
	double chance = worst_chance(all > 0 ? &sum->shared.distance : &sum->time, sum->square, n);
	double open = 0;

	if (all > 0)
		open = loci_hist_finite(&sum->shared.at_least) / all;
	else if (sum->touches > 0)
		open = sum->unknown / sum->touches;
	return 100 * fmin(1, chance + open);
}

static int put_hists(const struct loci_sample_hists *hists, struct loci_hist_key key,
	enum loci_distance distance, enum loci_distance at_least, struct loci_profile *profile,
	struct loci_err *err)
{
	int r;

	if (!(loci_hist_total(&hists->distance) > 0))
		return 0;
	key.distance = distance;
	r = loci_profile_put_hist(profile, &key, &hists->distance, err);
	if (r < 0 || !(loci_hist_total(&hists->at_least) > 0))
		return r;
	key.distance = at_least;
	return loci_profile_put_hist(profile, &key, &hists->at_least, err);
}

/* Also if no sample says anything, so that sums of profiles have what the others say. */
static int put_watched(const struct loci_sample_sum *sum, struct loci_hist_key key,
	struct loci_profile *profile, struct loci_err *err)
{
	const struct {
		enum loci_distance distance;
		const struct loci_hist *hist;
	} made[] = {
		{ LOCI_DISTANCE_TIME, &sum->time },
		{ LOCI_DISTANCE_TIME_REMOTE, &sum->time_remote },
		{ LOCI_DISTANCE_NEAR, &sum->near },
		{ LOCI_DISTANCE_NEAR_TIME, &sum->near_time },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < LOCI_ARRAY_SIZE(made); i++) {
		key.distance = made[i].distance;
		r = loci_profile_put_hist(profile, &key, made[i].hist, err);
	}
	return r;
}

int loci_sample_sum_put(const struct loci_sample_sum *sum, uint64_t block_bytes,
	struct loci_sampling_row *sampling, struct loci_profile *profile, struct loci_err *err)
{
	struct loci_hist_key key = { .block_bytes = block_bytes };
	struct loci_grain grain = { .block_bytes = block_bytes,
		.touches = (uint64_t)llround(sum->touches),
		.writes = (uint64_t)llround(sum->writes),
		.straddles = (uint64_t)llround(sum->straddles),
		/* a block has one last touch */
		.blocks = floor(sum->shared.distance.cold + sum->time.cold),
		.sampling_rate = 1,
		.error_points = loci_sample_sum_error(sum) };
	int r = loci_profile_put_grain(profile, &grain, err);

	sampling->id = 1;
	sampling->samples = sum->samples;
	sampling->pruned = sum->pruned;
	sampling->lost = sum->lost;
	sampling->analysed_refs = sum->analysed;
	sampling->refs = sum->references;
	sampling->effective = loci_sample_sum_effective(sum);
	if (r == 0)
		r = loci_profile_put_sampling(profile, sampling, err);
	if (r == 0)
		r = put_hists(&sum->shared, key, LOCI_DISTANCE_STACK, LOCI_DISTANCE_AT_LEAST,
			profile, err);
	if (r == 0 && sum->threads)
		r = put_hists(&sum->private_, key, LOCI_DISTANCE_PRIVATE,
			LOCI_DISTANCE_PRIVATE_AT_LEAST, profile, err);
	return r < 0 || !sampling->watched_by ? r : put_watched(sum, key, profile, err);
}

int loci_sample_sum_put_threads(const struct loci_sample_sum *sum, uint64_t block_bytes,
	uint32_t first_id, struct loci_profile *profile, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && sum->threads && i < sum->n_threads; i++) {
		struct loci_hist_key key = { .block_bytes = block_bytes,
			.owner = LOCI_OWNER_THREAD,
			.owner_id = (int64_t)sum->thread[i].thread + first_id };

		r = put_hists(&sum->thread[i].private_, key, LOCI_DISTANCE_PRIVATE,
			LOCI_DISTANCE_PRIVATE_AT_LEAST, profile, err);
	}
	return r;
}
