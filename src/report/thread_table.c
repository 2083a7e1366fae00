// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/thread_table.h"

#include "base/units.h"
#include "report/cache_table.h"
#include "report/pairs.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define TITLE 40

/* The level whose share is worth a column: the outermost that all threads share. */
static unsigned shared_level(const struct loci_hierarchy *hierarchy)
{
	unsigned found = LOCI_LEVELS_MAX;

	for (unsigned i = 0; i < hierarchy->n_levels; i++)
		if (hierarchy->level[i].share == LOCI_SHARE_ALL && !hierarchy->level[i].is_tlb)
			found = i;
	return found;
}

/* What others did to it is the same at every level of its own. */
static const struct loci_prediction *private_level(
	const struct loci_hierarchy *hierarchy, const struct loci_topology_thread *thread)
{
	for (unsigned i = 0; i < hierarchy->n_levels; i++)
		if (hierarchy->level[i].share == LOCI_SHARE_PRIVATE)
			return &thread->level[i];
	return NULL;
}

static void add_count(struct loci_table *out, bool is_known, double count)
{
	char number[LOCI_UNITS_MAX];

	if (is_known)
		loci_table_add(out, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, count));
	else
		loci_table_add(out, LOCI_STYLE_DIM, "-");
}

static void add_ratio(struct loci_table *out, const struct loci_prediction *p)
{
	char number[LOCI_TEXT_NUMBER];

	loci_text_points(number, p->accesses > 0 ? p->misses / p->accesses : 0);
	loci_table_add(
		out, LOCI_STYLE_PLAIN, "%s%s", p->basis != LOCI_BASIS_EXACT ? "~" : "", number);
}

static void add_share(
	struct loci_table *out, const struct loci_topology_share *share, uint64_t line_bytes)
{
	char size[LOCI_UNITS_MAX];

	if (!share->is_known)
		loci_table_add(out, LOCI_STYLE_DIM, "-");
	else
		loci_table_add(out, LOCI_STYLE_PLAIN, "%s%s", share->is_beyond ? "> " : "",
			loci_units_bytes(size, share->blocks * (double)line_bytes));
}

static void add_row(struct loci_table *out, const struct loci_thread_table *table, size_t i)
{
	const struct loci_hierarchy *h = table->hierarchy;
	const struct loci_topology_thread *row = &table->row[i];
	const struct loci_prediction *own = private_level(h, row);
	unsigned shared = shared_level(h);

	loci_table_add(out, LOCI_STYLE_BOLD, "%" PRId64, row->id);
	add_count(out, true, own ? own->accesses : row->level[0].accesses);
	for (unsigned k = 0; k < h->n_levels; k++)
		add_ratio(out, &row->level[k]);
	add_count(out, own && own->has_sharing, own ? own->true_sharing : 0);
	add_count(out, own && own->has_sharing, own ? own->false_sharing : 0);
	add_count(out, row->level[0].has_sharing, row->level[0].remote);
	if (shared < LOCI_LEVELS_MAX)
		add_share(out, &row->share[shared], h->level[shared].line_bytes);
}

static bool has_beyond(const struct loci_thread_table *table, unsigned level)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->row[i].share[level].is_beyond)
			return true;
	return false;
}

static void print_notes(const struct loci_thread_table *table, const struct loci_text *text)
{
	const struct loci_hierarchy *h = table->hierarchy;
	unsigned shared = shared_level(h);
	char words[640];
	bool has_groups = false;

	for (unsigned i = 0; i < h->n_levels; i++)
		has_groups |= h->level[i].share == LOCI_SHARE_SOME;
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		"%: of the thread's touches that miss. true, false: its misses of what another "
		"wrote, of bytes it touches or of others of the block; remote: touches of what "
		"another touched last.");
	if (has_groups)
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
			"At a level that a group shares each of its threads shows the group's.");
	if (shared == LOCI_LEVELS_MAX)
		return;
	snprintf(words, sizeof(words),
		"share of %s: the fully associative cache of its own in which the thread would "
		"miss as often%s.",
		h->level[shared].name,
		has_beyond(table, shared) ? "; >: it holds all its reuses, and still it would miss "
					    "more, since others bring what it touches"
					  : "");
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2, words);
}

int loci_thread_table_text(const struct loci_thread_table *table, const struct loci_text *text)
{
	const struct loci_hierarchy *h = table->hierarchy;
	struct loci_table_column columns[LOCI_TABLE_COLUMNS] = {
		{ "thread", LOCI_ALIGN_RIGHT },
		{ "touches", LOCI_ALIGN_RIGHT },
	};
	char title[LOCI_LEVELS_MAX + 1][TITLE];
	unsigned shared = shared_level(h), n = 2;
	struct loci_table out;
	int r;

	for (unsigned i = 0; i < h->n_levels; i++) {
		snprintf(title[i], TITLE, "%s %%", h->level[i].name);
		columns[n++] = (struct loci_table_column){ title[i], LOCI_ALIGN_RIGHT };
	}
	columns[n++] = (struct loci_table_column){ "true", LOCI_ALIGN_RIGHT };
	columns[n++] = (struct loci_table_column){ "false", LOCI_ALIGN_RIGHT };
	columns[n++] = (struct loci_table_column){ "remote", LOCI_ALIGN_RIGHT };
	if (shared < LOCI_LEVELS_MAX) {
		snprintf(title[LOCI_LEVELS_MAX], TITLE, "share of %s", h->level[shared].name);
		columns[n++] =
			(struct loci_table_column){ title[LOCI_LEVELS_MAX], LOCI_ALIGN_RIGHT };
	}
	loci_table_init(&out, columns, n);
	for (size_t i = 0; i < table->n; i++)
		add_row(&out, table, i);
	fputc('\n', text->out);
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	print_notes(table, text);
	return 0;
}

static void put_share(const struct loci_topology_share *share, const struct loci_cache *cache,
	struct loci_json *json)
{
	loci_pair_number(json, "effective_bytes",
		share->is_known ? share->blocks * (double)cache->line_bytes : NAN);
	loci_pair_number(json, "effective_share",
		share->is_known ? share->blocks / (double)loci_cache_blocks(cache) : NAN);
	loci_pair_bool(json, "effective_beyond", share->is_beyond);
}

void loci_thread_table_json(const struct loci_thread_table *table, struct loci_json *json)
{
	loci_json_array(json);
	for (size_t i = 0; i < table->n; i++) {
		const struct loci_topology_thread *row = &table->row[i];

		loci_json_object(json);
		loci_pair_u64(json, "thread", (uint64_t)row->id);
		loci_pair_array(json, "levels");
		for (unsigned k = 0; k < table->hierarchy->n_levels; k++) {
			loci_json_object(json);
			loci_cache_table_json_row(&row->level[k], json);
			put_share(&row->share[k], &table->hierarchy->level[k], json);
			loci_json_object_end(json);
		}
		loci_json_array_end(json);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}
