// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/summary_table.h"

#include "base/cleanup.h"
#include "report/pairs.h"
#include "report/report_json.h"
#include "report/report_verdict.h"

#include <math.h>
#include <string.h>

#define NAME_CELLS 18 /* leaves room for the numbers in 80 columns */

const unsigned loci_summary_percents[LOCI_SUMMARY_PERCENTS] = { 70, 80, 90, 95 };

static const struct loci_table_column columns[] = {
	{ "profile", LOCI_ALIGN_LEFT },
	{ "refs", LOCI_ALIGN_RIGHT },
	{ "touched", LOCI_ALIGN_RIGHT },
	{ "70 %", LOCI_ALIGN_RIGHT },
	{ "80 %", LOCI_ALIGN_RIGHT },
	{ "90 %", LOCI_ALIGN_RIGHT },
	{ "95 %", LOCI_ALIGN_RIGHT },
	{ "L1 %", LOCI_ALIGN_RIGHT },
	{ "LLC %", LOCI_ALIGN_RIGHT },
};

void loci_summary_begin(struct loci_table *table)
{
	loci_table_init(table, columns, LOCI_ARRAY_SIZE(columns));
}

static void add_level(struct loci_table *table, const struct loci_prediction *level)
{
	char number[LOCI_TEXT_NUMBER];

	if (level)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
			loci_text_points(
				number, level->accesses > 0 ? level->misses / level->accesses : 0));
	else
		loci_table_add(table, LOCI_STYLE_DIM, "-  ");
}

static double percentile(const struct loci_subject *subject, unsigned percent)
{
	uint64_t blocks = loci_hist_percentile(subject->stack, percent / 100.);

	return blocks == LOCI_INFINITE ? INFINITY : (double)blocks;
}

/* The end of a long path tells more than its beginning. */
static void add_name(struct loci_table *table, const char *path)
{
	size_t length = strlen(path);

	if (length <= NAME_CELLS)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", path);
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "...%s", path + length - NAME_CELLS + 3);
}

/* "12.5K": a table of nine columns has no room for "12.5 KiB". */
static const char *short_size(
	char buf[LOCI_UNITS_MAX], const struct loci_subject *subject, double blocks)
{
	char *space = strchr(loci_report_cell(buf, subject, blocks), ' ');

	if (!space || subject->is_object)
		return buf;
	space[0] = space[1] == 'B' ? '\0' : space[1];
	space[1] = '\0';
	return buf;
}

void loci_summary_add(struct loci_table *table, const struct loci_subject *subject)
{
	char number[LOCI_UNITS_MAX];

	add_name(table, loci_profile_path(subject->profile));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		loci_units_count(number, (double)subject->run->references));
	loci_table_add(
		table, LOCI_STYLE_PLAIN, "%s", short_size(number, subject, subject->grain->blocks));
	for (unsigned i = 0; i < LOCI_SUMMARY_PERCENTS; i++) {
		double blocks = percentile(subject, loci_summary_percents[i]);

		loci_table_add(table, isinf(blocks) ? LOCI_STYLE_DIM : LOCI_STYLE_PLAIN, "%s",
			isinf(blocks) ? "cold" : short_size(number, subject, blocks));
	}
	add_level(table, loci_subject_first(subject));
	add_level(table, loci_subject_llc(subject));
}

int loci_summary_end(struct loci_table *table, const struct loci_text *text, struct loci_err *err)
{
	int r = loci_table_print(table, text, 0);

	loci_table_fini(table);
	if (r < 0)
		return loci_err_nomem(err);
	fputc('\n', text->out);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 0,
		"70 % to 95 %: the cache, in bytes (or objects, where those are counted), that "
		"this "
		"share of the references needs; cold: none is large enough. L1 %, LLC %: misses of "
		"the first and the last level.");
	return 0;
}

static void put_level(struct loci_json *json, const char *key, const struct loci_prediction *level)
{
	loci_json_key(json, key);
	if (!level) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_report_json_cache(json, &level->cache);
	loci_pair_number(json, "misses", level->misses);
	loci_pair_number(
		json, "miss_ratio", level->accesses > 0 ? level->misses / level->accesses : 0);
	loci_json_object_end(json);
}

void loci_summary_json(const struct loci_subject *subject, struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_string(json, "path", loci_profile_path(subject->profile));
	loci_pair_string(json, "command", subject->run->command);
	loci_pair_string(json, "unit", subject->is_object ? "object" : "byte");
	loci_pair_u64(json, "block_bytes", subject->grain->block_bytes);
	loci_pair_u64(json, "references", subject->run->references);
	loci_pair_u64(json, "touches", subject->grain->touches);
	loci_pair_number(json, "error_points", subject->grain->error_points);
	loci_pair_object(json, "touched");
	loci_report_json_size(json, subject, subject->grain->blocks);
	loci_json_object_end(json);
	loci_pair_array(json, "percentiles");
	for (unsigned i = 0; i < LOCI_SUMMARY_PERCENTS; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "percent", loci_summary_percents[i]);
		loci_report_json_size(json, subject, percentile(subject, loci_summary_percents[i]));
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	put_level(json, "first_level", loci_subject_first(subject));
	put_level(json, "last_level", loci_subject_llc(subject));
	loci_json_object_end(json);
}
