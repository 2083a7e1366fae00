/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text for a person: bars, rules, percentages and paragraphs, with Unicode and colour on a terminal
 * and plain ASCII in a pipe or a file. */
#ifndef LOCI_REPORT_TEXT_H
#define LOCI_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum loci_style {
	LOCI_STYLE_PLAIN,
	LOCI_STYLE_BOLD,
	LOCI_STYLE_DIM,
	LOCI_STYLE_GOOD,
	LOCI_STYLE_FAIR,
	LOCI_STYLE_BAD,
	LOCI_STYLE_NEUTRAL, /* a colour without a judgement */
};

/* What cannot be said in ASCII, and what stands for it there. */
struct loci_glyphs {
	const char *rule;      /* one cell of a horizontal line */
	const char *separator; /* between equals on one line */
	const char *arrow;
	const char *plus_minus;
	const char *axis; /* a bar's upright base */
	const char *ellipsis;
};

struct loci_text {
	FILE *out;
	unsigned columns;
	bool is_terminal, has_unicode, has_colour;
	const struct loci_glyphs *glyph;
};

/* Asks the terminal; no_colour overrules it. Lines stay within 60 to 100 columns. */
void loci_text_begin(struct loci_text *text, FILE *out, bool no_colour);

/* Columns a UTF-8 string takes on a terminal. */
unsigned loci_text_width(const char *string);

void loci_text_print(const struct loci_text *text, enum loci_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Names and commands come from files that others wrote, and of control characters a terminal makes
 * commands: they become question marks, as does what is no UTF-8 and what reverses the direction of
 * writing. Newlines stay. Everything printed here passes through it. Returns string. */
char *loci_text_disarm(char *string);

enum loci_cut {
	LOCI_CUT_NONE,
	LOCI_CUT_FRONT,
	LOCI_CUT_MIDDLE,
	LOCI_CUT_END,
	LOCI_CUT_PLACE, /* "mm.c:14 mul": the function first, then the file's front, never the line
			 */
};
/* string, or where it is wider than cells what is left with an ellipsis in place of its front,
 * middle or end. Returns buf. */
const char *loci_text_shorten(const struct loci_text *text, const char *string, unsigned cells,
	enum loci_cut cut, char *buf, size_t size);
void loci_text_spaces(const struct loci_text *text, unsigned n);
/* A horizontal line of n cells, dim. */
void loci_text_rule(const struct loci_text *text, unsigned n);
/* Words wrapped at the right margin, every line indented. Two spaces in a row and a no-break space
 * stay on one line with what they join. */
void loci_text_paragraph(
	const struct loci_text *text, enum loci_style style, unsigned indent, const char *words);

/* Spaces made such that a paragraph does not break at them. Returns buf. */
const char *loci_text_unbroken(char *buf, size_t size, const char *words);

/* A bar of at most `cells` cells, in eighths where Unicode is there; what is not nothing shows.
 * Returns buf, which wants 3 * cells + 1 bytes; *ret_width, where not NULL, is its width. */
const char *loci_text_bar(const struct loci_text *text, double fraction, unsigned cells, char *buf,
	size_t size, unsigned *ret_width);

#define LOCI_TEXT_NUMBER 24
/* In a sentence: "87 %", "1.2 %", "99.97 %"; "0 %" and "100 %" only where nothing or all is meant.
 */
const char *loci_text_percent(char buf[LOCI_TEXT_NUMBER], double fraction);
/* In a column, without the sign: points aligned, "37.4 ", " 0.02". */
const char *loci_text_points(char buf[LOCI_TEXT_NUMBER], double fraction);
/* A change: "-87.5 %", "+3.2 %", "same", "new" and "gone" where one side is nothing, "x 12" when
 * percentages no longer speak. */
const char *loci_text_change(char buf[LOCI_TEXT_NUMBER], double before, double after);

#endif
