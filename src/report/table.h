/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table whose columns are as wide as their widest cell. Cells are added row by row. */
#ifndef LOCI_REPORT_TABLE_H
#define LOCI_REPORT_TABLE_H

#include "report/text.h"

enum loci_align { LOCI_ALIGN_LEFT, LOCI_ALIGN_RIGHT };

struct loci_table_column {
	const char *title; /* borrowed */
	enum loci_align align;
};

struct loci_table_cell {
	char *string;
	enum loci_style style;
};

#define LOCI_TABLE_COLUMNS 16

struct loci_table {
	struct loci_table_column column[LOCI_TABLE_COLUMNS];
	enum loci_cut cut[LOCI_TABLE_COLUMNS];
	unsigned least[LOCI_TABLE_COLUMNS];
	unsigned rank[LOCI_TABLE_COLUMNS];
	bool hidden[LOCI_TABLE_COLUMNS];
	unsigned n_columns;
	struct loci_table_cell *cell;
	size_t n_cells, cap;
	bool failed; /* out of memory while adding */
};

void loci_table_init(
	struct loci_table *table, const struct loci_table_column *columns, unsigned n_columns);
void loci_table_fini(struct loci_table *table);
/* The column gives way, down to `least` cells, where the table is wider than the text. */
void loci_table_yield(struct loci_table *table, unsigned column, enum loci_cut cut, unsigned least);
/* The column goes where even that is too wide, the one of the highest rank first; 0: it stays. */
void loci_table_spare(struct loci_table *table, unsigned column, unsigned rank);
/* The next cell of the current row. */
void loci_table_add(struct loci_table *table, enum loci_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Columns in which every cell so far is empty are not printed, nor are their titles. */
void loci_table_drop_empty(struct loci_table *table);
/* No titles at all: no title line. 0 or -ENOMEM. */
int loci_table_print(struct loci_table *table, const struct loci_text *text, unsigned indent);

#endif
