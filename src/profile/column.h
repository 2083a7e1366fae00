/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables whose rows are structs: which column holds which member. One description serves writing
 * and reading, so that the two cannot drift apart. Private to this room. */
#ifndef LOCI_PROFILE_COLUMN_H
#define LOCI_PROFILE_COLUMN_H

#include "profile/file.h"

enum column_type {
	COLUMN_TEXT, /* char *, malloc'ed when read; NULL allowed */
	COLUMN_U64,  /* uint64_t below 2^63 */
	COLUMN_U32,  /* uint32_t */
	COLUMN_REAL, /* double, finite and not negative; whole ones are stored as integers */
	COLUMN_BOOL,
	COLUMN_ONE, /* a constant 1, not in the struct: the only row of another table */
};

struct column {
	const char *name;
	enum column_type type;
	size_t offset;
};

struct table {
	const char *name;
	const struct column *column;
	unsigned n_columns;
	size_t row_bytes;
};

extern const struct table loci_table_run;     /* struct loci_run */
extern const struct table loci_table_machine; /* struct loci_run's machine and caches */
extern const struct table loci_table_grain;   /* struct loci_grain */
extern const struct table loci_table_thread;  /* struct loci_thread_totals */

int loci_table_insert(struct loci_profile *profile, const struct table *table, const void *row,
	struct loci_err *err);
/* Rows ascending by the first column, as an array of structs, malloc'ed, NULL where there are none.
 * What cannot be a row of ours is an error. */
int loci_table_select(struct loci_profile *profile, const struct table *table, void **ret_rows,
	size_t *ret_n, struct loci_err *err);

/* Numbers as the file has them. Binding returns SQLite's result, reading whether it is valid. */
int loci_bind_number(sqlite3_stmt *stmt, int index, double value);
bool loci_column_number(sqlite3_stmt *stmt, int index, double *ret);
bool loci_column_u64(sqlite3_stmt *stmt, int index, uint64_t *ret);
/* Edges of bins, which may be 2^63 and more: those are REAL in the file, infinity 2^64. */
int loci_bind_edge(sqlite3_stmt *stmt, int index, uint64_t edge);
bool loci_column_edge(sqlite3_stmt *stmt, int index, uint64_t *ret);
/* Borrowed until the next step; NULL where it is not text. */
const char *loci_column_text(sqlite3_stmt *stmt, int index);

#endif
