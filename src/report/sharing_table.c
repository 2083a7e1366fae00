// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/sharing_table.h"

#include "base/units.h"
#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ADVISED 2      /* rows that get a sentence */
#define NOTABLE 0.0005 /* of the touches: worth one */
#define CLIP    48     /* bytes of a name in a sentence */

static double share_of(const struct loci_sharing *sharing, double misses)
{
	return sharing->whole->touches ? misses / (double)sharing->whole->touches : 0;
}

/* "x", "x.count", "heap mm.c:31"; "" where nothing is known. */
static const char *name_side(const struct loci_catalogue *c, const struct loci_sharing_side *side,
	char *buf, size_t size)
{
	char object[LOCI_NAME_MAX];

	buf[0] = '\0';
	if (!side->object)
		return buf;
	loci_name_object(c, side->object, object, sizeof(object));
	loci_name_clip(object, CLIP);
	if (side->field && side->field->name)
		snprintf(buf, size, "%.200s.%.100s", object, side->field->name);
	else
		snprintf(buf, size, "%s", object);
	return buf;
}

const char *loci_sharing_data(const struct loci_sharing *sharing,
	const struct loci_sharing_case *row, char *buf, size_t size)
{
	char a[LOCI_NAME_MAX], b[LOCI_NAME_MAX];

	name_side(&sharing->catalogue, &row->misser, a, sizeof(a));
	name_side(&sharing->catalogue, &row->writer, b, sizeof(b));
	if (!a[0] || !b[0] || !strcmp(a, b))
		snprintf(buf, size, "%s", a[0] ? a : b[0] ? b : "memory");
	else
		snprintf(buf, size, "%s and %s", a, b);
	return buf;
}

const char *loci_sharing_advice(const struct loci_sharing *sharing,
	const struct loci_sharing_case *row, char *buf, size_t size)
{
	char data[2 * LOCI_NAME_MAX], block[LOCI_UNITS_MAX];

	loci_sharing_data(sharing, row, data, sizeof(data));
	loci_units_size(block, sharing->block_bytes);
	if (!row->is_false)
		snprintf(buf, size,
			"%s passes from thread to thread: write it less often, or keep one for "
			"each thread and put them together at the end",
			data);
	else if (loci_sharing_is_one(row))
		snprintf(buf, size,
			"%s: give each thread's part a block of its own, padded or aligned to %s "
			"bytes",
			data, block);
	else
		snprintf(buf, size,
			"%s lie in one block: align or pad them to %s bytes, so that they do not",
			data, block);
	return buf;
}

const char *loci_sharing_words(const struct loci_sharing *sharing, char *buf, size_t size)
{
	const struct loci_coherence_row *whole = sharing->whole;
	const struct loci_shared_blocks_row *blocks = sharing->blocks;
	double misses = (double)(whole->true_sharing + whole->false_sharing);
	char number[6][LOCI_UNITS_MAX], share[LOCI_TEXT_NUMBER];
	size_t used;

	used = (size_t)snprintf(buf, size,
		"%s misses (%s of touches) of what another thread wrote: %s of true sharing, %s of "
		"false; %s touches of what another touched last",
		loci_units_count(number[0], misses),
		loci_text_percent(share, share_of(sharing, misses)),
		loci_units_count(number[1], (double)whole->true_sharing),
		loci_units_count(number[2], (double)whole->false_sharing),
		loci_units_count(number[3], (double)whole->remote));
	if (blocks && used < size)
		snprintf(buf + used, size - used,
			"; blocks: %s of one thread, %s only read by several, %s written",
			loci_units_count(number[3], (double)blocks->alone),
			loci_units_count(number[4], (double)blocks->read_only),
			loci_units_count(number[5], (double)blocks->written));
	return buf;
}

static void add_place(
	struct loci_table *out, const struct loci_catalogue *c, const struct loci_site_row *site)
{
	char name[LOCI_NAME_MAX];

	loci_table_add(out, LOCI_STYLE_BOLD, "%s",
		site ? loci_name_place(c, site, name, sizeof(name)) : "?");
}

static void add_row(struct loci_table *out, const struct loci_sharing *sharing,
	const struct loci_sharing_case *row)
{
	char number[LOCI_UNITS_MAX], points[LOCI_TEXT_NUMBER], data[2 * LOCI_NAME_MAX];

	add_place(out, &sharing->catalogue, row->writer.site);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s",
		row->is_mutual                                 ? "and back"
			: row->writer.site == row->misser.site ? "itself"
							       : "");
	add_place(out, &sharing->catalogue, row->misser.site);
	loci_table_add(out, row->is_false ? LOCI_STYLE_BAD : LOCI_STYLE_FAIR, "%s",
		row->is_false ? "false" : "true");
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, (double)row->misses));
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s",
		loci_text_points(points, share_of(sharing, (double)row->misses)));
	loci_table_add(
		out, LOCI_STYLE_PLAIN, "%s", loci_sharing_data(sharing, row, data, sizeof(data)));
}

int loci_sharing_rows(
	const struct loci_sharing *sharing, size_t n_rows, const struct loci_text *text)
{
	static const struct loci_table_column columns[] = {
		{ "written at", LOCI_ALIGN_LEFT },
		{ "", LOCI_ALIGN_LEFT },
		{ "missed at", LOCI_ALIGN_LEFT },
		{ "sharing", LOCI_ALIGN_LEFT },
		{ "misses", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
		{ "data", LOCI_ALIGN_LEFT },
	};
	struct loci_table out;
	int r;

	loci_table_init(&out, columns, sizeof(columns) / sizeof(columns[0]));
	loci_table_yield(&out, 0, LOCI_CUT_FRONT, 10);
	loci_table_yield(&out, 2, LOCI_CUT_FRONT, 10);
	loci_table_yield(&out, 6, LOCI_CUT_MIDDLE, 8);
	for (size_t i = 0; i < n_rows && i < sharing->n_rows; i++)
		add_row(&out, sharing, &sharing->row[i]);
	loci_table_drop_empty(&out);
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	return r;
}

static void print_advice(const struct loci_sharing *sharing, const struct loci_text *text)
{
	char words[1024];
	unsigned told = 0;

	for (size_t i = 0; i < sharing->n_rows && told < ADVISED; i++) {
		if (share_of(sharing, (double)sharing->row[i].misses) < NOTABLE)
			break;
		if (!sharing->row[i].is_false && i)
			continue;
		loci_sharing_advice(sharing, &sharing->row[i], words, sizeof(words));
		loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, words);
		told++;
	}
}

int loci_sharing_table(
	const struct loci_sharing_table *table, const struct loci_text *text, struct loci_err *err)
{
	const struct loci_sharing *sharing = table->sharing;
	const char *command = table->subject->run->command;
	char words[512];

	loci_text_print(text, LOCI_STYLE_PLAIN, "%s  %s\n\n",
		loci_profile_path(table->subject->profile), command ? command : "");
	loci_text_paragraph(
		text, LOCI_STYLE_PLAIN, 2, loci_sharing_words(sharing, words, sizeof(words)));
	if (!sharing->n_rows)
		return 0;
	fputc('\n', text->out);
	if (loci_sharing_rows(sharing, table->max_rows, text) < 0)
		return loci_err_nomem(err);
	fputc('\n', text->out);
	print_advice(sharing, text);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		"A line took a block from other threads by writing; another line, or the same, "
		"missed it there. and back: the other way, too. %: of all touches.");
	return 0;
}

static void put_side(struct loci_json *json, const char *key, const struct loci_catalogue *c,
	const struct loci_sharing_side *side)
{
	const struct loci_source_row *source =
		side->site ? loci_catalogue_find_source(c, side->site->source_id) : NULL;
	const struct loci_function_row *function = side->site
		? loci_catalogue_find_function(c, loci_catalogue_function_of(c, side->site))
		: NULL;

	loci_pair_object(json, key);
	loci_pair_string(json, "file", source ? source->path : NULL);
	loci_pair_u64(json, "line", side->site ? side->site->line : 0);
	loci_pair_string(json, "function", function ? function->name : NULL);
	loci_pair_string(json, "object", side->object ? side->object->name : NULL);
	loci_pair_string(json, "field", side->field ? side->field->name : NULL);
	loci_json_object_end(json);
}

void loci_sharing_rows_json(
	const struct loci_sharing *sharing, size_t n_rows, struct loci_json *json)
{
	char words[1024];

	loci_json_array(json);
	for (size_t i = 0; i < n_rows && i < sharing->n_rows; i++) {
		const struct loci_sharing_case *row = &sharing->row[i];

		loci_json_object(json);
		loci_pair_string(json, "kind", row->is_false ? "false" : "true");
		loci_pair_u64(json, "misses", row->misses);
		loci_pair_number(json, "share", share_of(sharing, (double)row->misses));
		loci_pair_u64(json, "thread_pairs", row->threads);
		loci_pair_bool(json, "mutual", row->is_mutual);
		loci_pair_string(
			json, "data", loci_sharing_data(sharing, row, words, sizeof(words)));
		put_side(json, "written", &sharing->catalogue, &row->writer);
		put_side(json, "missed", &sharing->catalogue, &row->misser);
		loci_pair_string(
			json, "advice", loci_sharing_advice(sharing, row, words, sizeof(words)));
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

void loci_sharing_table_json(const struct loci_sharing_table *table, struct loci_json *json)
{
	const struct loci_sharing *sharing = table->sharing;

	loci_json_object(json);
	loci_pair_string(json, "path", loci_profile_path(table->subject->profile));
	loci_pair_string(json, "command", table->subject->run->command);
	loci_sharing_totals_json(sharing, json);
	loci_pair_u64(json, "cases", sharing->n_rows);
	loci_json_key(json, "rows");
	loci_sharing_rows_json(sharing, table->max_rows, json);
	loci_json_object_end(json);
}

void loci_sharing_totals_json(const struct loci_sharing *sharing, struct loci_json *json)
{
	const struct loci_coherence_row *whole = sharing->whole;
	const struct loci_shared_blocks_row *blocks = sharing->blocks;

	loci_pair_u64(json, "block_bytes", sharing->block_bytes);
	loci_pair_u64(json, "touches", whole->touches);
	loci_pair_u64(json, "true_sharing", whole->true_sharing);
	loci_pair_u64(json, "false_sharing", whole->false_sharing);
	loci_pair_u64(json, "remote", whole->remote);
	loci_json_key(json, "blocks");
	if (!blocks) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_pair_u64(json, "alone", blocks->alone);
	loci_pair_u64(json, "read_only", blocks->read_only);
	loci_pair_u64(json, "written", blocks->written);
	loci_json_object_end(json);
}
