// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/info_screen.h"

#include "report/coherence_line.h"
#include "report/pairs.h"
#include "report/marks_line.h"
#include "report/unseen_line.h"

static void put_run(struct loci_json *json, const struct loci_run *run)
{
	loci_pair_object(json, "run");
	loci_pair_string(json, "command", run->command);
	loci_pair_string(json, "collector", run->collector);
	loci_pair_string(json, "origin", run->origin);
	loci_pair_string(json, "mode", run->mode);
	loci_pair_string(json, "unit", run->unit);
	loci_pair_string(json, "capabilities", run->capabilities);
	loci_pair_string(json, "program_version", run->program_version);
	loci_pair_string(json, "machine", run->machine);
	loci_pair_string(json, "caches", run->caches);
	loci_pair_string(json, "started", run->started);
	loci_pair_number(json, "seconds", run->seconds);
	loci_pair_bool(json, "complete", run->complete);
	loci_pair_string(json, "note", run->note);
	loci_pair_u64(json, "references", run->references);
	loci_pair_u64(json, "loads", run->loads);
	loci_pair_u64(json, "stores", run->stores);
	loci_pair_u64(json, "fetches", run->fetches);
	loci_pair_u64(json, "bulk", run->bulk);
	loci_pair_u64(json, "lost", run->lost);
	loci_pair_u64(json, "threads", run->threads);
	loci_pair_u64(json, "merged", run->merged);
	loci_json_object_end(json);
}

static void put_samples(struct loci_json *json, struct loci_profile *profile)
{
	const struct loci_sampling_row *row;
	size_t n;

	if (loci_profile_samplings(profile, &row, &n, NULL) < 0)
		return;
	loci_pair_array(json, "sampling");
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "samples", row[i].samples);
		loci_pair_u64(json, "period", row[i].period);
		loci_pair_u64(json, "lost", row[i].lost);
		loci_pair_string(json, "watched_by", row[i].watched_by);
		loci_pair_u64(json, "in_burst", row[i].in_burst);
		loci_pair_u64(json, "by_watch", row[i].by_watch);
		loci_pair_u64(json, "by_time", row[i].by_time);
		loci_pair_u64(json, "never", row[i].never);
		loci_pair_number(json, "unknown", row[i].unknown);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_histograms(struct loci_json *json, const struct loci_profile *profile)
{
	size_t n;
	const struct loci_hist_key *key = loci_profile_hist_keys(profile, &n);

	loci_pair_array(json, "histograms");
	for (size_t i = 0; i < n; i++) {
		if (key[i].owner != LOCI_OWNER_WHOLE)
			continue;
		loci_json_object(json);
		loci_pair_string(json, "distance", loci_distance_name(key[i].distance));
		loci_pair_u64(json, "block_bytes", key[i].block_bytes);
		loci_pair_u64(json, "set_bits", key[i].set_bits);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_grains(struct loci_json *json, const struct loci_profile *profile)
{
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);

	loci_pair_array(json, "grains");
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "block_bytes", grain[i].block_bytes);
		loci_pair_u64(json, "touches", grain[i].touches);
		loci_pair_u64(json, "writes", grain[i].writes);
		loci_pair_u64(json, "straddles", grain[i].straddles);
		loci_pair_number(json, "blocks", grain[i].blocks);
		loci_pair_number(json, "sampling_rate", grain[i].sampling_rate);
		loci_pair_number(json, "error_points", grain[i].error_points);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_errors(struct loci_json *json, double worst, uint64_t worst_blocks, double mean)
{
	loci_pair_number(json, "worst_points", worst);
	loci_pair_u64(json, "worst_blocks", worst_blocks);
	loci_pair_number(json, "mean_points", mean);
}

static void put_accuracy(struct loci_json *json, const struct loci_info_accuracy *a)
{
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct loci_accuracy *row = &a->row[i].accuracy;

		loci_json_object(json);
		loci_pair_string(json, "model", loci_conversion_name(a->row[i].conversion));
		loci_pair_u64(json, "block_bytes", a->block_bytes);
		loci_pair_number(json, "s_rdx", row->s_rdx);
		loci_pair_number(json, "s_rdx_smooth", row->s_rdx_smooth);
		loci_pair_number(json, "s_beyond", row->s_beyond);
		loci_pair_number(json, "s_log2", row->s_log2);
		loci_pair_number(json, "s_schuff", row->s_schuff);
		put_errors(json, row->worst_points, row->worst_blocks, row->mean_points);
		loci_json_object_end(json);
	}
	loci_json_object(json);
	loci_pair_string(json, "model", "StatCache");
	loci_pair_u64(json, "block_bytes", a->block_bytes);
	put_errors(json, a->random.worst_points, a->random.worst_blocks, a->random.mean_points);
	loci_json_object_end(json);
}

void loci_info_json(const struct loci_info *info, struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_format(json, "loci-info");
	loci_pair_string(json, "path", loci_profile_path(info->profile));
	loci_pair_u64(json, "profile_version", (uint64_t)loci_profile_version(info->profile));
	loci_pair_u64(json, "file_bytes", info->file_bytes);
	put_run(json, loci_profile_run(info->profile));
	loci_unseen_json(info->profile, json);
	loci_marks_json(info->profile, json);
	loci_coherence_json(info->profile, json);
	put_samples(json, info->profile);
	put_grains(json, info->profile);
	put_histograms(json, info->profile);
	if (info->accuracy) {
		loci_pair_array(json, "accuracy");
		for (size_t i = 0; i < info->n_accuracy; i++)
			put_accuracy(json, &info->accuracy[i]);
		loci_json_array_end(json);
	}
	loci_json_object_end(json);
}
