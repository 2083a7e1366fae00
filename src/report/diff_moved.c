// SPDX-License-Identifier: GPL-2.0-or-later
/* The part of `loci diff` that says where: lines, objects and regions whose misses moved most. */
#include "report/diff_screen.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/by_table.h"
#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

static void name_of(const struct loci_moved *moved, const struct loci_moved_row *move,
	struct loci_blame *const side[2], const char *arrow, char *buf, size_t size)
{
	unsigned k = move->row[1] ? 1 : 0;
	const struct loci_object_row *object =
		loci_catalogue_find_object(&moved->catalogue[k], move->detail[k].object_id);
	char name[LOCI_NAME_MAX], origin[LOCI_NAME_MAX];

	loci_name_row(side[k], move->row[k], arrow, name, sizeof(name));
	if (side[k]->kind == LOCI_BLAME_OBJECT)
		snprintf(buf, size, "%s (%s)", name,
			loci_name_origin(
				&moved->catalogue[k], move->row[k]->owner, origin, sizeof(origin)));
	else if (object)
		snprintf(buf, size, "%s, %s", name,
			loci_name_object(&moved->catalogue[k], object, origin, sizeof(origin)));
	else
		snprintf(buf, size, "%s", name);
}

/* "51 KiB -> 12.5 KiB", or "" where either is not known. */
static void distance_of(const struct loci_moved_row *move, struct loci_blame *const side[2],
	const char *arrow, char *buf, size_t size)
{
	char before[LOCI_TEXT_NUMBER + 8] = "", after[LOCI_TEXT_NUMBER + 8] = "";

	buf[0] = '\0';
	if (move->row[0])
		loci_by_distance(side[0], &move->detail[0], before);
	if (move->row[1])
		loci_by_distance(side[1], &move->detail[1], after);
	if (before[0] && after[0] && strcmp(before, after))
		snprintf(buf, size, "%s %s %s", before, arrow, after);
	else if (before[0] || after[0])
		snprintf(buf, size, "%s", after[0] ? after : before);
}

static int print_moves(const struct loci_moved *moved, const struct loci_moved_row *move, size_t n,
	struct loci_blame *const side[2], const char *const title[3], const struct loci_text *text)
{
	const struct loci_table_column columns[] = {
		{ title[0], LOCI_ALIGN_LEFT },
		{ title[1], LOCI_ALIGN_RIGHT },
		{ title[2], LOCI_ALIGN_RIGHT },
		{ "", LOCI_ALIGN_RIGHT },
		{ "distance", LOCI_ALIGN_LEFT },
	};
	const char *mark = moved->is_estimate ? "~" : "";
	struct loci_table table;
	int r;

	if (!n)
		return 0;
	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	loci_table_yield(&table, 0, LOCI_CUT_MIDDLE, 16);
	for (size_t i = 0; i < n; i++) {
		char name[2 * LOCI_NAME_MAX], number[LOCI_UNITS_MAX], change[LOCI_TEXT_NUMBER];
		enum loci_trend trend = loci_change_trend(move[i].misses, 0, 0);
		enum loci_style style = trend == LOCI_TREND_BETTER ? LOCI_STYLE_GOOD
			: trend == LOCI_TREND_WORSE                ? LOCI_STYLE_BAD
								   : LOCI_STYLE_PLAIN;

		name_of(moved, &move[i], side, text->glyph->arrow, name, sizeof(name));
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", name);
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s%s", mark,
			loci_units_count(number, round(move[i].misses.before)));
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s%s", mark,
			loci_units_count(number, round(move[i].misses.after)));
		loci_table_add(&table, style, "%s",
			loci_text_change(change, move[i].misses.before, move[i].misses.after));
		distance_of(&move[i], side, text->glyph->arrow, name, sizeof(name));
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", name);
	}
	fputc('\n', text->out);
	r = loci_table_print(&table, text, 2);
	loci_table_fini(&table);
	return r;
}

int loci_diff_moved(
	const struct loci_moved *moved, const struct loci_text *text, struct loci_err *err)
{
	char lines[64], objects[64], regions[64];
	const char *title[3] = { lines, "before", "after" };

	snprintf(lines, sizeof(lines), "%s misses, by line", moved->cache.name);
	snprintf(regions, sizeof(regions), "%s misses, by region", moved->cache.name);
	snprintf(objects, sizeof(objects), "%s misses, by object", moved->cache.name);
	if (print_moves(moved, moved->line, moved->n_lines, moved->lines, title, text) < 0)
		return loci_err_nomem(err);
	title[0] = objects;
	if (print_moves(moved, moved->object, moved->n_objects, moved->objects, title, text) < 0)
		return loci_err_nomem(err);
	title[0] = regions;
	if (print_moves(moved, moved->region, moved->n_regions, moved->regions, title, text) < 0)
		return loci_err_nomem(err);
	return 0;
}

static void put_moves(const struct loci_moved *moved, const char *key,
	const struct loci_moved_row *move, size_t n, struct loci_blame *const side[2],
	struct loci_json *json)
{
	loci_pair_array(json, key);
	for (size_t i = 0; i < n; i++) {
		const char *const when[] = { "distance_before_bytes", "distance_after_bytes" };
		char name[2 * LOCI_NAME_MAX];

		name_of(moved, &move[i], side, "->", name, sizeof(name));
		loci_json_object(json);
		loci_pair_string(json, "name", name);
		loci_diff_change(json, "misses", move[i].misses);
		for (unsigned k = 0; k < 2; k++)
			loci_pair_number(json, when[k],
				move[i].detail[k].far_blocks
					? (double)move[i].detail[k].far_blocks *
						(double)side[k]->levels.block_bytes
					: NAN);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

void loci_diff_moved_json(const struct loci_moved *moved, struct loci_json *json)
{
	put_moves(moved, "lines", moved->line, moved->n_lines, moved->lines, json);
	put_moves(moved, "objects", moved->object, moved->n_objects, moved->objects, json);
	put_moves(moved, "regions", moved->region, moved->n_regions, moved->regions, json);
}
