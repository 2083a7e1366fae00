// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/column.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUN(column, type, member)                                                  \
	{                                                                          \
		.name = (column), COLUMN_##type, offsetof(struct loci_run, member) \
	}
#define GRAIN(member, type)                                                         \
	{                                                                           \
		.name = #member, COLUMN_##type, offsetof(struct loci_grain, member) \
	}

static const struct column run_columns[] = {
	RUN("command", TEXT, command),
	RUN("collector", TEXT, collector),
	RUN("origin", TEXT, origin),
	RUN("mode", TEXT, mode),
	RUN("unit", TEXT, unit),
	RUN("capabilities", TEXT, capabilities),
	RUN("loci_version", TEXT, program_version),
	{ .name = "machine_id", COLUMN_ONE },
	RUN("started", TEXT, started),
	RUN("seconds", REAL, seconds),
	RUN("complete", BOOL, complete),
	RUN("note", TEXT, note),
	RUN("refs", U64, references),
	RUN("loads", U64, loads),
	RUN("stores", U64, stores),
	RUN("fetches", U64, fetches),
	RUN("bulk", U64, bulk),
	RUN("lost", U64, lost),
	RUN("threads", U64, threads),
	RUN("merged", U64, merged),
};

static const struct column machine_columns[] = {
	{ .name = "id", COLUMN_ONE },
	RUN("processor", TEXT, machine),
	RUN("caches", TEXT, caches),
};

static const struct column grain_columns[] = {
	GRAIN(block_bytes, U64),
	GRAIN(touches, U64),
	GRAIN(writes, U64),
	GRAIN(straddles, U64),
	GRAIN(blocks, REAL),
	GRAIN(sampling_rate, REAL),
	GRAIN(error_points, REAL),
	GRAIN(sampled_from, U64),
};

static const struct column thread_columns[] = {
	{ .name = "id", COLUMN_U32, offsetof(struct loci_thread_totals, thread) },
	{ .name = "refs", COLUMN_U64, offsetof(struct loci_thread_totals, references) },
	{ .name = "process_id", COLUMN_ID_0, offsetof(struct loci_thread_totals, process_id) },
};

static const struct column unseen_columns[] = {
	{ .name = "library", COLUMN_WORD, offsetof(struct loci_unseen_calls, library) },
	{ .name = "calls", COLUMN_U64, offsetof(struct loci_unseen_calls, calls) },
};

#define TABLE(name, columns, row)                                              \
	const struct table loci_table_##name = { TABLE_##name, #name, columns, \
		LOCI_ARRAY_SIZE(columns), sizeof(row) }

TABLE(run, run_columns, struct loci_run);
TABLE(machine, machine_columns, struct loci_run);
TABLE(grain, grain_columns, struct loci_grain);
TABLE(unseen, unseen_columns, struct loci_unseen_calls);
TABLE(thread, thread_columns, struct loci_thread_totals);

int loci_bind_number(sqlite3_stmt *stmt, int index, double value)
{
	if (value == floor(value) && fabs(value) < 0x1p63)
		return sqlite3_bind_int64(stmt, index, (sqlite3_int64)value);
	return sqlite3_bind_double(stmt, index, value);
}

bool loci_column_number(sqlite3_stmt *stmt, int index, double *ret)
{
	int type = sqlite3_column_type(stmt, index);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return false;
	*ret = sqlite3_column_double(stmt, index);
	return isfinite(*ret) && *ret >= 0;
}

bool loci_column_u64(sqlite3_stmt *stmt, int index, uint64_t *ret)
{
	if (sqlite3_column_type(stmt, index) != SQLITE_INTEGER)
		return false;
	*ret = (uint64_t)sqlite3_column_int64(stmt, index);
	return *ret <= INT64_MAX;
}

int loci_bind_edge(sqlite3_stmt *stmt, int index, uint64_t edge)
{
	if (edge <= INT64_MAX)
		return sqlite3_bind_int64(stmt, index, (sqlite3_int64)edge);
	return sqlite3_bind_double(stmt, index, (double)edge); /* infinity rounds to 2^64 */
}

bool loci_column_edge(sqlite3_stmt *stmt, int index, uint64_t *ret)
{
	double value;

	if (loci_column_u64(stmt, index, ret))
		return true;
	if (!loci_column_number(stmt, index, &value) || value < 0x1p63 || value > 0x1p64)
		return false;
	*ret = value == 0x1p64 ? LOCI_INFINITE : (uint64_t)value;
	return true;
}

const char *loci_column_text(sqlite3_stmt *stmt, int index)
{
	const char *text;

	if (sqlite3_column_type(stmt, index) != SQLITE_TEXT)
		return NULL;
	text = (const char *)sqlite3_column_text(stmt, index);
	return text && strlen(text) == (size_t)sqlite3_column_bytes(stmt, index) ? text : NULL;
}

static int bind_u64(sqlite3_stmt *stmt, int index, uint64_t value)
{
	if (value > INT64_MAX)
		return SQLITE_RANGE;
	return sqlite3_bind_int64(stmt, index, (sqlite3_int64)value);
}

static int bind_id(sqlite3_stmt *stmt, int index, int64_t id)
{
	return id < 0 ? SQLITE_RANGE : sqlite3_bind_int64(stmt, index, id);
}

static int bind(sqlite3_stmt *stmt, int index, const struct column *column, const void *row)
{
	const void *member = (const char *)row + column->offset;

	switch (column->type) {
	case COLUMN_TEXT:
	case COLUMN_WORD:
	case COLUMN_WORD_0:
		return sqlite3_bind_text(
			stmt, index, *(const char *const *)member, -1, SQLITE_STATIC);
	case COLUMN_U64:
	case COLUMN_U64_NULL:
		return bind_u64(stmt, index, *(const uint64_t *)member);
	case COLUMN_U64_0:
		if (!*(const uint64_t *)member)
			return sqlite3_bind_null(stmt, index);
		return bind_u64(stmt, index, *(const uint64_t *)member);
	case COLUMN_U64_IF:
		if (!*(const bool *)((const char *)row + column->flag))
			return sqlite3_bind_null(stmt, index);
		return bind_u64(stmt, index, *(const uint64_t *)member);
	case COLUMN_U32:
		return sqlite3_bind_int64(stmt, index, *(const uint32_t *)member);
	case COLUMN_U32_0:
		if (!*(const uint32_t *)member)
			return sqlite3_bind_null(stmt, index);
		return sqlite3_bind_int64(stmt, index, *(const uint32_t *)member);
	case COLUMN_REAL:
		if (!isfinite(*(const double *)member) || *(const double *)member < 0)
			return SQLITE_RANGE;
		return loci_bind_number(stmt, index, *(const double *)member);
	case COLUMN_BOOL:
		return sqlite3_bind_int(stmt, index, *(const bool *)member);
	case COLUMN_ONE:
		return sqlite3_bind_int(stmt, index, 1);
	case COLUMN_ID:
		if (!*(const int64_t *)member)
			return SQLITE_RANGE;
		return bind_id(stmt, index, *(const int64_t *)member);
	case COLUMN_ID_0:
		if (!*(const int64_t *)member)
			return sqlite3_bind_null(stmt, index);
		return bind_id(stmt, index, *(const int64_t *)member);
	case COLUMN_I64:
		return sqlite3_bind_int64(stmt, index, *(const int64_t *)member);
	case COLUMN_OWNER:
		return sqlite3_bind_text(stmt, index,
			loci_owner_name(*(const enum loci_owner *)member), -1, SQLITE_STATIC);
	}
	return SQLITE_MISUSE;
}

static bool fetch_u32(sqlite3_stmt *stmt, int index, void *member)
{
	uint64_t number;

	if (!loci_column_u64(stmt, index, &number) || number > UINT32_MAX)
		return false;
	*(uint32_t *)member = (uint32_t)number;
	return true;
}

static bool fetch_bool(sqlite3_stmt *stmt, int index, void *member)
{
	uint64_t number;

	if (!loci_column_u64(stmt, index, &number) || number > 1)
		return false;
	*(bool *)member = number;
	return true;
}

static bool fetch_id(sqlite3_stmt *stmt, int index, void *member)
{
	return loci_column_u64(stmt, index, member) && *(const int64_t *)member > 0;
}

static bool fetch_i64(sqlite3_stmt *stmt, int index, void *member)
{
	*(int64_t *)member = sqlite3_column_int64(stmt, index);
	return sqlite3_column_type(stmt, index) == SQLITE_INTEGER;
}

/* false: the column does not hold what it should, or *ret_nomem. Members are 0 before. */
static bool fetch_text(struct loci_profile *profile, sqlite3_stmt *stmt, int index,
	enum column_type type, void *member, bool *ret_nomem)
{
	const char *text = loci_column_text(stmt, index);

	if (!text)
		return false;
	if (type == COLUMN_TEXT)
		*(char **)member = strdup(text);
	else
		*(const char **)member = loci_text_pool_keep(&profile->texts, text);
	*ret_nomem = !*(char **)member;
	return !*ret_nomem;
}

static bool fetch(struct loci_profile *profile, sqlite3_stmt *stmt, int index,
	const struct column *column, void *row, bool *ret_nomem)
{
	void *member = (char *)row + column->offset;
	bool null = sqlite3_column_type(stmt, index) == SQLITE_NULL;

	switch (column->type) {
	case COLUMN_TEXT:
	case COLUMN_WORD_0:
		if (null)
			return true;
		return fetch_text(profile, stmt, index, column->type, member, ret_nomem);
	case COLUMN_WORD:
		return fetch_text(profile, stmt, index, column->type, member, ret_nomem);
	case COLUMN_U64:
		return loci_column_u64(stmt, index, member);
	case COLUMN_U64_0:
	case COLUMN_U64_NULL:
		return null || loci_column_u64(stmt, index, member);
	case COLUMN_U64_IF:
		*(bool *)((char *)row + column->flag) = !null;
		return null || loci_column_u64(stmt, index, member);
	case COLUMN_U32:
		return fetch_u32(stmt, index, member);
	case COLUMN_U32_0:
		return null || fetch_u32(stmt, index, member);
	case COLUMN_REAL:
		return loci_column_number(stmt, index, member);
	case COLUMN_BOOL:
		return fetch_bool(stmt, index, member);
	case COLUMN_ONE:
		return true;
	case COLUMN_ID:
		return fetch_id(stmt, index, member);
	case COLUMN_ID_0:
		return null || fetch_id(stmt, index, member);
	case COLUMN_I64:
		return fetch_i64(stmt, index, member);
	case COLUMN_OWNER:
		return loci_owner_from_name(loci_column_text(stmt, index), member) == 0;
	}
	return false;
}

static int prepare(struct loci_profile *profile, char *sql, sqlite3_stmt **ret)
{
	int rc = sql ? sqlite3_prepare_v2(profile->db, sql, -1, ret, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc;
}

static int prepare_insert(
	struct loci_profile *profile, const struct table *table, sqlite3_stmt **ret)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendf(sql, "INSERT INTO %s (", table->name);
	for (unsigned i = 0; i < table->n_columns; i++)
		sqlite3_str_appendf(sql, "%s%s", i ? "," : "", table->column[i].name);
	sqlite3_str_appendall(sql, ") VALUES (");
	for (unsigned i = 0; i < table->n_columns; i++)
		sqlite3_str_appendall(sql, i ? ",?" : "?");
	sqlite3_str_appendall(sql, ")");
	return prepare(profile, sqlite3_str_finish(sql), ret);
}

int loci_table_insert(struct loci_profile *profile, const struct table *table, const void *row,
	struct loci_err *err)
{
	sqlite3_stmt **stmt = &profile->insert[table->id];
	int r = 0, rc = *stmt ? SQLITE_OK : prepare_insert(profile, table, stmt);

	for (unsigned i = 0; rc == SQLITE_OK && i < table->n_columns; i++) {
		rc = bind(*stmt, (int)i + 1, &table->column[i], row);
		if (rc == SQLITE_RANGE)
			r = loci_err_set(err, ERANGE, "%s: cannot write: %s.%s is out of range",
				profile->path, table->name, table->column[i].name);
	}
	if (rc == SQLITE_OK)
		rc = sqlite3_step(*stmt);
	if (r == 0 && rc != SQLITE_DONE)
		r = loci_profile_db_error(profile, err);
	if (*stmt)
		sqlite3_reset(*stmt);
	return r;
}

/* Columns that an older file lacks are NULL, and left alone in the struct. */
static bool is_missing(
	struct loci_profile *profile, const struct table *table, const struct column *column)
{
	return column->later &&
		sqlite3_table_column_metadata(profile->db, "main", table->name, column->name, NULL,
			NULL, NULL, NULL, NULL) != SQLITE_OK;
}

static int prepare_select(struct loci_profile *profile, const struct table *table,
	bool *ret_missing, sqlite3_stmt **ret)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendall(sql, "SELECT ");
	for (unsigned i = 0; i < table->n_columns; i++) {
		ret_missing[i] = is_missing(profile, table, &table->column[i]);
		sqlite3_str_appendf(
			sql, "%s%s", i ? "," : "", ret_missing[i] ? "NULL" : table->column[i].name);
	}
	sqlite3_str_appendf(sql, " FROM %s ORDER BY %s", table->name, table->column[0].name);
	return prepare(profile, sqlite3_str_finish(sql), ret);
}

static int fetch_row(struct loci_profile *profile, const struct table *table, const bool *missing,
	sqlite3_stmt *stmt, void *row, struct loci_err *err)
{
	bool nomem = false;

	for (unsigned i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->column[i];

		if (missing[i] || fetch(profile, stmt, (int)i, column, row, &nomem))
			continue;
		return nomem ? loci_err_nomem(err)
			     : loci_profile_damaged(profile, err, "%s.%s holds nonsense",
				       table->name, column->name);
	}
	return 0;
}

static void free_rows(const struct table *table, char *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < table->n_columns; k++)
			if (table->column[k].type == COLUMN_TEXT)
				free(*(char **)(rows + i * table->row_bytes +
					table->column[k].offset));
	free(rows);
}

int loci_table_select(struct loci_profile *profile, const struct table *table, void **ret_rows,
	size_t *ret_n, struct loci_err *err)
{
	bool missing[COLUMNS_MAX];
	sqlite3_stmt *stmt = NULL;
	size_t n = 0, room = 0;
	char *rows = NULL;
	int r = 0, rc = prepare_select(profile, table, missing, &stmt);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	for (; r == 0 && rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
		if (n == room) {
			size_t larger = room ? 2 * room : 4;
			char *moved = realloc(rows, larger * table->row_bytes);

			if (!moved) {
				r = loci_err_nomem(err);
				break;
			}
			rows = moved;
			room = larger;
		}
		memset(rows + n * table->row_bytes, 0, table->row_bytes);
		n++;
		r = fetch_row(
			profile, table, missing, stmt, rows + (n - 1) * table->row_bytes, err);
	}
	if (r == 0 && rc != SQLITE_DONE)
		r = loci_profile_db_error(profile, err);
	sqlite3_finalize(stmt);
	if (r < 0) {
		free_rows(table, rows, n);
		return r;
	}
	*ret_rows = rows;
	*ret_n = n;
	return 0;
}
