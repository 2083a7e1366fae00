// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/diff_screen.h"

#include "report/approximate_line.h"
#include "report/ops_screen.h"
#include "report/pairs.h"
#include "report/report_json.h"

static const char *const trends[] = {
	[LOCI_TREND_SAME] = "same",
	[LOCI_TREND_BETTER] = "better",
	[LOCI_TREND_WORSE] = "worse",
};

void loci_diff_change(struct loci_json *json, const char *key, struct loci_change change)
{
	loci_pair_object(json, key);
	loci_pair_number(json, "before", change.before);
	loci_pair_number(json, "after", change.after);
	loci_pair_number(json, "relative", loci_change_relative(change));
	loci_json_object_end(json);
}

static void put_levels(const struct loci_compare *c, struct loci_json *json)
{
	loci_pair_array(json, "levels");
	for (unsigned i = 0; i < c->n_levels; i++) {
		const struct loci_compare_level *level = &c->level[i];

		loci_json_object(json);
		loci_report_json_cache(json, &level->cache);
		loci_pair_number(json, "error_points", level->error_points);
		loci_pair_string(json, "trend",
			trends[loci_change_trend(
				level->misses, level->accesses.after, level->error_points)]);
		loci_diff_change(json, "accesses", level->accesses);
		loci_diff_change(json, "misses", level->misses);
		if (level->has_writebacks)
			loci_diff_change(json, "writebacks", level->writebacks);
		if (!c->is_object && !level->cache.is_tlb)
			loci_diff_change(json, "moved_bytes", level->moved_bytes);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_group(
	struct loci_json *json, const char *key, const struct loci_compare_group *group)
{
	loci_pair_object(json, key);
	loci_pair_number(json, "share", group->share);
	loci_pair_number(json, "shorter", group->shorter);
	loci_pair_number(json, "longer", group->longer);
	loci_diff_change(json, "median_blocks", group->median);
	loci_json_object_end(json);
}

static void put_percentiles(const struct loci_compare *c, struct loci_json *json)
{
	loci_pair_array(json, "percentiles");
	for (unsigned i = 0; i < LOCI_COMPARE_PERCENTILES; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "percent", loci_compare_percents[i]);
		loci_diff_change(json, "blocks", c->percentile[i]);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_bins(const struct loci_compare *c, struct loci_json *json)
{
	loci_pair_array(json, "histogram");
	for (unsigned i = 0; i < c->bins.n_rows; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "low_blocks", c->bins.row[i].low);
		loci_pair_u64(json, "high_blocks", c->bins.row[i].high);
		loci_pair_number(json, "before", c->bins.row[i].share[0]);
		loci_pair_number(json, "after", c->bins.row[i].share[1]);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_criteria(const struct loci_criterion *criteria,
	const struct loci_criterion_result *results, size_t n, struct loci_json *json)
{
	char reason[256];

	loci_pair_array(json, "fail_if");
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		loci_pair_string(json, "criterion", criteria[i].text);
		loci_pair_bool(json, "fired", results[i].fired);
		loci_pair_string(json, "reason",
			loci_diff_reason(&criteria[i], &results[i], reason, sizeof(reason)));
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

/* One of both is enough. */
static const struct loci_run *approximate(const struct loci_compare *c)
{
	const struct loci_run *before = c->subject[0]->run;

	return loci_run_is_approximate(before) ? before : c->subject[1]->run;
}

void loci_diff_json(const struct loci_compare *c, const struct loci_moved *moved,
	const struct loci_sharing_moved *sharing, const struct loci_ops *before,
	const struct loci_ops *after, const struct loci_criterion *criteria,
	const struct loci_criterion_result *results, size_t n_criteria, struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_format(json, "loci-diff");
	loci_pair_string(json, "before", loci_profile_path(c->subject[0]->profile));
	loci_pair_string(json, "after", loci_profile_path(c->subject[1]->profile));
	loci_pair_string(json, "unit", c->is_object ? "object" : "byte");
	loci_pair_u64(json, "block_bytes", c->block_bytes);
	loci_pair_number(json, "error_points", c->error_points);
	loci_approximate_json(approximate(c), json);
	loci_report_json_machine(json, c->subject[1]);
	loci_diff_change(json, "references", c->references);
	loci_diff_change(json, "touches", c->touches);
	loci_diff_change(json, "blocks", c->blocks);
	loci_diff_change(json, "cold", c->cold);
	put_levels(c, json);
	loci_pair_u64(json, "boundary_blocks", c->boundary_blocks);
	put_group(json, "short", &c->near);
	put_group(json, "long", &c->far);
	put_percentiles(c, json);
	put_bins(c, json);
	loci_diff_moved_json(moved, json);
	loci_diff_sharing_json(sharing, json);
	loci_ops_moved_json(before, after, json);
	put_criteria(criteria, results, n_criteria, json);
	loci_json_object_end(json);
}
