/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables whose rows are structs: which column holds which member. One description serves writing
 * and reading, so that the two cannot drift apart. Private to this room. */
#ifndef LOCI_PROFILE_COLUMN_H
#define LOCI_PROFILE_COLUMN_H

#include "profile/dimension.h"
#include "profile/file.h"

#define COLUMNS_MAX 24 /* of a table */

enum column_type {
	COLUMN_TEXT, /* char *, malloc'ed when read; NULL allowed */
	COLUMN_U64,  /* uint64_t below 2^63 */
	COLUMN_U32,  /* uint32_t */
	COLUMN_REAL, /* double, finite and not negative; whole ones are stored as integers */
	COLUMN_BOOL,
	COLUMN_ONE, /* a constant 1, not in the struct: the only row of another table */
	/* of dimensions */
	COLUMN_ID,     /* int64_t from 1 */
	COLUMN_ID_0,   /* the same, or 0: none; NULL in the file */
	COLUMN_WORD,   /* const char *, never NULL; the profile's when read */
	COLUMN_WORD_0, /* the same, or NULL */
	COLUMN_U32_0,  /* unsigned; 0: unknown, NULL in the file */
	COLUMN_U64_0,
	COLUMN_U64_NULL, /* 0 is 0, but NULL in the file is read as 0 */
	COLUMN_U64_IF,   /* NULL in the file unless the bool at .flag */
	COLUMN_I64,
	COLUMN_OWNER, /* enum loci_owner, its name in the file */
};

/* How rows of several profiles that stand for one thing become one row. */
enum column_fold {
	FOLD_KEY, /* equal in all of them: this is what makes them one thing */
	FOLD_SUM,
	FOLD_LEAST,
	FOLD_MOST,
	FOLD_MOST_LINE, /* the same of an unsigned */
	FOLD_LAST,      /* the most, if all of them have it; else none */
	FOLD_TEXT,      /* any, but the same in whatever order they come */
	FOLD_LOOP,      /* the innermost */
	FOLD_STRIDE,    /* the most frequent */
	FOLD_REAL,      /* the sum of doubles */
	FOLD_ERROR,     /* of a footprint: that of independent estimates' sum */
};

struct column {
	const char *name;
	enum column_type type;
	size_t offset;
	enum table_id of; /* ids: the table whose row it names; a table's own: its parent */
	size_t flag;      /* offset of U64_IF's bool */
	bool later;       /* added since version 1 appeared: a file may lack it */
	enum column_fold fold;
};

struct table {
	enum table_id id;
	const char *name;
	const struct column *column;
	unsigned n_columns;
	size_t row_bytes;
};

extern const struct table loci_table_run;     /* struct loci_run */
extern const struct table loci_table_machine; /* struct loci_run's machine and caches */
extern const struct table loci_table_grain;   /* struct loci_grain */
extern const struct table loci_table_unseen;  /* struct loci_unseen_calls */
extern const struct table loci_table_thread;  /* struct loci_thread_totals */

const struct table *loci_dimension_table(enum table_id id);
/* The dimension whose rows an owner's ids are of, or TABLE_NONE. */
enum table_id loci_owner_table(enum loci_owner owner);

int loci_table_insert(struct loci_profile *profile, const struct table *table, const void *row,
	struct loci_err *err);
/* Rows ascending by the first column, as an array of structs, malloc'ed, NULL where there are none.
 * What cannot be a row of ours is an error. */
int loci_table_select(struct loci_profile *profile, const struct table *table, void **ret_rows,
	size_t *ret_n, struct loci_err *err);

/* rows.c: the dimension's rows, once; sound ones. */
int loci_rows_load(struct loci_profile *profile, enum table_id id, struct loci_err *err);

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
