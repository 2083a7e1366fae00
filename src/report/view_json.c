// SPDX-License-Identifier: GPL-2.0-or-later
/* The viewer's document: for each profile what `loci report --json` says, the histograms of the
 * whole run, from which the page computes any cache, and the tables; then how each differs from
 * the first, as `loci diff --json` says it. */
#include "report/view_page.h"

#include "base/cleanup.h"
#include "report/diff_screen.h"
#include "report/ops_screen.h"
#include "report/pairs.h"
#include "report/report_json.h"
#include "report/view_tables.h"
#include "version.h"

#include <errno.h>
#include <math.h>

#define MOVES_MAX 200
#define ROWS_MAX  40

static void put_run(const struct loci_run *run, struct loci_json *json)
{
	loci_pair_object(json, "run");
	loci_pair_string(json, "command", run->command);
	loci_pair_string(json, "collector", run->collector);
	loci_pair_string(json, "origin", run->origin);
	loci_pair_string(json, "mode", run->mode);
	loci_pair_string(json, "unit", run->unit);
	loci_pair_string(json, "capabilities", run->capabilities);
	loci_pair_string(json, "loci_version", run->program_version);
	loci_pair_string(json, "machine", run->machine);
	loci_pair_string(json, "caches", run->caches);
	loci_pair_string(json, "started", run->started);
	loci_pair_number(json, "seconds", run->seconds);
	loci_pair_bool(json, "complete", run->complete);
	loci_pair_string(json, "note", run->note && run->note[0] ? run->note : NULL);
	loci_pair_u64(json, "references", run->references);
	loci_pair_u64(json, "loads", run->loads);
	loci_pair_u64(json, "stores", run->stores);
	loci_pair_u64(json, "lost", run->lost);
	loci_pair_u64(json, "threads", run->threads);
	loci_pair_u64(json, "merged", run->merged);
	loci_json_object_end(json);
}

static void put_grains(const struct loci_profile *profile, struct loci_json *json)
{
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(profile, &n);

	loci_pair_array(json, "grains");
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "block_bytes", grain[i].block_bytes);
		loci_pair_u64(json, "touches", grain[i].touches);
		loci_pair_u64(json, "writes", grain[i].writes);
		loci_pair_number(json, "blocks", grain[i].blocks);
		loci_pair_number(json, "sampling_rate", grain[i].sampling_rate);
		loci_pair_number(json, "error_points", grain[i].error_points);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

/* "operations": null where none were counted. */
static int put_ops(struct loci_profile *profile, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_ops_fini) struct loci_ops ops = { 0 };
	struct loci_err none = { "" };
	char words[1024];
	int r = loci_ops_new(&ops, profile, &none);

	loci_json_key(json, "operations");
	if (r == -ENOENT) {
		loci_json_string(json, NULL);
		return 0;
	}
	if (r < 0)
		return loci_err_set(err, -r, "%s", none.text);
	loci_json_object(json);
	loci_pair_string(json, "verdict", loci_ops_verdict(&ops.whole, words, sizeof(words)));
	loci_json_key(json, "profile");
	r = loci_ops_json(&ops, LOCI_OPS_FUNCTION, json, err);
	loci_json_object_end(json);
	return r;
}

static int put_tables(
	const struct loci_subject *subject, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_shown_fini) struct loci_shown shown = { 0 };
	int r = loci_shown_init(&shown, subject, err);

	if (r == 0)
		r = loci_view_tables(&shown, json, err);
	if (r == 0)
		r = loci_view_stages(&shown, json, err);
	return r == 0 ? loci_view_threads(&shown, json, err) : r;
}

static int put_profile(
	const struct loci_view_profile *view, struct loci_json *json, struct loci_err *err)
{
	int r;

	loci_json_object(json);
	loci_pair_string(json, "path", loci_profile_path(view->profile));
	put_run(loci_profile_run(view->profile), json);
	put_grains(view->profile, json);
	r = put_ops(view->profile, json, err);
	loci_json_key(json, "report");
	if (r == 0 && view->subject) {
		loci_report_json(view->subject, json);
		r = loci_view_hists(view->profile, json, err);
		if (r == 0)
			r = put_tables(view->subject, json, err);
	} else {
		loci_json_string(json, NULL);
	}
	loci_json_object_end(json);
	return r;
}

/* What moved from the first to another: null where the two do not compare. */
static int put_diff(const struct loci_view_profile *first, const struct loci_view_profile *other,
	struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_moved_fini) struct loci_moved moved = { 0 };
	loci_cleanup(loci_sharing_moved_fini) struct loci_sharing_moved sharing = { 0 };
	loci_cleanup(loci_subjects_fini) struct loci_subject subject[2] = { 0 };
	struct loci_compare compare;
	struct loci_err why = { "" };
	uint64_t block_bytes = 0;
	const char *machine = NULL;
	char spec[LOCI_HIERARCHY_MAX], words[1024];
	int r;

	loci_json_object(json);
	if (!first->subject || !other->subject)
		r = loci_err_set(&why, ENOENT, "one of the profiles holds no distances");
	else
		r = loci_compare_block(first->profile, other->profile,
			other->subject->grain->block_bytes, &block_bytes, &why);
	if (r == 0 && other->subject->hierarchy.n_levels)
		machine = loci_hierarchy_format(&other->subject->hierarchy, spec, sizeof(spec));
	/* both against one machine, or their misses would not compare; a machine that was recorded
	 * is not one that was given: where it was counted, counts are better */
	if (r == 0)
		r = loci_subject_init(&subject[1], other->profile, block_bytes,
			other->subject->is_given ? machine : NULL, &why);
	if (r == 0)
		r = loci_subject_init(&subject[0], first->profile, block_bytes, machine, &why);
	loci_pair_string(json, "why_not", r < 0 ? why.text : NULL);
	loci_json_key(json, "diff");
	if (r < 0) {
		loci_json_string(json, NULL);
		loci_json_object_end(json);
		return 0;
	}
	loci_compare(&subject[0], &subject[1], ROWS_MAX, &compare);
	r = loci_moved_new(&subject[0], &subject[1], MOVES_MAX, &moved, err);
	if (r == 0)
		r = loci_sharing_moved_new(
			first->profile, other->profile, block_bytes, MOVES_MAX, &sharing, err);
	if (r < 0)
		return r;
	loci_diff_json(&compare, &moved, &sharing, NULL, NULL, NULL, NULL, 0, json);
	loci_pair_string(json, "verdict", loci_diff_verdict(&compare, words, sizeof(words)));
	loci_json_object_end(json);
	return 0;
}

static void put_machines(struct loci_json *json)
{
	char spec[LOCI_HIERARCHY_MAX];

	loci_pair_array(json, "machines");
	for (const struct loci_hierarchy *machine = loci_machines; machine->n_levels; machine++) {
		loci_json_object(json);
		loci_pair_string(json, "name", machine->name);
		loci_pair_string(json, "description", machine->description);
		loci_pair_string(
			json, "specification", loci_hierarchy_format(machine, spec, sizeof(spec)));
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

int loci_view_json(
	const struct loci_view_profile *profile, size_t n, FILE *out, struct loci_err *err)
{
	struct loci_json json;
	int r = 0;

	loci_json_begin(&json, out);
	json.is_compact = true;
	loci_json_object(&json);
	loci_pair_format(&json, "loci-view");
	loci_pair_string(&json, "loci", LOCI_VERSION);
	put_machines(&json);
	loci_pair_array(&json, "profiles");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = put_profile(&profile[i], &json, err);
	if (r < 0)
		return r;
	loci_json_array_end(&json);
	loci_pair_array(&json, "diffs");
	for (size_t i = 1; r == 0 && i < n; i++)
		r = put_diff(&profile[0], &profile[i], &json, err);
	if (r < 0)
		return r;
	loci_json_array_end(&json);
	loci_json_object_end(&json);
	loci_json_end(&json);
	return 0;
}
