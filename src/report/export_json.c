// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/export.h"
#include "report/export_dimensions.h"
#include "report/unseen_line.h"

static void text(struct loci_json *json, const char *key, const char *value)
{
	loci_json_key(json, key);
	loci_json_string(json, value);
}

static void count(struct loci_json *json, const char *key, uint64_t value)
{
	loci_json_key(json, key);
	loci_json_u64(json, value);
}

static void number(struct loci_json *json, const char *key, double value)
{
	loci_json_key(json, key);
	loci_json_number(json, value);
}

static void flag(struct loci_json *json, const char *key, bool value)
{
	loci_json_key(json, key);
	loci_json_bool(json, value);
}

static void export_run(struct loci_json *json, const struct loci_run *run)
{
	loci_json_key(json, "run");
	loci_json_object(json);
	text(json, "command", run->command);
	text(json, "collector", run->collector);
	text(json, "origin", run->origin);
	text(json, "mode", run->mode);
	text(json, "unit", run->unit);
	text(json, "capabilities", run->capabilities);
	text(json, "loci_version", run->program_version);
	text(json, "machine", run->machine);
	text(json, "caches", run->caches);
	text(json, "started", run->started);
	number(json, "seconds", run->seconds);
	flag(json, "complete", run->complete);
	text(json, "note", run->note);
	count(json, "references", run->references);
	count(json, "loads", run->loads);
	count(json, "stores", run->stores);
	count(json, "fetches", run->fetches);
	count(json, "bulk", run->bulk);
	count(json, "lost", run->lost);
	count(json, "threads", run->threads);
	count(json, "merged", run->merged);
	loci_json_object_end(json);
}

static void export_grains(struct loci_json *json, const struct loci_profile *profile)
{
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);

	loci_json_key(json, "grains");
	loci_json_array(json);
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		count(json, "block_bytes", grain[i].block_bytes);
		count(json, "touches", grain[i].touches);
		count(json, "writes", grain[i].writes);
		count(json, "straddles", grain[i].straddles);
		number(json, "blocks", grain[i].blocks);
		number(json, "sampling_rate", grain[i].sampling_rate);
		number(json, "error_points", grain[i].error_points);
		count(json, "sampled_from", grain[i].sampled_from);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void export_threads(struct loci_json *json, const struct loci_profile *profile)
{
	size_t n;
	const struct loci_thread_totals *thread = loci_profile_threads(profile, &n);

	loci_json_key(json, "threads");
	loci_json_array(json);
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		count(json, "id", thread[i].thread);
		count(json, "references", thread[i].references);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void export_bins(struct loci_json *json, const struct loci_hist *hist)
{
	loci_json_key(json, "bins");
	loci_json_array(json);
	for (uint32_t i = 0; i < hist->n_bins; i++) {
		uint64_t high = loci_bin_high(hist->scheme, i);

		if (!hist->weight[i])
			continue;
		loci_json_object(json);
		count(json, "low", loci_bin_low(hist->scheme, i));
		if (high == LOCI_INFINITE)
			text(json, "high", NULL);
		else
			count(json, "high", high);
		number(json, "weight", hist->weight[i]);
		if (hist->square)
			number(json, "square", hist->square[i]);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void export_hist(
	struct loci_json *json, const struct loci_hist_key *key, const struct loci_hist *hist)
{
	loci_json_object(json);
	text(json, "distance", loci_distance_name(key->distance));
	count(json, "block_bytes", key->block_bytes);
	count(json, "set_bits", key->set_bits);
	text(json, "owner", loci_owner_name(key->owner));
	count(json, "owner_id", (uint64_t)key->owner_id);
	text(json, "scheme", loci_scheme_name(hist->scheme));
	flag(json, "sampled", hist->square != NULL);
	number(json, "cold", hist->cold);
	number(json, "coherence", hist->coherence);
	export_bins(json, hist);
	loci_json_object_end(json);
}

int loci_export_json(struct loci_profile *profile, FILE *out, struct loci_err *err)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);
	const struct loci_hist *hist;
	struct loci_json json;
	int r = 0;

	loci_json_begin(&json, out);
	loci_json_object(&json);
	count(&json, "version", LOCI_EXPORT_VERSION);
	text(&json, "profile", loci_profile_path(profile));
	export_run(&json, loci_profile_run(profile));
	export_grains(&json, profile);
	export_threads(&json, profile);
	loci_unseen_json(profile, &json);
	r = loci_export_dimensions(&json, profile, err);
	if (r < 0)
		return r;
	loci_json_key(&json, "histograms");
	loci_json_array(&json);
	for (size_t i = 0; i < n; i++) {
		r = loci_profile_hist(profile, &key[i], &hist, err);
		if (r < 0)
			return r;
		export_hist(&json, &key[i], hist);
	}
	loci_json_array_end(&json);
	loci_json_object_end(&json);
	loci_json_end(&json);
	return 0;
}
