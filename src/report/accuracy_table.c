// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/accuracy_table.h"

#include "base/units.h"
#include "report/pairs.h"
#include "report/table.h"

#include <math.h>

static void add_similarity(struct loci_table *out, double s)
{
	if (isnan(s))
		loci_table_add(out, LOCI_STYLE_DIM, "-");
	else
		loci_table_add(out, LOCI_STYLE_PLAIN, "%.3f", s);
}

static void add_row(
	struct loci_table *out, const struct loci_accuracy_pair *row, uint64_t block_bytes)
{
	const struct loci_accuracy *a = &row->accuracy;
	char size[LOCI_UNITS_MAX];

	loci_table_add(out, LOCI_STYLE_BOLD, "%s%s", loci_distance_name(row->distance),
		row->converted ? ", StatStack" : "");
	add_similarity(out, a->s_schuff);
	add_similarity(out, a->s_schuff_far);
	add_similarity(out, a->s_log2);
	add_similarity(out, a->s_rdx);
	add_similarity(out, a->s_beyond);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%.1f", a->mean_points);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%.1f", a->worst_points);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s",
		loci_units_bytes(size, (double)a->worst_blocks * (double)block_bytes));
	loci_table_add(
		out, LOCI_STYLE_PLAIN, "%.1f/%.1f", 100 * row->infinite[0], 100 * row->infinite[1]);
}

int loci_accuracy_table_text(const struct loci_accuracy_table *table, const struct loci_text *text)
{
	static const struct loci_table_column columns[] = {
		{ "distance", LOCI_ALIGN_LEFT },
		{ "S", LOCI_ALIGN_RIGHT },
		{ "not 0", LOCI_ALIGN_RIGHT },
		{ "S log2", LOCI_ALIGN_RIGHT },
		{ "S RDX", LOCI_ALIGN_RIGHT },
		{ "beyond", LOCI_ALIGN_RIGHT },
		{ "mean", LOCI_ALIGN_RIGHT },
		{ "worst", LOCI_ALIGN_RIGHT },
		{ "at", LOCI_ALIGN_RIGHT },
		{ "infinite", LOCI_ALIGN_RIGHT },
	};
	struct loci_table out;
	char size[LOCI_UNITS_MAX];
	int r;

	loci_text_print(text, LOCI_STYLE_DIM, "%s for %s, blocks of %s\n\n",
		loci_profile_path(table->other), loci_profile_path(table->truth),
		loci_units_bytes(size, (double)table->block_bytes));
	loci_table_init(&out, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < table->n; i++)
		add_row(&out, &table->row[i], table->block_bytes);
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		"S: agreement of finite distances, 1 at best, over ten bins per power of two "
		"(Schuff); not 0: those without distance 0; log2: powers of two; RDX: [0,4K) and "
		"doubling bins of bytes; beyond: those without the first. mean, worst: error of "
		"the miss ratio in points over power-of-two cache sizes. infinite: share of "
		"touches without a distance, in either, in percent.");
	return 0;
}

static void put_row(const struct loci_accuracy_pair *row, struct loci_json *json)
{
	const struct loci_accuracy *a = &row->accuracy;

	loci_json_object(json);
	loci_pair_string(json, "distance", loci_distance_name(row->distance));
	loci_pair_string(json, "model", row->converted ? "StatStack" : NULL);
	loci_pair_number(json, "s_schuff", a->s_schuff);
	loci_pair_number(json, "s_schuff_far", a->s_schuff_far);
	loci_pair_number(json, "s_log2", a->s_log2);
	loci_pair_number(json, "s_rdx", a->s_rdx);
	loci_pair_number(json, "s_rdx_smooth", a->s_rdx_smooth);
	loci_pair_number(json, "s_beyond", a->s_beyond);
	loci_pair_number(json, "mean_points", a->mean_points);
	loci_pair_number(json, "worst_points", a->worst_points);
	loci_pair_u64(json, "worst_blocks", a->worst_blocks);
	loci_pair_number(json, "truth_touches", row->touches[0]);
	loci_pair_number(json, "other_touches", row->touches[1]);
	loci_pair_number(json, "truth_infinite", row->infinite[0]);
	loci_pair_number(json, "other_infinite", row->infinite[1]);
	loci_json_object_end(json);
}

void loci_accuracy_table_json(const struct loci_accuracy_table *table, struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_format(json, "loci-accuracy");
	loci_pair_string(json, "truth", loci_profile_path(table->truth));
	loci_pair_string(json, "other", loci_profile_path(table->other));
	loci_pair_u64(json, "block_bytes", table->block_bytes);
	loci_pair_array(json, "accuracy");
	for (size_t i = 0; i < table->n; i++)
		put_row(&table->row[i], json);
	loci_json_array_end(json);
	loci_json_object_end(json);
}
