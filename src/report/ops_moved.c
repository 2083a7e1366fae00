// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations of two runs side by side: those that moved. */
#include "report/ops_screen.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/diff_screen.h"
#include "report/pairs.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *figure, *words;
	bool is_bytes, is_ratio;
} shown[] = {
	{ "instructions", "instructions", false, false },
	{ "flops", "flops", false, false },
	{ "int_ops", "integer operations", false, false },
	{ "loads", "loads", false, false },
	{ "stores", "stores", false, false },
	{ "loaded_bytes", "loaded", true, false },
	{ "stored_bytes", "stored", true, false },
	{ "calls", "calls", false, false },
	{ "bytes_per_flop", "bytes per flop", false, true },
	{ "share_vectorised", "share vectorised", false, true },
};

static double figure_of(const struct loci_ops *ops, const char *name)
{
	struct loci_ops_figure figure[LOCI_OPS_FIGURES];
	size_t n = loci_ops_figures(&ops->whole, ops->has_ranges, figure);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(figure[i].name, name))
			return figure[i].value;
	return NAN;
}

static void add_value(struct loci_table *table, double value, bool is_bytes, bool is_ratio)
{
	char number[LOCI_UNITS_MAX];

	if (isnan(value))
		loci_table_add(table, LOCI_STYLE_DIM, "-");
	else if (is_ratio)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%.3g", value);
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
			is_bytes ? loci_units_bytes(number, value)
				 : loci_units_count(number, value));
}

int loci_ops_moved(const struct loci_ops *before, const struct loci_ops *after,
	const struct loci_text *text, struct loci_err *err)
{
	static const struct loci_table_column columns[] = {
		{ "", LOCI_ALIGN_LEFT },
		{ "before", LOCI_ALIGN_RIGHT },
		{ "after", LOCI_ALIGN_RIGHT },
		{ "", LOCI_ALIGN_RIGHT },
	};
	struct loci_table table;
	unsigned n = 0;
	int r = 0;

	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(shown); i++) {
		double a = figure_of(before, shown[i].figure);
		double b = figure_of(after, shown[i].figure);
		char change[LOCI_TEXT_NUMBER];

		if (a == b || (isnan(a) && isnan(b)))
			continue;
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", shown[i].words);
		add_value(&table, a, shown[i].is_bytes, shown[i].is_ratio);
		add_value(&table, b, shown[i].is_bytes, shown[i].is_ratio);
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			isnan(a) || isnan(b) ? "" : loci_text_change(change, a, b));
		n++;
	}
	fputc('\n', text->out);
	if (n) {
		loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, "operations that moved");
		r = loci_table_print(&table, text, 4);
	} else {
		loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, "operations: the same");
	}
	loci_table_fini(&table);
	return r < 0 ? loci_err_nomem(err) : 0;
}

void loci_ops_moved_json(
	const struct loci_ops *before, const struct loci_ops *after, struct loci_json *json)
{
	struct loci_ops_figure from[LOCI_OPS_FIGURES], to[LOCI_OPS_FIGURES];
	size_t n;

	loci_json_key(json, "operations");
	if (!before || !after) {
		loci_json_string(json, NULL);
		return;
	}
	n = loci_ops_figures(&before->whole, before->has_ranges, from);
	loci_ops_figures(&after->whole, after->has_ranges, to);
	loci_json_object(json);
	for (size_t i = 0; i < n; i++)
		loci_diff_change(
			json, from[i].name, (struct loci_change){ from[i].value, to[i].value });
	loci_json_object_end(json);
}
