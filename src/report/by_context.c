// SPDX-License-Identifier: GPL-2.0-or-later
/* The tree of calling contexts, indented; a long chain of calls keeps to the left half. */
#include "report/by_table.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/table.h"

#define INDENT_MAX 24

static void add_node(struct loci_table *table, const struct loci_blame *blame,
	const struct loci_context_node *node)
{
	const char *mark = blame->is_estimate ? "~" : "";
	char name[LOCI_NAME_MAX], call[LOCI_NAME_MAX], number[LOCI_UNITS_MAX];
	char points[LOCI_TEXT_NUMBER];
	unsigned indent = 2 * node->depth;

	loci_table_add(
		table, LOCI_STYLE_PLAIN, "%s%s", mark, loci_units_count(number, node->misses));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		loci_text_points(points, loci_blame_share(blame, node->misses)));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		loci_text_points(points, loci_blame_share(blame, node->row->misses)));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, node->refs));
	loci_name_context(blame->catalogue, node->context, name, sizeof(name));
	loci_name_line(blame->catalogue, node->context->source_id, node->context->line, call,
		sizeof(call));
	if (indent <= INDENT_MAX)
		loci_table_add(table, LOCI_STYLE_PLAIN, "%*s%s%s%s", (int)indent, "", name,
			call[0] ? "  from " : "", call);
	else
		loci_table_add(table, LOCI_STYLE_PLAIN, "%*s%u: %s%s%s", INDENT_MAX, "",
			node->depth, name, call[0] ? "  from " : "", call);
}

int loci_by_contexts(const struct loci_by *by, const struct loci_text *text, struct loci_err *err)
{
	static const struct loci_table_column columns[] = {
		{ "misses", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
		{ "own %", LOCI_ALIGN_RIGHT },
		{ "refs", LOCI_ALIGN_RIGHT },
		{ "context, misses and refs with all it calls", LOCI_ALIGN_LEFT },
	};
	struct loci_context_tree tree;
	struct loci_table table;
	char line[128], number[LOCI_TEXT_NUMBER];
	int r = loci_context_tree_new(by->blame, by->min_share, by->max_rows, &tree, err);

	if (r < 0) {
		loci_context_tree_fini(&tree);
		return r;
	}
	loci_by_head(by, text);
	fputc('\n', text->out);
	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	loci_table_yield(&table, LOCI_ARRAY_SIZE(columns) - 1, LOCI_CUT_END, 20);
	for (size_t i = 0; i < tree.n; i++)
		add_node(&table, by->blame, &tree.node[i]);
	if (loci_table_print(&table, text, 2) < 0)
		r = loci_err_nomem(err);
	loci_table_fini(&table);
	fputc('\n', text->out);
	if (tree.n < tree.n_contexts) {
		if (by->min_share > 0)
			snprintf(line, sizeof(line),
				"%zu of %zu contexts, those with at least %s of the misses (--min)",
				tree.n, tree.n_contexts, loci_text_percent(number, by->min_share));
		else
			snprintf(
				line, sizeof(line), "%zu of %zu contexts", tree.n, tree.n_contexts);
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2, line);
	}
	loci_by_coverage(by->blame, text);
	loci_context_tree_fini(&tree);
	return r;
}

int loci_by_contexts_json(const struct loci_by *by, struct loci_json *json, struct loci_err *err)
{
	struct loci_context_tree tree;
	int r = loci_context_tree_new(by->blame, by->min_share, by->max_rows, &tree, err);

	for (size_t i = 0; r == 0 && i < tree.n; i++) {
		const struct loci_context_node *node = &tree.node[i];

		loci_json_object(json);
		r = loci_by_json_row(by->blame, node->row, json, err);
		loci_pair_u64(json, "depth", node->depth);
		loci_pair_number(json, "inclusive_misses", node->misses);
		loci_pair_number(json, "inclusive_references", node->refs);
		loci_json_object_end(json);
	}
	loci_context_tree_fini(&tree);
	return r;
}
