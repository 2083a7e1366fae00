// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/doctor_table.h"

#include "base/units.h"
#include "report/pairs.h"

#include <string.h>

#define NAME_CELLS    8
#define VERDICT_CELLS 5
#define INDENT        (2 + NAME_CELLS + VERDICT_CELLS)

/* Words wrapped at the right margin; the first line has begun. */
static void print_words(const struct loci_text *text, const char *words)
{
	unsigned at = INDENT;

	while (*words) {
		size_t n = strcspn(words, " ");

		if (at > INDENT && at + 1 + n > text->columns) {
			loci_text_print(text, LOCI_STYLE_PLAIN, "\n%*s", INDENT, "");
			at = INDENT;
		} else if (at > INDENT) {
			loci_text_print(text, LOCI_STYLE_PLAIN, " ");
			at++;
		}
		loci_text_print(text, LOCI_STYLE_PLAIN, "%.*s", (int)n, words);
		at += (unsigned)n;
		words += n;
		words += strspn(words, " ");
	}
	loci_text_print(text, LOCI_STYLE_PLAIN, "\n");
}

void loci_doctor_text(const struct loci_doctor *doctor, const struct loci_text *text)
{
	char bytes[LOCI_UNITS_MAX];

	for (size_t i = 0; i < doctor->n; i++) {
		const struct loci_doctor_row *row = &doctor->row[i];

		loci_text_print(text, LOCI_STYLE_BOLD, "  %-*s", NAME_CELLS, row->name);
		loci_text_print(text,
			row->works           ? LOCI_STYLE_GOOD
				: row->built ? LOCI_STYLE_BAD
					     : LOCI_STYLE_DIM,
			"%-*s", VERDICT_CELLS, row->works ? "yes" : "no");
		print_words(text, row->words);
	}
	loci_text_print(text, LOCI_STYLE_DIM, "\n  rings in %s, %s free\n", doctor->directory,
		loci_units_bytes(bytes, (double)doctor->free_bytes));
}

void loci_doctor_json(const struct loci_doctor *doctor, struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_format(json, "loci-doctor");
	loci_pair_array(json, "collectors");
	for (size_t i = 0; i < doctor->n; i++) {
		const struct loci_doctor_row *row = &doctor->row[i];

		loci_json_object(json);
		loci_pair_string(json, "name", row->name);
		loci_pair_string(json, "purpose", row->purpose);
		loci_pair_bool(json, "built", row->built);
		loci_pair_bool(json, "works", row->works);
		loci_pair_string(json, "words", row->words);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_pair_string(json, "valgrind", doctor->valgrind);
	loci_pair_object(json, "rings");
	loci_pair_string(json, "directory", doctor->directory);
	loci_pair_u64(json, "free_bytes", doctor->free_bytes);
	loci_json_object_end(json);
	loci_json_object_end(json);
}
