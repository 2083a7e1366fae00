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

static void add_row(struct loci_table *out, const struct loci_accuracy_row *row)
{
	const struct loci_accuracy *a = &row->accuracy;
	char size[LOCI_UNITS_MAX];

	loci_table_add(out, LOCI_STYLE_BOLD, "%s", loci_conversion_name(row->conversion));
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s", loci_units_size(size, row->block_bytes));
	add_similarity(out, a->s_log2);
	add_similarity(out, a->s_rdx);
	add_similarity(out, a->s_rdx_smooth);
	add_similarity(out, a->s_beyond);
	add_similarity(out, a->s_schuff);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%.2f", a->mean_points);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%.2f", a->worst_points);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s",
		loci_units_bytes(size, (double)a->worst_blocks * (double)row->block_bytes));
}

int loci_accuracy_table_text(
	const struct loci_accuracy_row *row, size_t n, const struct loci_text *text)
{
	static const struct loci_table_column columns[] = {
		{ "conversion", LOCI_ALIGN_LEFT },
		{ "block", LOCI_ALIGN_RIGHT },
		{ "S log2", LOCI_ALIGN_RIGHT },
		{ "S RDX", LOCI_ALIGN_RIGHT },
		{ "smoothed", LOCI_ALIGN_RIGHT },
		{ "past 4 KiB", LOCI_ALIGN_RIGHT },
		{ "S Schuff", LOCI_ALIGN_RIGHT },
		{ "mean", LOCI_ALIGN_RIGHT },
		{ "worst", LOCI_ALIGN_RIGHT },
		{ "at", LOCI_ALIGN_RIGHT },
	};
	struct loci_table out;
	int r;

	loci_table_init(&out, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++)
		add_row(&out, &row[i]);
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		"S: agreement with the exact stack distances, 1 at best, over bins of powers of "
		"two (log2), "
		"RDX's 20 bins of bytes, those smoothed, those past the first, and ten per power "
		"of two "
		"(Schuff). mean, worst: error of the miss ratio over power-of-two cache sizes, in "
		"points.");
	return 0;
}

void loci_accuracy_table_json(const struct loci_accuracy_row *row, size_t n, struct loci_json *json)
{
	loci_json_array(json);
	for (size_t i = 0; i < n; i++) {
		const struct loci_accuracy *a = &row[i].accuracy;

		loci_json_object(json);
		loci_pair_string(json, "conversion", loci_conversion_name(row[i].conversion));
		loci_pair_u64(json, "block_bytes", row[i].block_bytes);
		loci_pair_number(json, "s_log2", a->s_log2);
		loci_pair_number(json, "s_rdx", a->s_rdx);
		loci_pair_number(json, "s_rdx_smooth", a->s_rdx_smooth);
		loci_pair_number(json, "s_beyond", a->s_beyond);
		loci_pair_number(json, "s_schuff", a->s_schuff);
		loci_pair_number(json, "mean_points", a->mean_points);
		loci_pair_number(json, "worst_points", a->worst_points);
		loci_pair_u64(json, "worst_blocks", a->worst_blocks);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}
