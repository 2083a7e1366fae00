// SPDX-License-Identifier: GPL-2.0-or-later
/* The part of `loci diff` on what threads take from each other. */
#include "report/diff_screen.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/sharing_table.h"
#include "report/table.h"

#include <math.h>

#define GONE    0.001 /* of what it was: no longer worth a word */
#define NOTABLE 0.01  /* of the coherence misses of the run with more of them: worth a row */

static const char *name_of(const struct loci_sharing_moved *moved,
	const struct loci_sharing_move *move, char *buf, size_t size)
{
	char data[2 * LOCI_NAME_MAX];

	snprintf(buf, size, "%s sharing of %.900s", move->one->is_false ? "false" : "true",
		loci_sharing_data(&moved->sharing[move->side], move->one, data, sizeof(data)));
	return buf;
}

static bool is_gone(struct loci_change misses)
{
	return misses.before > 0 && misses.after <= GONE * misses.before;
}

static bool is_notable(const struct loci_sharing_moved *moved, struct loci_change misses)
{
	double before = moved->true_sharing.before + moved->false_sharing.before;
	double after = moved->true_sharing.after + moved->false_sharing.after;

	return fmax(misses.before, misses.after) >= NOTABLE * fmax(before, after);
}

static void add_row(struct loci_table *table, const char *name, struct loci_change change)
{
	enum loci_trend trend = loci_change_trend(change, 0, 0);
	char number[LOCI_UNITS_MAX], text[LOCI_TEXT_NUMBER];

	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", name);
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, change.before));
	loci_table_add(table, LOCI_STYLE_PLAIN, "%s", loci_units_count(number, change.after));
	loci_table_add(table,
		trend == LOCI_TREND_BETTER          ? LOCI_STYLE_GOOD
			: trend == LOCI_TREND_WORSE ? LOCI_STYLE_BAD
						    : LOCI_STYLE_PLAIN,
		"%s", loci_text_change(text, change.before, change.after));
}

int loci_diff_sharing(
	const struct loci_sharing_moved *moved, const struct loci_text *text, struct loci_err *err)
{
	static const struct loci_table_column columns[] = {
		{ "coherence misses", LOCI_ALIGN_LEFT },
		{ "before", LOCI_ALIGN_RIGHT },
		{ "after", LOCI_ALIGN_RIGHT },
		{ "", LOCI_ALIGN_RIGHT },
	};
	char name[1024], words[1100];
	struct loci_table table;
	int r;

	if (!moved->is_known)
		return 0;
	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	loci_table_yield(&table, 0, LOCI_CUT_END, 16);
	add_row(&table, "true sharing", moved->true_sharing);
	add_row(&table, "false sharing", moved->false_sharing);
	for (size_t i = 0; i < moved->n_rows; i++)
		if (is_notable(moved, moved->row[i].misses))
			add_row(&table, name_of(moved, &moved->row[i], name, sizeof(name)),
				moved->row[i].misses);
	fputc('\n', text->out);
	for (size_t i = 0; i < moved->n_rows; i++)
		if (is_gone(moved->row[i].misses) && is_notable(moved, moved->row[i].misses)) {
			snprintf(words, sizeof(words), "%s is gone",
				name_of(moved, &moved->row[i], name, sizeof(name)));
			loci_text_paragraph(text, LOCI_STYLE_BOLD, 2, words);
		}
	r = loci_table_print(&table, text, 2);
	loci_table_fini(&table);
	return r < 0 ? loci_err_nomem(err) : 0;
}

void loci_diff_sharing_json(const struct loci_sharing_moved *moved, struct loci_json *json)
{
	char name[1024];

	loci_json_key(json, "sharing");
	if (!moved->is_known) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_diff_change(json, "true_sharing", moved->true_sharing);
	loci_diff_change(json, "false_sharing", moved->false_sharing);
	loci_diff_change(json, "remote", moved->remote);
	loci_pair_array(json, "moves");
	for (size_t i = 0; i < moved->n_rows; i++) {
		const struct loci_sharing_move *move = &moved->row[i];

		loci_json_object(json);
		loci_pair_string(json, "name", name_of(moved, move, name, sizeof(name)));
		loci_pair_string(json, "kind", move->one->is_false ? "false" : "true");
		loci_diff_change(json, "misses", move->misses);
		loci_pair_bool(json, "gone", is_gone(move->misses));
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_json_object_end(json);
}
