// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/by_index.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define RANGES 12 /* of an axis; of more only the farthest are shown */
#define BAR    12 /* cells */

/* Nothing, then from near to far. */
static const char *const heat[] = { " ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586",
	"\u2587", "\u2588" };
static const char *const plain_heat[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };

static double bytes_of(const struct loci_index_axis *axis, const struct loci_index_range *range)
{
	return loci_index_distance(range) * (double)axis->block_bytes;
}

static double farthest(const struct loci_index_axis *axis)
{
	double most = 0;

	for (size_t i = 0; i < axis->n_pieces; i++)
		most = fmax(most, loci_index_distance(&axis->piece[i]));
	return most;
}

/* How far apart, on a scale of powers of two that ends at the farthest of the axis; 0: untouched.
 */
static unsigned level_of(const struct loci_index_range *range, double most)
{
	double distance = fmax(0, loci_index_distance(range));
	unsigned steps = LOCI_ARRAY_SIZE(heat) - 1;

	if (!range->touches)
		return 0;
	if (!(most > 0))
		return 1;
	return 1 + (unsigned)((steps - 1) * log2(1 + distance) / log2(1 + most) + 0.5);
}

static void print_strip(const struct loci_index_axis *axis, const struct loci_text *text)
{
	const struct loci_index_range *last = &axis->piece[axis->n_pieces - 1];
	double most = farthest(axis);
	char label[48];

	snprintf(label, sizeof(label), "%" PRIu64 "..%" PRIu64, axis->piece[0].low, last->high - 1);
	loci_text_print(text, LOCI_STYLE_PLAIN, "    %-5s  %9s  |", axis->name, label);
	for (size_t i = 0; i < axis->n_pieces; i++)
		loci_text_print(text, LOCI_STYLE_NEUTRAL, "%s",
			(text->has_unicode ? heat : plain_heat)[level_of(&axis->piece[i], most)]);
	loci_text_print(text, LOCI_STYLE_PLAIN, "|\n");
}

static void add_range(struct loci_table *table, const struct loci_by_index *by,
	const struct loci_index_array *array, const struct loci_index_axis *axis,
	const struct loci_index_range *range, const struct loci_text *text)
{
	char count[LOCI_UNITS_MAX], bar[3 * BAR + 1], share[LOCI_TEXT_NUMBER];
	double distance = loci_index_distance(range), most = farthest(axis);

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", axis->name);
	if (range->high - range->low == 1)
		loci_table_add(table, LOCI_STYLE_BOLD, "%" PRIu64, range->low);
	else
		loci_table_add(table, LOCI_STYLE_BOLD, "%" PRIu64 "..%" PRIu64, range->low,
			range->high - 1);
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		range->touches ? loci_units_count(count, (double)range->touches) : "none");
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		by->catalogue->n_level && range->touches
			? loci_units_count(count, (double)range->misses)
			: "");
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		by->catalogue->n_level && range->touches && array->all.misses
			? loci_text_points(share, (double)range->misses / (double)array->all.misses)
			: "");
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		range->cold ? loci_units_count(count, (double)range->cold) : "");
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s",
		distance < 0 ? "" : loci_units_bytes(count, bytes_of(axis, range)));
	loci_table_add(table, LOCI_STYLE_NEUTRAL, "%s",
		loci_text_bar(text, most > 0 && distance > 0 ? distance / most : 0, BAR, bar,
			sizeof(bar), NULL));
}

/* A range is shown unless many others are farther. */
static bool is_shown(const struct loci_index_axis *axis, size_t number)
{
	double own = loci_index_distance(&axis->range[number]);
	size_t before = 0;

	for (size_t i = 0; i < axis->n_ranges; i++) {
		double other = loci_index_distance(&axis->range[i]);

		before += other > own || (other == own && i < number);
	}
	return before < RANGES;
}

static int print_ranges(const struct loci_by_index *by, const struct loci_index_array *array,
	const struct loci_text *text, struct loci_err *err)
{
	static const struct loci_table_column columns[] = {
		{ "by", LOCI_ALIGN_LEFT },
		{ "index", LOCI_ALIGN_RIGHT },
		{ "touches", LOCI_ALIGN_RIGHT },
		{ "misses", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
		{ "cold", LOCI_ALIGN_RIGHT },
		{ "mean distance", LOCI_ALIGN_RIGHT },
		{ "", LOCI_ALIGN_LEFT },
	};
	struct loci_table table;
	int r = 0;

	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	for (unsigned k = 0; k < array->n_axes; k++)
		for (size_t i = 0; i < array->axis[k].n_ranges; i++)
			if (is_shown(&array->axis[k], i))
				add_range(&table, by, array, &array->axis[k],
					&array->axis[k].range[i], text);
	loci_table_drop_empty(&table);
	if (loci_table_print(&table, text, 4) < 0)
		r = loci_err_nomem(err);
	loci_table_fini(&table);
	return r;
}

static void print_head(const struct loci_by_index *by, const struct loci_text *text)
{
	const struct loci_run *run = by->subject->run;
	char line[1024], size[LOCI_UNITS_MAX];

	snprintf(line, sizeof(line),
		"%.300s  %.200s  where in its arrays a program is far apart: mean stack distance "
		"of "
		"the reuses by index, %s-byte blocks, %s",
		loci_profile_path(by->subject->profile), run->command ? run->command : "",
		loci_units_size(size, by->index->array[0].axis[0].block_bytes),
		run->mode ? run->mode : "");
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 0, line);
}

static void print_array(const struct loci_by_index *by, const struct loci_index_array *array,
	const struct loci_text *text)
{
	const struct loci_catalogue *c = by->catalogue;
	char name[LOCI_NAME_MAX], origin[LOCI_NAME_MAX], line[2 * LOCI_NAME_MAX + 128];
	char touches[LOCI_UNITS_MAX], misses[LOCI_UNITS_MAX];

	snprintf(line, sizeof(line), "%s  %s%s(%s)  %s touches%s%s%s%s",
		loci_name_object(c, array->object, name, sizeof(name)),
		array->object->type ? array->object->type : "", array->object->type ? " " : "",
		loci_name_origin(c, array->object, origin, sizeof(origin)),
		loci_units_count(touches, (double)array->all.touches), c->n_level ? ", " : "",
		c->n_level ? loci_units_count(misses, (double)array->all.misses) : "",
		c->n_level ? " misses of " : "", c->n_level ? c->level[0].name : "");
	loci_text_paragraph(text, LOCI_STYLE_BOLD, 2, line);
	for (unsigned k = 0; k < array->n_axes; k++)
		print_strip(&array->axis[k], text);
}

int loci_by_index(
	const struct loci_by_index *by, const struct loci_text *text, struct loci_err *err)
{
	size_t n = by->index->n < by->max_arrays ? by->index->n : by->max_arrays;
	char line[128];
	int r = 0;

	print_head(by, text);
	for (size_t i = 0; r == 0 && i < n; i++) {
		fputc('\n', text->out);
		print_array(by, &by->index->array[i], text);
		r = print_ranges(by, &by->index->array[i], text, err);
	}
	fputc('\n', text->out);
	if (n < by->index->n) {
		snprintf(line, sizeof(line), "%zu more arrays: --all, or --object NAME",
			by->index->n - n);
		loci_text_paragraph(text, LOCI_STYLE_DIM, 2, line);
	}
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		"a range is neighbours whose mean distances are at most twice apart; in the strips "
		"one "
		"step is a step of the distance's logarithm. outer: all indexes but the one in "
		"which "
		"elements lie side by side, which is inner");
	return r;
}

static void put_ranges(struct loci_json *json, const char *key, const struct loci_index_axis *axis,
	const struct loci_index_range *range, size_t n, bool has_misses)
{
	loci_pair_array(json, key);
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "low", range[i].low);
		loci_pair_u64(json, "high", range[i].high);
		loci_pair_u64(json, "touches", range[i].touches);
		loci_pair_u64(json, "cold", range[i].cold);
		loci_pair_u64(json, "reuses", range[i].reuses);
		loci_pair_number(json, "misses", has_misses ? (double)range[i].misses : NAN);
		loci_pair_number(json, "mean_distance_bytes",
			range[i].reuses ? bytes_of(axis, &range[i]) : NAN);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

void loci_by_index_json(const struct loci_by_index *by, struct loci_json *json)
{
	const struct loci_catalogue *c = by->catalogue;

	loci_json_object(json);
	loci_pair_string(json, "path", loci_profile_path(by->subject->profile));
	loci_pair_string(json, "command", by->subject->run->command);
	loci_pair_string(json, "level", c->n_level ? c->level[0].name : NULL);
	loci_pair_array(json, "arrays");
	for (size_t i = 0; i < by->index->n && i < by->max_arrays; i++) {
		const struct loci_index_array *array = &by->index->array[i];
		char name[LOCI_NAME_MAX];

		loci_json_object(json);
		loci_pair_string(
			json, "name", loci_name_object(c, array->object, name, sizeof(name)));
		loci_pair_string(json, "kind", array->object->kind);
		loci_pair_string(json, "type", array->object->type);
		loci_pair_u64(json, "object_id", (uint64_t)array->object->id);
		loci_pair_u64(json, "size_bytes", array->object->size_bytes);
		loci_pair_array(json, "axes");
		for (unsigned k = 0; k < array->n_axes; k++) {
			const struct loci_index_axis *axis = &array->axis[k];

			loci_json_object(json);
			loci_pair_string(json, "axis", axis->name);
			loci_pair_u64(json, "block_bytes", axis->block_bytes);
			put_ranges(
				json, "ranges", axis, axis->range, axis->n_ranges, c->n_level > 0);
			put_ranges(
				json, "pieces", axis, axis->piece, axis->n_pieces, c->n_level > 0);
			loci_json_object_end(json);
		}
		loci_json_array_end(json);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_json_object_end(json);
}
