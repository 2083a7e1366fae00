// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads, regions and phases: few rows, each an object; and the caches named at record time. */
#include "report/view_tables.h"

#include "report/owner_name.h"
#include "report/pairs.h"

#include <errno.h>

static void put_numbers(const char *key, const double *value, size_t n, struct loci_json *json)
{
	loci_pair_array(json, key);
	for (size_t i = 0; i < n && i < LOCI_LEVELS_MAX; i++)
		loci_json_number(json, value[i]);
	loci_json_array_end(json);
}

/* A member with the owner's histogram, or null. */
static int put_hist(const struct loci_shown *shown, const char *name, enum loci_distance distance,
	enum loci_owner owner, int64_t id, struct loci_json *json, struct loci_err *err)
{
	const struct loci_hist_key key = { .distance = distance,
		.block_bytes = shown->block_bytes,
		.owner = owner,
		.owner_id = id };
	const struct loci_hist *hist;
	int r = loci_profile_hist(shown->catalogue.profile, &key, &hist, err);

	loci_json_key(json, name);
	if (r == 0)
		loci_view_hist(hist, json);
	else if (r == -ENOENT)
		loci_json_string(json, NULL);
	return r == -ENOENT ? 0 : r;
}

/* "misses", "writebacks", "first_hits" and "transfers" of one owner at every level, "touches" and
 * "histogram".
 */
static int put_counts(const struct loci_shown *shown, enum loci_owner owner, int64_t id,
	struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	double misses[LOCI_LEVELS_MAX] = { 0 }, writebacks[LOCI_LEVELS_MAX] = { 0 },
	       first_hits[LOCI_LEVELS_MAX] = { 0 }, transfers[LOCI_LEVELS_MAX] = { 0 }, touches = 0;

	for (size_t i = 0; i < c->n_level_count; i++) {
		const struct loci_level_count_row *count = &c->level_count[i];

		if (count->owner != owner || count->owner_id != id)
			continue;
		for (size_t k = 0; k < c->n_level && k < LOCI_LEVELS_MAX; k++) {
			if (c->level[k].id != count->level_id)
				continue;
			misses[k] = (double)count->misses;
			writebacks[k] = (double)count->writebacks;
			first_hits[k] = (double)count->first_hits;
			transfers[k] = (double)count->transfers;
			if (!k)
				touches = (double)(count->first_hits + count->misses);
		}
	}
	loci_pair_number(json, "touches", touches);
	put_numbers("misses", misses, c->n_level, json);
	put_numbers("writebacks", writebacks, c->n_level, json);
	put_numbers("first_hits", first_hits, c->n_level, json);
	put_numbers("transfers", transfers, c->n_level, json);
	return put_hist(shown, "histogram", LOCI_DISTANCE_STACK, owner, id, json, err);
}

static int put_levels(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	int r;

	loci_pair_array(json, "levels");
	for (size_t i = 0; i < c->n_level && i < LOCI_LEVELS_MAX; i++) {
		loci_json_object(json);
		loci_pair_string(json, "name", c->level[i].name);
		loci_pair_u64(json, "size_bytes", c->level[i].size_bytes);
		loci_pair_u64(json, "ways", c->level[i].ways);
		loci_pair_u64(json, "line_bytes", c->level[i].line_bytes);
		loci_pair_string(json, "share", c->level[i].share);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_pair_object(json, "whole");
	r = put_counts(shown, LOCI_OWNER_WHOLE, 0, json, err);
	loci_json_object_end(json);
	return r;
}

static int put_threads(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	size_t n;
	const struct loci_thread_totals *thread =
		loci_profile_threads(shown->catalogue.profile, &n);
	int r = 0;

	loci_pair_array(json, "threads");
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct loci_process_row *process =
			loci_catalogue_find_process(&shown->catalogue, thread[i].process_id);

		loci_json_object(json);
		loci_pair_u64(json, "id", thread[i].thread);
		loci_pair_u64(json, "pid", process ? (uint64_t)process->pid : 0);
		loci_pair_string(json, "command", process ? process->command : NULL);
		loci_pair_u64(json, "refs", thread[i].references);
		loci_view_met_of_others(shown, LOCI_OWNER_THREAD, thread[i].thread, json);
		r = put_counts(shown, LOCI_OWNER_THREAD, thread[i].thread, json, err);
		if (r == 0)
			r = put_hist(shown, "private", LOCI_DISTANCE_PRIVATE, LOCI_OWNER_THREAD,
				thread[i].thread, json, err);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	return r;
}

static int put_regions(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	char name[LOCI_NAME_MAX];
	int r = 0;

	loci_pair_array(json, "regions");
	for (size_t i = 0; r == 0 && i < c->n_region; i++) {
		loci_json_object(json);
		loci_pair_string(
			json, "name", loci_name_region(c, &c->region[i], name, sizeof(name)));
		loci_pair_u64(json, "entries", c->region[i].entries);
		loci_pair_u64(json, "refs", c->region[i].refs);
		r = put_counts(shown, LOCI_OWNER_REGION, c->region[i].id, json, err);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	return r;
}

static int put_phases(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	int r = 0;

	loci_pair_array(json, "phases");
	for (size_t i = 0; r == 0 && i < c->n_phase; i++) {
		loci_json_object(json);
		loci_pair_string(json, "name", c->phase[i].name);
		loci_pair_u64(json, "refs", c->phase[i].refs);
		r = put_counts(shown, LOCI_OWNER_PHASE, c->phase[i].id, json, err);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_pair_object(json, "stretches");
	loci_pair_array(json, "refs");
	for (size_t i = 0; i < c->n_stretch; i++)
		loci_json_u64(json, c->stretch[i].refs);
	loci_json_array_end(json);
	loci_pair_array(json, "phase");
	for (size_t i = 0; i < c->n_stretch; i++) {
		const struct loci_phase_row *phase =
			loci_catalogue_find_phase(c, c->stretch[i].phase_id);

		loci_json_number(json, phase ? (double)(phase - c->phase) : -1);
	}
	loci_json_array_end(json);
	loci_json_object_end(json);
	return r;
}

int loci_view_stages(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	int r = put_levels(shown, json, err);

	if (r == 0)
		r = put_threads(shown, json, err);
	if (r == 0)
		r = put_regions(shown, json, err);
	return r == 0 ? put_phases(shown, json, err) : r;
}
