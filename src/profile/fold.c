// SPDX-License-Identifier: GPL-2.0-or-later
/* A row's key is what it says of the program; what the runs counted is summed. Ids are translated
 * first, so that equal keys mean equal things: a context is its path in the tree, a site its key in
 * its function, an object its place of birth. Where one profile has several rows of one key (code
 * without names), the first of them is the first of the others, and so on.
 *
 * The outcome does not depend on the order of the inputs, but for the ids. */
#include "profile/fold.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(name, names) struct loci_##name##_row name;
union any_row {
	int64_t id;
	LOCI_DIMENSIONS(MEMBER)
};
#undef MEMBER

static bool has_own_id(const struct table *table)
{
	return table->column[0].of == TABLE_NONE;
}

/* The number of a row among the profile's. */
static size_t number_of(const struct loci_profile *profile, enum table_id id, int64_t row_id)
{
	const struct rows *rows = &profile->rows[id];
	const struct table *table = loci_dimension_table(id);
	const char *row = loci_row_find(rows->row, rows->n, table->row_bytes, row_id);

	return row ? (size_t)(row - (const char *)rows->row) / table->row_bytes : SIZE_MAX;
}

static int64_t translate(const struct fold *fold, const struct loci_profile *profile,
	enum table_id id, int64_t row_id)
{
	size_t number = row_id ? number_of(profile, id, row_id) : SIZE_MAX;

	return number == SIZE_MAX ? 0 : fold->table[id].map[number];
}

int64_t loci_fold_owner(const struct fold *fold, const struct loci_profile *profile,
	enum loci_owner owner, int64_t owner_id)
{
	enum table_id id = loci_owner_table(owner);

	if (owner == LOCI_OWNER_THREAD) /* numbered anew, in the order of the inputs */
		return (int64_t)(fold->threads - profile->n_threads +
			loci_profile_thread_number(profile, owner_id));
	return id == TABLE_NONE ? 0 : translate(fold, profile, id, owner_id);
}

int64_t loci_fold_process(
	const struct fold *fold, const struct loci_profile *profile, int64_t process_id)
{
	return translate(fold, profile, TABLE_process, process_id);
}

static int64_t thread_here(
	const struct fold *fold, const struct loci_profile *profile, uint32_t thread)
{
	return loci_fold_owner(fold, profile, LOCI_OWNER_THREAD, thread);
}

/* Threads are numbered anew, so a group's list of them is, too. The list is sound. */
static int renumber_group(const struct fold *fold, const struct loci_profile *profile,
	struct loci_thread_group_row *row, char **ret_list)
{
	size_t bytes = 0;
	FILE *out = open_memstream(ret_list, &bytes);
	uint32_t thread;

	if (!out)
		return -ENOMEM;
	for (const char *at = row->threads; *at && loci_next_thread(&at, &thread);)
		fprintf(out, "%" PRId64 "%s", thread_here(fold, profile, thread), *at ? "," : "");
	row->thread = (uint32_t)thread_here(fold, profile, row->thread);
	if (fclose(out) != 0)
		return -ENOMEM;
	row->threads = *ret_list;
	return 0;
}

/* Makes the row one of ours: ids translated, strings kept. */
static int adopt(
	struct fold *fold, const struct loci_profile *profile, const struct table *table, void *row)
{
	for (unsigned i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->column[i];
		void *member = (char *)row + column->offset;

		if (column->of != TABLE_NONE)
			*(int64_t *)member =
				translate(fold, profile, column->of, *(int64_t *)member);
		if ((column->type == COLUMN_WORD || column->type == COLUMN_WORD_0) &&
			*(const char **)member) {
			*(const char **)member =
				loci_text_pool_keep(&fold->texts, *(const char **)member);
			if (!*(const char **)member)
				return -ENOMEM;
		}
	}
	return 0;
}

/* A member of a key as a word. Strings are kept once, so that pointers tell them apart. */
static uint64_t key_word(const struct column *column, const void *row)
{
	const void *member = (const char *)row + column->offset;

	switch (column->type) {
	case COLUMN_WORD:
	case COLUMN_WORD_0:
		return (uintptr_t) * (const char *const *)member;
	case COLUMN_U32:
	case COLUMN_U32_0:
		return *(const uint32_t *)member;
	case COLUMN_BOOL:
		return *(const bool *)member;
	case COLUMN_OWNER:
		return *(const enum loci_owner *)member;
	default:
		return *(const uint64_t *)member;
	}
}

/* The last word numbers rows of one key within an input. n: rows so far. */
static unsigned make_key(const struct table *table, const void *row, size_t n, uint64_t *key)
{
	unsigned width = 0;

	/* those of different runs are different */
	if (table->id == TABLE_process || table->id == TABLE_sampling) {
		key[0] = n;
		return 1;
	}
	for (unsigned i = has_own_id(table); i < table->n_columns; i++)
		if (table->column[i].fold == FOLD_KEY)
			key[width++] = key_word(&table->column[i], row);
	key[width++] = 0;
	return width;
}

static int grow(struct fold_table *to, size_t row_bytes)
{
	size_t larger = to->room ? 2 * to->room : 16;
	struct fold_seen *seen = realloc(to->seen, larger * sizeof(*seen));
	char *row = seen ? realloc(to->row, larger * row_bytes) : NULL;

	if (seen)
		to->seen = seen;
	if (!row)
		return -ENOMEM;
	to->row = row;
	to->room = larger;
	return 0;
}

/* The number of the row that this one is to be added to. */
static int find(
	struct fold *fold, const struct table *table, const void *row, size_t *ret, bool *ret_new)
{
	struct fold_table *to = &fold->table[table->id];
	uint64_t key[COLUMNS_MAX + 1];
	struct fold_seen *seen;

	if (to->n + 1 >= to->room && grow(to, table->row_bytes) < 0)
		return -ENOMEM;
	to->keys.width = make_key(table, row, to->n, key);
	if (loci_key_set_add(&to->keys, key, ret, ret_new) < 0)
		return -ENOMEM;
	to->n = to->keys.n;
	if (table->id == TABLE_process || table->id == TABLE_sampling)
		return 0;
	seen = &to->seen[*ret];
	if (*ret_new || seen->input != fold->inputs)
		*seen = (struct fold_seen){ fold->inputs, 0 };
	key[to->keys.width - 1] = seen->n++;
	if (key[to->keys.width - 1] && loci_key_set_add(&to->keys, key, ret, ret_new) < 0)
		return -ENOMEM;
	to->n = to->keys.n;
	return 0;
}

/* Folds one row, whose parent is folded. */
static int fold_row(struct fold *fold, const struct loci_profile *profile,
	const struct table *table, size_t number)
{
	struct fold_table *to = &fold->table[table->id];
	loci_autofree char *list = NULL; /* until it is adopted */
	union any_row row;
	bool is_new;
	size_t i;

	memcpy(&row, (char *)profile->rows[table->id].row + number * table->row_bytes,
		table->row_bytes);
	if (table->id == TABLE_level_count)
		row.level_count.owner_id = loci_fold_owner(
			fold, profile, row.level_count.owner, row.level_count.owner_id);
	if (table->id == TABLE_footprint)
		row.footprint.owner_id =
			loci_fold_owner(fold, profile, row.footprint.owner, row.footprint.owner_id);
	if (table->id == TABLE_coherence)
		row.coherence.owner_id =
			loci_fold_owner(fold, profile, row.coherence.owner, row.coherence.owner_id);
	if (table->id == TABLE_thread_group &&
		renumber_group(fold, profile, &row.thread_group, &list) < 0)
		return -ENOMEM;
	if (adopt(fold, profile, table, &row) < 0 || find(fold, table, &row, &i, &is_new) < 0)
		return -ENOMEM;
	to->map[number] = (int64_t)i + 1;
	if (is_new) {
		if (has_own_id(table))
			row.id = (int64_t)i + 1;
		memcpy(loci_fold_row(fold, table->id, i), &row, table->row_bytes);
	} else {
		for (unsigned k = 0; k < table->n_columns; k++)
			loci_fold_column(
				fold, &table->column[k], loci_fold_row(fold, table->id, i), &row);
	}
	return table->id == TABLE_access ? loci_fold_stride(fold, i, &row.access, is_new) : 0;
}

static const struct column *parent_column(const struct table *table)
{
	for (unsigned i = 0; i < table->n_columns; i++)
		if (table->column[i].of == table->id)
			return &table->column[i];
	return NULL;
}

static int fold_table(
	struct fold *fold, const struct loci_profile *profile, const struct table *table)
{
	const struct rows *rows = &profile->rows[table->id];
	const struct column *parent = parent_column(table);
	loci_autofree size_t *path = calloc(rows->n + 1, sizeof(*path));
	int64_t *map = calloc(rows->n + 1, sizeof(*map));

	free(fold->table[table->id].map);
	fold->table[table->id].map = map;
	if (!path || !map)
		return -ENOMEM;
	for (size_t i = 0; i < rows->n; i++) {
		size_t depth = 0;

		/* what stands above it first */
		for (size_t at = i; at != SIZE_MAX && !map[at];) {
			const char *row = (const char *)rows->row + at * table->row_bytes;

			path[depth++] = at;
			at = parent ? number_of(profile, table->id,
					      *(const int64_t *)(row + parent->offset))
				    : SIZE_MAX;
		}
		while (depth)
			if (fold_row(fold, profile, table, path[--depth]) < 0)
				return -ENOMEM;
	}
	return 0;
}

/* Block sizes are powers of two. */
static uint64_t grains_of(const struct loci_profile *profile)
{
	uint64_t grains = 0;

	for (size_t i = 0; i < profile->n_grains; i++)
		grains |= profile->grain[i].block_bytes;
	return grains;
}

/* Those at which threads met. */
static uint64_t coherent_grains_of(const struct loci_profile *profile)
{
	const struct rows *rows = &profile->rows[TABLE_coherence];
	const struct loci_coherence_row *row = rows->row;
	uint64_t grains = 0;

	for (size_t i = 0; i < rows->n; i++)
		grains |= row[i].block_bytes;
	return grains;
}

int loci_fold_add(struct fold *fold, struct loci_profile *profile, struct loci_err *err)
{
	bool busy = loci_profile_run(profile)->references > 0;
	int r = loci_profile_check_dimensions(profile, err);

	size_t levels = fold->table[TABLE_level].n;

	if (r < 0)
		return r;
	fold->grains = fold->inputs ? fold->grains & grains_of(profile) : grains_of(profile);
	if (busy)
		fold->coherent = fold->busy ? fold->coherent & coherent_grains_of(profile)
					    : coherent_grains_of(profile);
	fold->inputs++;
	fold->threads += profile->n_threads;
	fold->busy += busy;
	for (enum table_id id = TABLE_thread + 1; r == 0 && id < TABLE_END; id++) {
		if (id == TABLE_stretch) /* runs have no common time */
			continue;
		if (id == TABLE_memory_use) { /* shares of different accesses */
			fold->with[id] += profile->rows[id].n > 0;
			continue;
		}
		fold->with[id] += busy && profile->rows[id].n;
		r = fold_table(fold, profile, loci_dimension_table(id));
	}
	if (r < 0)
		return loci_err_nomem(err);
	if (fold->table[TABLE_level].n != profile->rows[TABLE_level].n ||
		(fold->inputs > 1 && fold->table[TABLE_level].n != levels))
		fold->other_levels = true;
	return 0;
}

void loci_fold_fini(struct fold *fold)
{
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(fold->table); i++) {
		loci_key_set_fini(&fold->table[i].keys);
		free(fold->table[i].row);
		free(fold->table[i].seen);
		free(fold->table[i].map);
	}
	loci_text_pool_fini(&fold->texts);
	free(fold->regular);
}
