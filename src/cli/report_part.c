// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report_part.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/by_index.h"
#include "report/by_table.h"
#include "report/coverage_table.h"
#include "report/sharing_table.h"

#include <errno.h>

/* Nothing to blame is told apart from a kind that was not recorded. */
static int nothing(
	const struct loci_report_ask *report, const struct loci_catalogue *c, struct loci_err *err)
{
	const char *path = loci_profile_path(c->profile), *kind = loci_blame_plural(report->kind);

	if (report->kind == LOCI_BLAME_REGION || report->kind == LOCI_BLAME_PHASE)
		return loci_err_set(err, ENOENT,
			"%.300s has no %s: the program marks none (see loci-mark(3))", path, kind);
	if (!c->n_site && report->kind != LOCI_BLAME_THREAD && report->kind != LOCI_BLAME_PROCESS)
		return loci_err_set(err, ENOENT,
			"%.300s knows no %s: it was made from a trace that does not tell them; "
			"loci record does",
			path, kind);
	return loci_err_set(err, ENOENT, "%.300s has no %s", path, kind);
}

static int unrecorded(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_blame_levels *levels, struct loci_err *err)
{
	char size[LOCI_UNITS_MAX];

	return loci_err_set(err, ENOENT,
		"%.300s: %s have no distances of %s-byte blocks, only those of the first size that "
		"loci record -b was given; sites, lines, functions, loops, objects and fields do",
		loci_profile_path(subject->profile), loci_blame_plural(report->kind),
		loci_units_size(size, levels->block_bytes));
}

int loci_report_by(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_blame_freep) struct loci_blame *blame = NULL;
	struct loci_by by = { .subject = subject,
		.sort = report->sort,
		.max_rows = report->max_rows,
		.min_share = report->min_share };
	struct loci_blame_levels levels;
	struct loci_catalogue c;
	int r;

	if ((r = loci_catalogue_load(&c, subject->profile, err)) < 0 ||
		(r = loci_blame_levels(subject, &c, report->level, &levels, err)) < 0)
		return r;
	if (!loci_blame_is_recorded(subject, report->kind, &levels))
		return unrecorded(report, subject, &levels, err);
	if ((r = loci_blame_new(&c, subject, &levels, report->kind, &blame, err)) < 0)
		return r;
	if (!blame->n_rows)
		return nothing(report, &c, err);
	if (report->sort != LOCI_BLAME_BY_MISSES &&
		(r = loci_blame_sort(blame, report->sort, err)) < 0)
		return r;
	by.blame = blame;
	if (report->as_json)
		return loci_by_json(&by, json, err);
	return report->kind == LOCI_BLAME_CONTEXT ? loci_by_contexts(&by, text, err)
						  : loci_by_table(&by, text, err);
}

int loci_report_index(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_array_index_fini) struct loci_array_index index = { 0 };
	struct loci_catalogue c;
	const struct loci_by_index by = { subject, &c, &index, report->max_rows };
	const char *path = loci_profile_path(subject->profile);
	int r = loci_catalogue_load(&c, subject->profile, err);

	if (r == 0)
		r = loci_array_index_new(&c, report->object, &index, err);
	if (r < 0)
		return r;
	if (!c.n_piece)
		return loci_err_set(err, ENOENT,
			"%.300s does not say where in its arrays references go; record it with "
			"loci record --index",
			path);
	if (!index.n)
		return loci_err_set(err, ENOENT,
			"%.300s has no array of the name \"%.100s\"; loci report --by object "
			"lists what it has",
			path, report->object);
	if (!report->as_json)
		return loci_by_index(&by, text, err);
	loci_by_index_json(&by, json);
	return 0;
}

int loci_report_sharing(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_sharing_fini) struct loci_sharing sharing = { 0 };
	const struct loci_sharing_table table = { subject, &sharing, report->max_rows };
	int r = loci_sharing_new(subject->profile, subject->grain->block_bytes, &sharing, err);

	if (r < 0)
		return r;
	if (!sharing.whole)
		return loci_err_set(err, ENOENT,
			"%.300s knows nothing of sharing: its program had no threads that share "
			"memory, or it was recorded without telling them apart",
			loci_profile_path(subject->profile));
	if (!report->as_json)
		return loci_sharing_table(&table, text, err);
	loci_sharing_table_json(&table, json);
	return 0;
}

int loci_report_coverage(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err)
{
	loci_cleanup(loci_coverage_fini) struct loci_coverage coverage = { 0 };
	struct loci_coverage_options wanted =
		loci_coverage_args_options(&report->covered, subject->grain->block_bytes);
	int r;

	wanted.is_private = !report->is_shared;
	r = loci_coverage_new(subject->profile, &wanted, &coverage, err);
	if (r < 0)
		return r;
	if (report->as_json) {
		loci_coverage_table_json(&coverage, report->coverage, json);
		return 0;
	}
	return loci_coverage_table_text(&coverage, report->coverage, text) < 0 ? loci_err_nomem(err)
									       : 0;
}
