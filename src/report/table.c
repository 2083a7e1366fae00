// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/table.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GAP        2
#define CELL_BYTES 1024

void loci_table_init(
	struct loci_table *table, const struct loci_table_column *columns, unsigned n_columns)
{
	assert(n_columns > 0 && n_columns <= LOCI_TABLE_COLUMNS);
	*table = (struct loci_table){ .n_columns = n_columns };
	memcpy(table->column, columns, n_columns * sizeof(*columns));
}

void loci_table_fini(struct loci_table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cell[i].string);
	free(table->cell);
	*table = (struct loci_table){ .n_columns = table->n_columns };
}

void loci_table_yield(struct loci_table *table, unsigned column, enum loci_cut cut, unsigned least)
{
	assert(column < table->n_columns);
	table->cut[column] = cut;
	table->least[column] = least;
}

void loci_table_spare(struct loci_table *table, unsigned column, unsigned rank)
{
	assert(column < table->n_columns);
	table->rank[column] = rank;
}

static int grow(struct loci_table *table)
{
	size_t cap = table->cap ? 2 * table->cap : 64;
	struct loci_table_cell *larger = realloc(table->cell, cap * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	table->cell = larger;
	table->cap = cap;
	return 0;
}

void loci_table_add(struct loci_table *table, enum loci_style style, const char *fmt, ...)
{
	char *string = NULL;
	va_list args;
	int n;

	if (table->failed || (table->n_cells == table->cap && grow(table) < 0)) {
		table->failed = true;
		return;
	}
	va_start(args, fmt);
	n = vasprintf(&string, fmt, args);
	va_end(args);
	if (n < 0) {
		table->failed = true;
		return;
	}
	loci_text_disarm(string);
	for (char *c = string; (c = strchr(c, '\n')); c++)
		*c = '?'; /* a row is a line */
	table->cell[table->n_cells++] = (struct loci_table_cell){ string, style };
}

void loci_table_drop_empty(struct loci_table *table)
{
	for (unsigned i = 0; i < table->n_columns; i++) {
		table->hidden[i] = true;
		for (size_t k = i; k < table->n_cells; k += table->n_columns)
			if (table->cell[k].string[0])
				table->hidden[i] = false;
	}
}

/* Blanks at the end of a cell align a number's point, and are printed like other gaps. */
static size_t bytes_before_blanks(const char *string)
{
	size_t length = strlen(string);

	while (length && string[length - 1] == ' ')
		length--;
	return length;
}

static void print_row(const struct loci_table *table, const struct loci_text *text, unsigned indent,
	const unsigned *width, const struct loci_table_cell *cell)
{
	unsigned pending = indent; /* spaces are printed before the next text, never at the end */

	for (unsigned i = 0; i < table->n_columns; i++) {
		char shortened[CELL_BYTES];
		const char *string = loci_text_shorten(text, cell[i].string, width[i],
			table->cut[i], shortened, sizeof(shortened));
		unsigned own = loci_text_width(string), pad = width[i] - own;
		size_t bytes = bytes_before_blanks(string);

		if (table->hidden[i])
			continue;
		if (table->column[i].align == LOCI_ALIGN_RIGHT)
			pending += pad;
		if (bytes) {
			loci_text_spaces(text, pending);
			loci_text_print(text, cell[i].style, "%.*s", (int)bytes, string);
			pending = (unsigned)(strlen(string) - bytes);
		} else {
			pending += own;
		}
		if (table->column[i].align == LOCI_ALIGN_LEFT)
			pending += pad;
		pending += GAP;
	}
	fputc('\n', text->out);
}

/* How wide the table is at least, or as it is. */
static unsigned table_width(
	const struct loci_table *table, unsigned indent, const unsigned *width, bool at_least)
{
	unsigned total = indent;

	for (unsigned i = 0; i < table->n_columns; i++) {
		unsigned own = width[i];

		if (table->hidden[i])
			continue;
		if (at_least && table->cut[i] && table->least[i] < own)
			own = table->least[i];
		total += own + (total > indent ? GAP : 0);
	}
	return total;
}

/* Leaves columns out until the rest can give way enough, or none can be spared. */
static void spare(
	struct loci_table *table, unsigned columns, unsigned indent, const unsigned *width)
{
	while (table_width(table, indent, width, true) > columns) {
		unsigned first = table->n_columns;

		for (unsigned i = 0; i < table->n_columns; i++)
			if (table->rank[i] && !table->hidden[i] &&
				(first == table->n_columns || table->rank[i] > table->rank[first]))
				first = i;
		if (first == table->n_columns)
			return;
		table->hidden[first] = true;
	}
}

/* Takes from the widest of the columns that give way until the table fits, or none can. */
static void fit(const struct loci_table *table, unsigned columns, unsigned indent, unsigned *width)
{
	unsigned total = table_width(table, indent, width, false);

	for (; total > columns; total--) {
		unsigned widest = table->n_columns;

		for (unsigned i = 0; i < table->n_columns; i++)
			if (table->cut[i] && !table->hidden[i] && width[i] > table->least[i] &&
				(widest == table->n_columns || width[i] > width[widest]))
				widest = i;
		if (widest == table->n_columns)
			return;
		width[widest]--;
	}
}

int loci_table_print(struct loci_table *table, const struct loci_text *text, unsigned indent)
{
	struct loci_table_cell title[LOCI_TABLE_COLUMNS];
	unsigned width[LOCI_TABLE_COLUMNS] = { 0 };
	bool has_title = false;

	if (table->failed)
		return -ENOMEM;
	assert(table->n_cells % table->n_columns == 0);
	for (unsigned i = 0; i < table->n_columns; i++) {
		title[i].string = (char *)table->column[i].title;
		title[i].style = LOCI_STYLE_DIM;
		width[i] = loci_text_width(title[i].string);
		has_title |= width[i] > 0;
	}
	for (size_t i = 0; i < table->n_cells; i++) {
		unsigned own = loci_text_width(table->cell[i].string);

		if (own > width[i % table->n_columns])
			width[i % table->n_columns] = own;
	}
	spare(table, text->columns, indent, width);
	fit(table, text->columns, indent, width);
	if (has_title)
		print_row(table, text, indent, width, title);
	for (size_t i = 0; i < table->n_cells; i += table->n_columns)
		print_row(table, text, indent, width, table->cell + i);
	return 0;
}
