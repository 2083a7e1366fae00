// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/view_tables.h"

#include "base/cleanup.h"
#include "model/convert.h"
#include "model/time_stack.h"
#include "profile/dimension.h"
#include "report/pairs.h"

#include <errno.h>

static void put_bins(
	const struct loci_hist *hist, const char *key, bool weights, struct loci_json *json)
{
	uint32_t last = 0;

	loci_pair_array(json, key);
	for (uint32_t i = 0; i < hist->n_bins; i++) {
		if (!(hist->weight[i] > 0))
			continue;
		if (weights)
			loci_json_number(json, hist->weight[i]);
		else
			loci_json_u64(json, i - last); /* differences compress better */
		last = i;
	}
	loci_json_array_end(json);
}

static void put_hist(const struct loci_hist *hist, struct loci_json *json)
{
	loci_pair_string(json, "scheme", loci_scheme_name(hist->scheme));
	loci_pair_number(json, "cold", hist->cold);
	loci_pair_number(json, "coherence", hist->coherence);
	put_bins(hist, "bins", false, json);
	put_bins(hist, "weights", true, json);
}

void loci_view_hist(const struct loci_hist *hist, struct loci_json *json)
{
	loci_json_object(json);
	put_hist(hist, json);
	loci_json_object_end(json);
}

static void put_whole(const struct loci_hist_key *key, const struct loci_hist *hist,
	enum loci_conversion model, struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_string(json, "distance", loci_distance_name(key->distance));
	loci_pair_u64(json, "block_bytes", key->block_bytes);
	loci_pair_u64(json, "set_bits", key->set_bits);
	loci_pair_string(json, "model", model ? loci_conversion_name(model) : NULL);
	put_hist(hist, json);
	loci_json_object_end(json);
}

/* Time distances are for models that the page does not have. But where there are no others, as of
 * samples that were watched, it has the stack distances that StatStack makes of them. */
static int put_time(struct loci_profile *profile, const struct loci_hist_key *key,
	struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_hist_fini) struct loci_hist made = { 0 };
	struct loci_hist_key stack = *key;
	const struct loci_hist *hist;
	int r;

	stack.distance = LOCI_DISTANCE_STACK;
	r = loci_profile_hist(profile, &stack, &hist, NULL);
	if (r != -ENOENT)
		return 0;
	r = loci_time_stack(profile, key, &made, err);
	if (r < 0)
		return r;
	put_whole(&stack, &made, LOCI_CONVERT_STATSTACK, json);
	return 0;
}

int loci_view_hists(struct loci_profile *profile, struct loci_json *json, struct loci_err *err)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);
	const struct loci_hist *hist;
	int r = 0;

	loci_pair_array(json, "histograms");
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (key[i].owner != LOCI_OWNER_WHOLE || key[i].distance == LOCI_DISTANCE_NEAR ||
			key[i].distance == LOCI_DISTANCE_NEAR_TIME)
			continue;
		if (key[i].distance == LOCI_DISTANCE_TIME) {
			r = put_time(profile, &key[i], json, err);
			continue;
		}
		r = loci_profile_hist(profile, &key[i], &hist, err);
		if (r == 0)
			put_whole(&key[i], hist, LOCI_CONVERT_NONE, json);
	}
	loci_json_array_end(json);
	return r;
}

/* Histograms by place among the rows shown; NULL: it has none. */
static int by_place(const struct loci_shown *shown, enum loci_owner owner,
	const struct loci_shown_table *table, const void *rows, size_t row_bytes,
	const struct loci_hist ***ret, struct loci_err *err)
{
	const struct loci_owner_hist *hist;
	size_t n;
	int r = loci_profile_hists(shown->catalogue.profile, LOCI_DISTANCE_STACK, owner,
		shown->block_bytes, &hist, &n, err);

	if (r < 0)
		return r;
	*ret = calloc(table->n_shown + 1, sizeof(**ret));
	if (!*ret)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = loci_shown_at(table, rows, row_bytes, hist[i].owner_id);

		if (at != LOCI_HIDDEN && hist[i].hist->scheme == LOCI_SCHEME_COARSE)
			(*ret)[at] = hist[i].hist;
	}
	return 0;
}

static uint32_t n_loud(const struct loci_hist *hist)
{
	uint32_t n = 0;

	for (uint32_t i = 0; hist && i < hist->n_bins; i++)
		n += hist->weight[i] > 0;
	return n;
}

int loci_view_owner_hists(const struct loci_shown *shown, enum loci_owner owner,
	const struct loci_shown_table *table, const void *rows, size_t row_bytes,
	struct loci_json *json, struct loci_err *err)
{
	loci_autofree const struct loci_hist **hist = NULL;
	int r = by_place(shown, owner, table, rows, row_bytes, &hist, err);

	if (r < 0)
		return r;
	loci_pair_object(json, "histogram");
	loci_pair_array(json, "n"); /* bins of each row */
	for (uint32_t i = 0; i < table->n_shown; i++)
		loci_json_u64(json, n_loud(hist[i]));
	loci_json_array_end(json);
	loci_pair_array(json, "cold");
	for (uint32_t i = 0; i < table->n_shown; i++)
		loci_json_number(json, hist[i] ? hist[i]->cold : 0);
	loci_json_array_end(json);
	loci_pair_array(json, "coherence");
	for (uint32_t i = 0; i < table->n_shown; i++)
		loci_json_number(json, hist[i] ? hist[i]->coherence : 0);
	loci_json_array_end(json);
	loci_pair_array(json, "bins");
	for (uint32_t i = 0; i < table->n_shown; i++)
		for (uint32_t k = 0; hist[i] && k < hist[i]->n_bins; k++)
			if (hist[i]->weight[k] > 0)
				loci_json_u64(json, k);
	loci_json_array_end(json);
	loci_pair_array(json, "weights");
	for (uint32_t i = 0; i < table->n_shown; i++)
		for (uint32_t k = 0; hist[i] && k < hist[i]->n_bins; k++)
			if (hist[i]->weight[k] > 0)
				loci_json_number(json, hist[i]->weight[k]);
	loci_json_array_end(json);
	loci_json_object_end(json);
	return 0;
}
