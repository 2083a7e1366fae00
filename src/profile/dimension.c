// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of code, data, contexts, pairs and levels. What is read is checked once, on loading:
 * every id that a row names is there, and no row is its own ancestor, so that readers can follow
 * ids without looking. */
#include "profile/column.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN(row, column, type, member, ...)                                            \
	{                                                                                 \
		.name = column, COLUMN_##type, offsetof(struct loci_##row##_row, member), \
		__VA_ARGS__                                                               \
	}
#define OF(table) .of = TABLE_##table
#define LATER     .later = true

/* clang-format off */
static const struct column process_columns[] = {
	COLUMN(process, "id", ID, id),
	COLUMN(process, "parent_id", ID_0, parent_id, OF(process)),
	COLUMN(process, "pid", U64_0, pid),
	COLUMN(process, "command", WORD_0, command),
};

static const struct column module_columns[] = {
	COLUMN(module, "id", ID, id),
	COLUMN(module, "path", WORD, path),
	COLUMN(module, "build_id", WORD_0, build_id),
};

static const struct column source_columns[] = {
	COLUMN(source, "id", ID, id),
	COLUMN(source, "path", WORD, path),
};

static const struct column excerpt_columns[] = {
	COLUMN(excerpt, "source_id", ID, source_id, OF(source)),
	COLUMN(excerpt, "line", U32, line),
	COLUMN(excerpt, "text", WORD, text),
};

static const struct column function_columns[] = {
	COLUMN(function, "id", ID, id),
	COLUMN(function, "module_id", ID_0, module_id, OF(module)),
	COLUMN(function, "name", WORD, name),
	COLUMN(function, "mangled", WORD_0, mangled),
	COLUMN(function, "source_id", ID_0, source_id, OF(source)),
	COLUMN(function, "line", U32_0, line),
};

static const struct column inlined_columns[] = {
	COLUMN(inlined, "id", ID, id),
	COLUMN(inlined, "parent_id", ID_0, parent_id, OF(inlined)),
	COLUMN(inlined, "function_id", ID, function_id, OF(function)),
	COLUMN(inlined, "source_id", ID_0, source_id, OF(source)),
	COLUMN(inlined, "line", U32_0, line),
	COLUMN(inlined, "column_number", U32_0, column),
};

static const struct column loop_columns[] = {
	COLUMN(loop, "id", ID, id),
	COLUMN(loop, "parent_id", ID_0, parent_id, OF(loop)),
	COLUMN(loop, "function_id", ID_0, function_id, OF(function)),
	COLUMN(loop, "source_id", ID_0, source_id, OF(source)),
	COLUMN(loop, "line", U32_0, line),
	COLUMN(loop, "last_line", U32_0, last_line),
	COLUMN(loop, "iterations", U64, iterations),
};

static const struct column site_columns[] = {
	COLUMN(site, "id", ID, id),
	COLUMN(site, "site_key", WORD, site_key),
	COLUMN(site, "function_id", ID_0, function_id, OF(function)),
	COLUMN(site, "inlined_id", ID_0, inlined_id, OF(inlined)),
	COLUMN(site, "loop_id", ID_0, loop_id, OF(loop), LATER),
	COLUMN(site, "source_id", ID_0, source_id, OF(source)),
	COLUMN(site, "line", U32_0, line),
	COLUMN(site, "column_number", U32_0, column),
	COLUMN(site, "op", WORD, op),
	COLUMN(site, "size_bytes", U64_NULL, size_bytes),
	COLUMN(site, "flags", WORD_0, flags),
	COLUMN(site, "code_offset", U64_NULL, code_offset),
	COLUMN(site, "refs", U64, refs),
};

static const struct column context_columns[] = {
	COLUMN(context, "id", ID, id),
	COLUMN(context, "parent_id", ID_0, parent_id, OF(context)),
	COLUMN(context, "function_id", ID_0, function_id, OF(function)),
	COLUMN(context, "source_id", ID_0, source_id, OF(source)),
	COLUMN(context, "line", U32_0, line),
	COLUMN(context, "refs", U64, refs),
};

static const struct column object_columns[] = {
	COLUMN(object, "id", ID, id),
	COLUMN(object, "kind", WORD, kind),
	COLUMN(object, "name", WORD_0, name),
	COLUMN(object, "type", WORD_0, type),
	COLUMN(object, "size_bytes", U64_0, size_bytes),
	COLUMN(object, "allocations", U64_NULL, allocations),
	COLUMN(object, "module_id", ID_0, module_id, OF(module)),
	COLUMN(object, "function_id", ID_0, function_id, OF(function)),
	COLUMN(object, "source_id", ID_0, source_id, OF(source)),
	COLUMN(object, "line", U32_0, line),
	COLUMN(object, "context_id", ID_0, context_id, OF(context)),
	COLUMN(object, "born_refs", U64_NULL, born_refs),
	COLUMN(object, "died_refs", U64_IF, died_refs,
		.flag = offsetof(struct loci_object_row, released)),
	COLUMN(object, "refs", U64, refs),
};

static const struct column field_columns[] = {
	COLUMN(field, "id", ID, id),
	COLUMN(field, "object_id", ID, object_id, OF(object)),
	COLUMN(field, "name", WORD, name),
	COLUMN(field, "type", WORD_0, type),
	COLUMN(field, "offset_bytes", U64, offset_bytes),
	COLUMN(field, "size_bytes", U64_0, size_bytes),
};

static const struct column access_columns[] = {
	COLUMN(access, "id", ID, id),
	COLUMN(access, "site_id", ID, site_id, OF(site)),
	COLUMN(access, "object_id", ID_0, object_id, OF(object)),
	COLUMN(access, "field_id", ID_0, field_id, OF(field)),
	COLUMN(access, "refs", U64, refs),
	COLUMN(access, "stride_bytes", I64, stride_bytes),
	COLUMN(access, "regular_refs", U64, regular_refs),
	COLUMN(access, "fills", U64, fills),
	COLUMN(access, "used_bytes", U64, used_bytes),
};

static const struct column pair_columns[] = {
	COLUMN(pair, "id", ID, id),
	COLUMN(pair, "use_site_id", ID_0, use_site_id, OF(site)),
	COLUMN(pair, "reuse_site_id", ID_0, reuse_site_id, OF(site)),
	COLUMN(pair, "object_id", ID_0, object_id, OF(object)),
	COLUMN(pair, "kind", WORD, kind),
	COLUMN(pair, "use_context_id", ID_0, use_context_id, OF(context)),
	COLUMN(pair, "reuse_context_id", ID_0, reuse_context_id, OF(context)),
	COLUMN(pair, "common_context_id", ID_0, common_context_id, OF(context)),
	COLUMN(pair, "loop_id", ID_0, loop_id, OF(loop), LATER),
	COLUMN(pair, "recycled", BOOL, recycled),
	COLUMN(pair, "refs", U64, refs, LATER),
};

static const struct column level_columns[] = {
	COLUMN(level, "id", ID, id),
	COLUMN(level, "name", WORD, name),
	COLUMN(level, "size_bytes", U64, size_bytes),
	COLUMN(level, "ways", U64, ways),
	COLUMN(level, "line_bytes", U64, line_bytes),
	COLUMN(level, "share", WORD, share),
};

static const struct column level_count_columns[] = {
	COLUMN(level_count, "level_id", ID, level_id, OF(level)),
	COLUMN(level_count, "owner", OWNER, owner),
	COLUMN(level_count, "owner_id", U64, owner_id),
	COLUMN(level_count, "first_hits", U64, first_hits),
	COLUMN(level_count, "misses", U64, misses),
	COLUMN(level_count, "writebacks", U64_NULL, writebacks),
};
/* clang-format on */

#define TABLE(name, names)                                                                       \
	[TABLE_##name] = { TABLE_##name, #name, name##_columns, LOCI_ARRAY_SIZE(name##_columns), \
		sizeof(struct loci_##name##_row) },

static const struct table tables[TABLE_END] = { LOCI_DIMENSIONS(TABLE) };

/* The table whose rows an owner's ids are of; those that no getter reads have none. */
static const enum table_id owner_tables[] = {
	[LOCI_OWNER_SITE] = TABLE_site,
	[LOCI_OWNER_CONTEXT] = TABLE_context,
	[LOCI_OWNER_OBJECT] = TABLE_object,
	[LOCI_OWNER_FIELD] = TABLE_field,
	[LOCI_OWNER_PAIR] = TABLE_pair,
	[LOCI_OWNER_LOOP] = TABLE_loop,
	[LOCI_OWNER_ACCESS] = TABLE_access,
};

static int load(struct loci_profile *profile, enum table_id id, struct loci_err *err);

const void *loci_row_find(const void *rows, size_t n, size_t row_bytes, int64_t id)
{
	size_t low = 0, high = n;

	if (id <= 0)
		return NULL;
	if ((uint64_t)id <= n) { /* where ids are 1, 2, 3, .. */
		const void *row = (const char *)rows + ((size_t)id - 1) * row_bytes;

		if (*(const int64_t *)row == id)
			return row;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *row = (const char *)rows + middle * row_bytes;
		int64_t found = *(const int64_t *)row;

		if (found == id)
			return row;
		if (found < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const void *find_row(const struct loci_profile *profile, enum table_id id, int64_t row_id)
{
	const struct rows *rows = &profile->rows[id];

	return loci_row_find(rows->row, rows->n, tables[id].row_bytes, row_id);
}

static int64_t id_at(
	const struct rows *rows, const struct table *table, const struct column *column, size_t i)
{
	return *(const int64_t *)((const char *)rows->row + i * table->row_bytes + column->offset);
}

static int missing_row(const struct loci_profile *profile, const char *table, const char *column,
	int64_t id, const char *of, struct loci_err *err)
{
	return loci_profile_damaged(profile, err, "%s.%s is %" PRId64 ", which %s does not have",
		table, column, id, of);
}

/* Every id of the column is there. */
static int check_ids(struct loci_profile *profile, const struct table *table,
	const struct column *column, struct loci_err *err)
{
	const struct rows *rows = &profile->rows[table->id];

	for (size_t i = 0; i < rows->n; i++) {
		int64_t id = id_at(rows, table, column, i);

		if (id && !find_row(profile, column->of, id))
			return missing_row(profile, table->name, column->name, id,
				tables[column->of].name, err);
	}
	return 0;
}

/* No row is its own ancestor: walks up from each row until a row that was seen, which must be one
 * of an earlier walk. The parents are known to be there. */
static int check_ancestors(struct loci_profile *profile, const struct table *table,
	const struct column *parent, struct loci_err *err)
{
	const struct rows *rows = &profile->rows[table->id];
	loci_autofree size_t *walk = calloc(rows->n + 1, sizeof(*walk));

	if (!walk)
		return loci_err_nomem(err);
	for (size_t i = 0; i < rows->n; i++) {
		size_t at = i;

		while (!walk[at]) {
			const char *above =
				find_row(profile, table->id, id_at(rows, table, parent, at));

			walk[at] = i + 1;
			if (!above)
				break;
			at = (size_t)(above - (const char *)rows->row) / table->row_bytes;
			if (walk[at] == i + 1)
				return loci_profile_damaged(profile, err,
					"%s %" PRId64 " is above itself", table->name,
					id_at(rows, table, table->column, at));
		}
	}
	return 0;
}

/* Rows are ascending by their ids already. */
static int check_twice(
	struct loci_profile *profile, const struct table *table, struct loci_err *err)
{
	const struct rows *rows = &profile->rows[table->id];

	for (size_t i = 1; table->column[0].of == TABLE_NONE && i < rows->n; i++)
		if (id_at(rows, table, table->column, i - 1) ==
			id_at(rows, table, table->column, i))
			return loci_profile_damaged(profile, err, "%s %" PRId64 " is there twice",
				table->name, id_at(rows, table, table->column, i));
	return 0;
}

static int check_owners(struct loci_profile *profile, struct loci_err *err)
{
	const struct rows *rows = &profile->rows[TABLE_level_count];
	const struct loci_level_count_row *count = rows->row;

	for (size_t i = 0; i < rows->n; i++) {
		int r = loci_profile_check_owner(
			profile, "level_count", count[i].owner, count[i].owner_id, err);

		if (r < 0)
			return r;
	}
	return 0;
}

int loci_profile_check_owner(struct loci_profile *profile, const char *table, enum loci_owner owner,
	int64_t owner_id, struct loci_err *err)
{
	enum table_id id = owner < LOCI_ARRAY_SIZE(owner_tables) ? owner_tables[owner] : TABLE_NONE;
	int r;

	if (id == TABLE_NONE)
		return 0;
	r = load(profile, id, err);
	if (r == 0 && !find_row(profile, id, owner_id))
		r = missing_row(profile, table, "owner_id", owner_id, tables[id].name, err);
	return r;
}

static int compare_excerpts(const void *left, const void *right)
{
	const struct loci_excerpt_row *a = left, *b = right;

	if (a->source_id != b->source_id)
		return a->source_id < b->source_id ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static int compare_counts(const void *left, const void *right)
{
	const struct loci_level_count_row *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->owner_id != b->owner_id)
		return a->owner_id < b->owner_id ? -1 : 1;
	return (a->level_id > b->level_id) - (a->level_id < b->level_id);
}

static int check(struct loci_profile *profile, const struct table *table, struct loci_err *err)
{
	int r = check_twice(profile, table, err);

	for (unsigned i = 0; r == 0 && i < table->n_columns; i++) {
		const struct column *column = &table->column[i];

		if (column->of == TABLE_NONE)
			continue;
		r = column->of == table->id ? 0 : load(profile, column->of, err);
		if (r == 0)
			r = check_ids(profile, table, column, err);
		if (r == 0 && column->of == table->id)
			r = check_ancestors(profile, table, column, err);
	}
	if (r == 0 && table->id == TABLE_level_count)
		r = check_owners(profile, err);
	return r;
}

static bool has_table(struct loci_profile *profile, const char *name)
{
	return sqlite3_table_column_metadata(
		       profile->db, "main", name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Rows count as loaded only when they are sound. */
static int load(struct loci_profile *profile, enum table_id id, struct loci_err *err)
{
	struct rows *rows = &profile->rows[id];
	int r = 0;

	if (rows->loaded)
		return 0;
	if (has_table(profile, tables[id].name))
		r = loci_table_select(profile, &tables[id], &rows->row, &rows->n, err);
	if (r == 0 && rows->n && id == TABLE_excerpt)
		qsort(rows->row, rows->n, tables[id].row_bytes, compare_excerpts);
	if (r == 0 && rows->n && id == TABLE_level_count)
		qsort(rows->row, rows->n, tables[id].row_bytes, compare_counts);
	if (r == 0)
		r = check(profile, &tables[id], err);
	if (r < 0) {
		free(rows->row);
		*rows = (struct rows){ 0 };
		return r;
	}
	rows->loaded = true;
	return 0;
}

int loci_profile_check_dimensions(struct loci_profile *profile, struct loci_err *err)
{
	int r = 0;

	for (enum table_id id = TABLE_thread + 1; r == 0 && id < TABLE_END; id++)
		r = load(profile, id, err);
	return r;
}

void loci_profile_free_dimensions(struct loci_profile *profile)
{
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(profile->rows); i++)
		free(profile->rows[i].row);
	loci_text_pool_fini(&profile->texts);
}

static bool is_nothing(enum table_id id, const void *row)
{
	const struct loci_level_count_row *count = row;

	return id == TABLE_level_count && !count->first_hits && !count->misses &&
		!count->writebacks;
}

static int put(
	struct loci_profile *profile, enum table_id id, const void *row, struct loci_err *err)
{
	return is_nothing(id, row) ? 0 : loci_table_insert(profile, &tables[id], row, err);
}

#define PUT(name, names)                                                   \
	int loci_profile_put_##name(struct loci_profile *profile,          \
		const struct loci_##name##_row *row, struct loci_err *err) \
	{                                                                  \
		return put(profile, TABLE_##name, row, err);               \
	}
LOCI_DIMENSIONS(PUT)

#define GET(name, names)                                                                   \
	int loci_profile_##names(struct loci_profile *profile,                             \
		const struct loci_##name##_row **ret, size_t *ret_n, struct loci_err *err) \
	{                                                                                  \
		int r = load(profile, TABLE_##name, err);                                  \
                                                                                           \
		*ret = profile->rows[TABLE_##name].row;                                    \
		*ret_n = profile->rows[TABLE_##name].n;                                    \
		return r;                                                                  \
	}
LOCI_DIMENSIONS(GET)
