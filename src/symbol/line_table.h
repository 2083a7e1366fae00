/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line table: which place in the source an address is of. It is a program that makes rows, of
 * which a large unit has some hundred thousands; what is kept is where the program is at every so
 * many of them. */
#ifndef LOCI_SYMBOL_LINE_TABLE_H
#define LOCI_SYMBOL_LINE_TABLE_H

#include "symbol/line_header.h"

struct loci_line_row {
	uint64_t address, file;
	uint32_t line, column;
};

struct loci_line_table;

/* As loci_line_header_read(). The sections stay where they are. */
int loci_line_table_new(struct loci_line_table **ret, const struct loci_line_sections *sections,
	uint64_t offset, const char *folder);
void loci_line_table_free(struct loci_line_table *table);

/* The last row of its sequence that is not beyond the address. False: no sequence has it. */
bool loci_line_table_find(
	const struct loci_line_table *table, uint64_t address, struct loci_line_row *ret);
/* *ret_folder: NULL if it is not known, or the name is a whole path. False: there is none. */
bool loci_line_table_file(const struct loci_line_table *table, uint64_t number,
	const char **ret_folder, const char **ret_name);

#endif
