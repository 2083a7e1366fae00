// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/anger_table.h"

#include "base/units.h"
#include "report/pairs.h"
#include "report/table.h"

#include <stdio.h>

int loci_anger_table_text(const struct loci_anger_result *result,
	const struct loci_profile *profile, const struct loci_text *text)
{
	static const struct loci_table_column columns[] = {
		{ "level", LOCI_ALIGN_LEFT },
		{ "hits", LOCI_ALIGN_RIGHT },
		{ "misses", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
	};
	char number[LOCI_UNITS_MAX], points[LOCI_TEXT_NUMBER], label[64], words[512];
	struct loci_table out;
	int r;

	loci_text_print(text, LOCI_STYLE_PLAIN,
		"%s  model of Anger et al. (2014): %s, %zu threads\n\n", loci_profile_path(profile),
		loci_anger_name(result->model), result->n_threads);
	loci_table_init(&out, columns, sizeof(columns) / sizeof(columns[0]));
	for (unsigned i = 0; i < result->n; i++) {
		const struct loci_anger_row *row = &result->row[i];

		loci_table_add(
			&out, LOCI_STYLE_BOLD, "%s", loci_cache_label_shared(&row->cache, label));
		loci_table_add(&out, LOCI_STYLE_PLAIN, "~%s", loci_units_count(number, row->hits));
		loci_table_add(
			&out, LOCI_STYLE_PLAIN, "~%s", loci_units_count(number, row->misses));
		loci_table_add(&out, LOCI_STYLE_PLAIN, "%s",
			loci_text_points(
				points, result->touches > 0 ? row->misses / result->touches : 0));
	}
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	snprintf(words, sizeof(words), "%s%s%s",
		result->model == LOCI_ANGER_STACK
			? "Each thread alone, fully associative"
			: "Each thread alone, blocks thought to fall into sets at random",
		result->model == LOCI_ANGER_COHERENCE
			? "; what another thread touched last, read or written, is a hit in one "
			  "first level of all of them, or none"
			: "",
		"; a shared level is divided among its threads evenly. For comparison: without "
		"--model loci counts.");
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2, words);
	if (result->model == LOCI_ANGER_COHERENCE) {
		snprintf(words, sizeof(words), "%s of %s's hits are in other threads' (equation 4)",
			loci_units_count(number, result->remote_hits), result->row[0].cache.name);
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2, words);
	}
	return 0;
}

void loci_anger_table_json(const struct loci_anger_result *result, struct loci_json *json)
{
	loci_pair_object(json, "model");
	loci_pair_string(json, "name", loci_anger_name(result->model));
	loci_pair_u64(json, "threads", result->n_threads);
	loci_pair_number(json, "touches", result->touches);
	loci_pair_number(json, "remote_hits", result->remote_hits);
	loci_pair_array(json, "levels");
	for (unsigned i = 0; i < result->n; i++) {
		loci_json_object(json);
		loci_pair_string(json, "name", result->row[i].cache.name);
		loci_pair_u64(json, "size_bytes", result->row[i].cache.size_bytes);
		loci_pair_u64(json, "ways", result->row[i].cache.ways);
		loci_pair_number(json, "hits", result->row[i].hits);
		loci_pair_number(json, "misses", result->row[i].misses);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_json_object_end(json);
}
