// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading dimensions. Rows are checked once, on loading: every id that a row names is there, and no
 * row is its own ancestor, so that readers can follow ids without looking. */
#include "profile/column.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

	return loci_row_find(rows->row, rows->n, loci_dimension_table(id)->row_bytes, row_id);
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
				loci_dimension_table(column->of)->name, err);
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

size_t loci_profile_thread_number(const struct loci_profile *profile, int64_t thread)
{
	size_t low = 0, high = profile->n_threads;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (profile->thread[middle].thread == thread)
			return middle;
		if (profile->thread[middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

bool loci_next_thread(const char **at, uint32_t *ret)
{
	char *end;
	unsigned long value;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	value = strtoul(*at, &end, 10);
	if (errno || value > UINT32_MAX || (*end && (*end != ',' || !end[1])))
		return false;
	*at = *end ? end + 1 : end;
	*ret = (uint32_t)value;
	return true;
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

static int check_footprints(struct loci_profile *profile, struct loci_err *err)
{
	const struct rows *rows = &profile->rows[TABLE_footprint];
	const struct loci_footprint_row *footprint = rows->row;
	int r = 0;

	for (size_t i = 0; r == 0 && i < rows->n; i++)
		r = loci_profile_check_owner(
			profile, "footprint", footprint[i].owner, footprint[i].owner_id, err);
	return r;
}

static int check_coherence(struct loci_profile *profile, struct loci_err *err)
{
	const struct rows *rows = &profile->rows[TABLE_coherence];
	const struct loci_coherence_row *coherence = rows->row;
	int r = 0;

	for (size_t i = 0; r == 0 && i < rows->n; i++)
		r = loci_profile_check_owner(
			profile, "coherence", coherence[i].owner, coherence[i].owner_id, err);
	return r;
}

/* Their threads are there. */
static int check_groups(struct loci_profile *profile, struct loci_err *err)
{
	const struct rows *rows = &profile->rows[TABLE_thread_group];
	const struct loci_thread_group_row *group = rows->row;

	for (size_t i = 0; i < rows->n; i++) {
		const char *at = group[i].threads;
		uint32_t thread, first;

		if (!loci_next_thread(&at, &first) || first != group[i].thread)
			return loci_profile_damaged(
				profile, err, "thread_group.threads holds nonsense");
		for (at = group[i].threads; *at;) {
			if (!loci_next_thread(&at, &thread))
				return loci_profile_damaged(
					profile, err, "thread_group.threads holds nonsense");
			if (loci_profile_thread_number(profile, thread) == SIZE_MAX)
				return missing_row(
					profile, "thread_group", "threads", thread, "thread", err);
		}
	}
	return 0;
}

int loci_profile_check_owner(struct loci_profile *profile, const char *table, enum loci_owner owner,
	int64_t owner_id, struct loci_err *err)
{
	enum table_id id = loci_owner_table(owner);
	int r;

	if (owner == LOCI_OWNER_THREAD && loci_profile_thread_number(profile, owner_id) == SIZE_MAX)
		return missing_row(profile, table, "owner_id", owner_id, "thread", err);
	if (id == TABLE_NONE)
		return 0;
	r = loci_rows_load(profile, id, err);
	if (r == 0 && !find_row(profile, id, owner_id))
		r = missing_row(
			profile, table, "owner_id", owner_id, loci_dimension_table(id)->name, err);
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
		r = column->of == table->id ? 0 : loci_rows_load(profile, column->of, err);
		if (r == 0)
			r = check_ids(profile, table, column, err);
		if (r == 0 && column->of == table->id)
			r = check_ancestors(profile, table, column, err);
	}
	if (r == 0 && table->id == TABLE_level_count)
		r = check_owners(profile, err);
	if (r == 0 && table->id == TABLE_footprint)
		r = check_footprints(profile, err);
	if (r == 0 && table->id == TABLE_coherence)
		r = check_coherence(profile, err);
	if (r == 0 && table->id == TABLE_thread_group)
		r = check_groups(profile, err);
	return r;
}

bool loci_profile_has_table(struct loci_profile *profile, const char *name)
{
	return sqlite3_table_column_metadata(
		       profile->db, "main", name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Rows count as loaded only when they are sound. */
int loci_rows_load(struct loci_profile *profile, enum table_id id, struct loci_err *err)
{
	struct rows *rows = &profile->rows[id];
	int r = 0;

	if (rows->loaded)
		return 0;
	if (loci_profile_has_table(profile, loci_dimension_table(id)->name))
		r = loci_table_select(profile, loci_dimension_table(id), &rows->row, &rows->n, err);
	if (r == 0 && rows->n && id == TABLE_excerpt)
		qsort(rows->row, rows->n, loci_dimension_table(id)->row_bytes, compare_excerpts);
	if (r == 0 && rows->n && id == TABLE_level_count)
		qsort(rows->row, rows->n, loci_dimension_table(id)->row_bytes, compare_counts);
	if (r == 0)
		r = check(profile, loci_dimension_table(id), err);
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

	if (profile->replace.temporary) { /* being written: nothing was read yet */
		free(profile->thread);
		profile->thread = NULL;
		r = loci_table_select(profile, &loci_table_thread, (void **)&profile->thread,
			&profile->n_threads, err);
	}
	for (enum table_id id = TABLE_thread + 1; r == 0 && id < TABLE_END; id++)
		r = loci_rows_load(profile, id, err);
	return r;
}

void loci_profile_free_dimensions(struct loci_profile *profile)
{
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(profile->rows); i++)
		free(profile->rows[i].row);
	loci_text_pool_fini(&profile->texts);
}
