// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations by who makes them. */
#include "report/ops_screen.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/owner_name.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>

#define INDENT_MAX 24

const char *loci_ops_row_name(const struct loci_ops *ops, enum loci_ops_level level,
	const struct loci_ops_row *row, char *buf, size_t size)
{
	const struct loci_catalogue *c = &ops->catalogue;
	const struct loci_function_row *function = row->owner;
	const struct loci_context_row *context = row->owner;
	const struct loci_region_row *region = row->owner;
	const struct loci_block_row *block = row->owner;
	char place[LOCI_NAME_MAX], name[LOCI_NAME_MAX];

	if (!row->owner) {
		snprintf(buf, size, "%s", level == LOCI_OPS_REGION ? "(outside)" : "(unknown)");
		return buf;
	}
	switch (level) {
	case LOCI_OPS_FUNCTION:
		return loci_name_function(function->name, buf, size);
	case LOCI_OPS_CONTEXT:
		return loci_name_context(c, context, buf, size);
	case LOCI_OPS_REGION:
		snprintf(buf, size, "%s", region->name);
		return buf;
	default:
		function = loci_catalogue_find_function(c, block->function_id);
		loci_name_line(c, block->source_id, block->line, place, sizeof(place));
		snprintf(buf, size, "%.200s%s%.300s", place, place[0] ? " " : "",
			function ? loci_name_function(function->name, name, sizeof(name)) : "");
		return buf;
	}
}

static void add_number(struct loci_table *table, double value)
{
	char number[LOCI_UNITS_MAX];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, value));
}

static void add_row(struct loci_table *table, const struct loci_ops *ops, enum loci_ops_level level,
	const struct loci_ops_row *row)
{
	const struct loci_ops_sum *sum = &row->sum;
	const struct loci_context_row *context = row->owner;
	char number[LOCI_UNITS_MAX], points[LOCI_TEXT_NUMBER];
	char name[LOCI_NAME_MAX], call[LOCI_NAME_MAX] = "";
	double per_flop = loci_ops_bytes_per_flop(sum), vectorised = loci_ops_vectorised(sum);
	unsigned indent = 2 * row->depth < INDENT_MAX ? 2 * row->depth : INDENT_MAX;

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		loci_text_points(
			points, (double)sum->instructions / (double)ops->whole.instructions));
	add_number(table, (double)(level == LOCI_OPS_BLOCK ? sum->executions : sum->invocations));
	add_number(table, (double)sum->flops);
	add_number(table, (double)sum->int_ops);
	add_number(table, (double)loci_ops_loads(sum));
	add_number(table, (double)loci_ops_stores(sum));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		loci_units_bytes(number, (double)(sum->loaded_bytes + sum->stored_bytes)));
	if (isnan(per_flop))
		loci_table_add(table, LOCI_STYLE_DIM, "-");
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%.3g", per_flop);
	if (isnan(vectorised))
		loci_table_add(table, LOCI_STYLE_DIM, "-  ");
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_text_points(points, vectorised));
	if (level == LOCI_OPS_CONTEXT && context)
		loci_name_line(
			&ops->catalogue, context->source_id, context->line, call, sizeof(call));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%*s%s%s%s", (int)indent, "",
		loci_ops_row_name(ops, level, row, name, sizeof(name)), call[0] ? "  from " : "",
		call);
}

static int print_table(struct loci_table *table, const struct loci_text *text, size_t shown,
	size_t n, const char *if_none, struct loci_err *err)
{
	char line[96];
	int r = n ? loci_table_print(table, text, 2) : 0;

	loci_table_fini(table);
	if (!n)
		loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, if_none);
	if (r < 0)
		return loci_err_nomem(err);
	if (shown < n) {
		snprintf(line, sizeof(line), "%zu of %zu rows", shown, n);
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2, line);
	}
	return 0;
}

static int rows_table(const struct loci_ops *ops, enum loci_ops_level level, size_t max_rows,
	const struct loci_text *text, struct loci_err *err)
{
	bool is_tree = level == LOCI_OPS_CONTEXT || level == LOCI_OPS_REGION;
	const struct loci_table_column columns[] = {
		{ "%", LOCI_ALIGN_RIGHT },
		{ level == LOCI_OPS_BLOCK ? "runs" : "calls", LOCI_ALIGN_RIGHT },
		{ "flops", LOCI_ALIGN_RIGHT },
		{ "int ops", LOCI_ALIGN_RIGHT },
		{ "loads", LOCI_ALIGN_RIGHT },
		{ "stores", LOCI_ALIGN_RIGHT },
		{ "moved", LOCI_ALIGN_RIGHT },
		{ "B/flop", LOCI_ALIGN_RIGHT },
		{ "vector %", LOCI_ALIGN_RIGHT },
		{ loci_ops_level_name(level), LOCI_ALIGN_LEFT },
	};
	/* functions of one class begin alike; a context ends with its call */
	static const enum loci_cut cuts[] = {
		[LOCI_OPS_FUNCTION] = LOCI_CUT_MIDDLE,
		[LOCI_OPS_CONTEXT] = LOCI_CUT_END,
		[LOCI_OPS_REGION] = LOCI_CUT_MIDDLE,
		[LOCI_OPS_BLOCK] = LOCI_CUT_PLACE,
	};
	loci_autofree struct loci_ops_row *row = NULL;
	struct loci_table table;
	size_t n = 0;
	int r = loci_ops_rows(ops, level, &row, &n, err);

	if (r < 0)
		return r;
	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	loci_table_yield(&table, LOCI_ARRAY_SIZE(columns) - 1, cuts[level], 26);
	loci_table_spare(&table, 5, 3);
	loci_table_spare(&table, 4, 2);
	loci_table_spare(&table, 3, 1);
	for (size_t i = 0; i < n && i < max_rows; i++)
		add_row(&table, ops, level, &row[i]);
	r = print_table(&table, text, n < max_rows ? n : max_rows, n, "nothing ran", err);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		is_tree ? "%: of the instructions, with all that is called or nested below"
			: "%: of the instructions");
	return r;
}

static int callee_table(const struct loci_ops *ops, size_t max_rows, const struct loci_text *text,
	struct loci_err *err)
{
	static const struct loci_table_column columns[] = {
		{ "calls", LOCI_ALIGN_RIGHT },
		{ "callee", LOCI_ALIGN_LEFT },
		{ "", LOCI_ALIGN_LEFT },
	};
	loci_autofree struct loci_ops_callee *callee = NULL;
	char name[LOCI_NAME_MAX];
	struct loci_table table;
	size_t n = 0;
	int r = loci_ops_callees(ops, &callee, &n, err);

	if (r < 0)
		return r;
	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	loci_table_yield(&table, 1, LOCI_CUT_MIDDLE, 20);
	for (size_t i = 0; i < n && i < max_rows; i++) {
		add_number(&table, (double)callee[i].calls);
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			callee[i].source ? loci_name_function(callee[i].source, name, sizeof(name))
					 : callee[i].name);
		loci_table_add(&table, LOCI_STYLE_DIM, "%s",
			callee[i].function ? "" : "its own operations are not counted");
	}
	return print_table(
		&table, text, n < max_rows ? n : max_rows, n, "no function is called by name", err);
}

static int type_table(const struct loci_ops *ops, size_t max_rows, const struct loci_text *text,
	struct loci_err *err)
{
	static const struct loci_table_column columns[] = {
		{ "operation", LOCI_ALIGN_LEFT },
		{ "type", LOCI_ALIGN_LEFT },
		{ "elements", LOCI_ALIGN_RIGHT },
		{ "instructions", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
		{ "moved", LOCI_ALIGN_RIGHT },
	};
	loci_autofree struct loci_ops_type *type = NULL;
	char number[LOCI_UNITS_MAX], points[LOCI_TEXT_NUMBER];
	struct loci_table table;
	size_t n = 0;
	int r = loci_ops_types(ops, &type, &n, err);

	if (r < 0)
		return r;
	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	for (size_t i = 0; i < n && i < max_rows; i++) {
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", type[i].what);
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", type[i].type ? type[i].type : "");
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%llu", (unsigned long long)type[i].lanes);
		add_number(&table, (double)type[i].instructions);
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			loci_text_points(points,
				(double)type[i].instructions / (double)ops->whole.instructions));
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s",
			type[i].bytes ? loci_units_bytes(number, (double)type[i].bytes) : "");
	}
	return print_table(&table, text, n < max_rows ? n : max_rows, n,
		"nothing is loaded, stored or computed", err);
}

int loci_ops_table(const struct loci_ops *ops, enum loci_ops_level level, size_t max_rows,
	const struct loci_text *text, struct loci_err *err)
{
	if (level == LOCI_OPS_CALLEE)
		return callee_table(ops, max_rows, text, err);
	if (level == LOCI_OPS_TYPE)
		return type_table(ops, max_rows, text, err);
	return rows_table(ops, level, max_rows, text, err);
}
