// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"

#include "report/table.h"
#include "report/text.h"

#include <stdlib.h>

static const struct loci_glyphs glyphs = { "-", " | ", "->", "+/-", "|", ".." };

/* What is printed between open_text and CHECK_TEXT. */
static char *printed;
static size_t printed_size;

static struct loci_text open_text(unsigned columns, bool has_unicode, bool has_colour)
{
	return (struct loci_text){ .out = open_memstream(&printed, &printed_size),
		.columns = columns,
		.has_unicode = has_unicode,
		.has_colour = has_colour,
		.glyph = &glyphs };
}

#define CHECK_TEXT(text, want)            \
	do {                              \
		fclose((text).out);       \
		CHECK_STR(printed, want); \
		free(printed);            \
		printed = NULL;           \
	} while (0)

static void check_width(void)
{
	CHECK_U64(loci_text_width(""), 0);
	CHECK_U64(loci_text_width("mm.loci"), 7);
	CHECK_U64(loci_text_width("é"), 1);
	CHECK_U64(loci_text_width("e\xcc\x81"), 1); /* e and a combining accent */
	CHECK_U64(loci_text_width("█▍"), 2);
	CHECK_U64(loci_text_width("行列.loci"), 9);
	CHECK_U64(loci_text_width("🙂"), 2);
	CHECK_U64(loci_text_width("\xff\xfe"), 2);  /* bytes that are no characters */
	CHECK_U64(loci_text_width("a\xe2\x94"), 3); /* a character cut short */
}

static void bar_is(bool has_unicode, double fraction, const char *want)
{
	struct loci_text text = { .has_unicode = has_unicode };
	char buf[64];
	unsigned width = 99;

	CHECK_STR(loci_text_bar(&text, fraction, 4, buf, sizeof(buf), &width), want);
	CHECK_U64(width, loci_text_width(want));
}

static void check_bar(void)
{
	bar_is(true, 0, "");
	bar_is(true, 1, "████");
	bar_is(true, 0.5, "██");
	bar_is(true, 0.5 + 1. / 32, "██▏");
	bar_is(true, 1 - 1. / 32, "███▉");
	bar_is(true, 1e-9, "▏");
	bar_is(true, 7, "████");
	bar_is(true, NAN, "");
	bar_is(false, 0, "");
	bar_is(false, 0.5, "##");
	bar_is(false, 1e-9, ".");
	bar_is(false, 1, "####");
}

static void percent_is(double percent, const char *want)
{
	char buf[LOCI_TEXT_NUMBER];

	CHECK_STR(loci_text_percent(buf, percent / 100), want);
}

static void check_numbers(void)
{
	char buf[LOCI_TEXT_NUMBER];

	percent_is(0, "0 %");
	percent_is(100, "100 %");
	percent_is(87.4, "87 %");
	percent_is(50, "50 %");
	percent_is(5, "5 %");
	percent_is(1.23, "1.2 %");
	percent_is(0.02, "0.02 %");
	percent_is(0.004, "less than 0.01 %");
	percent_is(99.5, "99.5 %");
	percent_is(99.97, "99.97 %");
	percent_is(99.999, "more than 99.99 %");
	percent_is(9.4, "9.4 %");
	percent_is(9.96, "10 %");
	CHECK_STR(loci_text_points(buf, 0.374), "37.4 ");
	CHECK_STR(loci_text_points(buf, 0.0002), "0.02");
	CHECK_STR(loci_text_points(buf, 0), "0.0 ");
	CHECK_STR(loci_text_points(buf, -0.021), "-2.1 ");
	CHECK_STR(loci_text_change(buf, 514, 64.25), "-87.5 %");
	CHECK_STR(loci_text_change(buf, 100, 103.2), "+3.2 %");
	CHECK_STR(loci_text_change(buf, 5, 5), "same");
	CHECK_STR(loci_text_change(buf, 0, 5), "new");
	CHECK_STR(loci_text_change(buf, 5, 0), "gone");
	CHECK_STR(loci_text_change(buf, 1, 12), "x 12");
	CHECK_STR(loci_text_change(buf, 1e9, 1e9 + 1), "+0.0 %");
}

static void check_paragraph(void)
{
	struct loci_text text = open_text(20, false, false);

	loci_text_paragraph(
		&text, LOCI_STYLE_BOLD, 2, "Half of all references fit in é 4\u00a0KiB.");
	CHECK_TEXT(text,
		"  Half of all\n"
		"  references fit in\n"
		"  é 4 KiB.\n");
	text = open_text(20, false, true);
	loci_text_paragraph(&text, LOCI_STYLE_BOLD, 0, "one  two");
	CHECK_TEXT(text, "\033[1mone  two\033[0m\n");
	text = open_text(40, false, false);
	loci_text_paragraph(&text, LOCI_STYLE_PLAIN, 0, "evil\033]0;\a \xc2\x9b é");
	loci_text_print(&text, LOCI_STYLE_PLAIN, "%s\n", "\033[2J");
	CHECK_TEXT(text, "evil?]0;? ? é\n?[2J\n");
	text = open_text(40, false, false);
	/* a lone byte that is CSI in Latin-1, an overlong slash, half a character, a direction
	 * override, a surrogate */
	loci_text_paragraph(&text, LOCI_STYLE_PLAIN, 0,
		"a\x9bz \xc0\xaf \xe2\x82 x\u202ey \xed\xa0\x80 na\nme");
	CHECK_TEXT(text, "a?z ?? ?? x?y ??? na?me\n");
	text = open_text(20, false, false);
	loci_text_paragraph(&text, LOCI_STYLE_PLAIN, 1, "");
	CHECK_TEXT(text, "\n");
}

static void check_shorten(void)
{
	struct loci_text text = open_text(80, false, false);
	char buf[64];

#define SHORTEN(string, cells, cut) \
	loci_text_shorten(&text, string, cells, LOCI_CUT_##cut, buf, sizeof(buf))
	CHECK_STR(SHORTEN("function", 8, MIDDLE), "function");
	CHECK_STR(SHORTEN("function", 7, MIDDLE), "fun..on");
	CHECK_STR(SHORTEN("function", 6, MIDDLE), "fu..on");
	CHECK_STR(SHORTEN("function", 5, FRONT), "..ion");
	CHECK_STR(SHORTEN("function", 5, END), "fun..");
	CHECK_STR(SHORTEN("function", 2, MIDDLE), "..");
	CHECK_STR(SHORTEN("function", 1, MIDDLE), "");
	CHECK_STR(SHORTEN("function", 3, NONE), "function");
	CHECK_STR(SHORTEN("行列行列", 7, END), "行列.."); /* half a character does not fit */
	CHECK_STR(SHORTEN("行列行列", 5, FRONT), "..列");
	CHECK_STR(SHORTEN("mm.c:14 multiply", 16, PLACE), "mm.c:14 multiply");
	CHECK_STR(SHORTEN("mm.c:14 multiply", 12, PLACE), "mm.c:14 mu..");
	CHECK_STR(SHORTEN("mm.c:14 multiply", 9, PLACE), "mm.c:14");
	CHECK_STR(SHORTEN("mm.c:14 multiply", 6, PLACE), "..c:14");
#undef SHORTEN
	fclose(text.out);
	free(printed);
	printed = NULL;
}

static void check_yield(void)
{
	static const struct loci_table_column columns[] = {
		{ "name", LOCI_ALIGN_LEFT },
		{ "n", LOCI_ALIGN_RIGHT },
		{ "none", LOCI_ALIGN_LEFT },
		{ "note", LOCI_ALIGN_LEFT },
	};
	struct loci_text text = open_text(22, false, false);
	struct loci_table table;

	loci_table_init(&table, columns, 4);
	loci_table_yield(&table, 0, LOCI_CUT_MIDDLE, 6);
	loci_table_yield(&table, 3, LOCI_CUT_END, 4);
	loci_table_add(&table, LOCI_STYLE_PLAIN, "a_long_function");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "12 ");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", "");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "remarkable");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "a\nb");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "1.5");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", "");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", "");
	loci_table_drop_empty(&table);
	CHECK_U64((uint64_t)-loci_table_print(&table, &text, 0), 0);
	loci_table_fini(&table);
	CHECK_TEXT(text,
		"name       n  note\n"
		"a_l..on  12   remark..\n"
		"a?b      1.5\n");
}

static void check_table(void)
{
	static const struct loci_table_column columns[] = {
		{ "level", LOCI_ALIGN_LEFT },
		{ "misses", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
	};
	struct loci_text text = open_text(80, false, false);
	struct loci_table table;

	loci_table_init(&table, columns, 3);
	loci_table_add(&table, LOCI_STYLE_PLAIN, "L1 %s", "größer");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "%d M", 514);
	loci_table_add(&table, LOCI_STYLE_BAD, "49.9 ");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "行");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", "");
	loci_table_add(&table, LOCI_STYLE_PLAIN, "0.02");
	CHECK(loci_table_print(&table, &text, 2) == 0);
	CHECK_TEXT(text,
		"  level      misses      %\n"
		"  L1 größer   514 M  49.9\n"
		"  行                  0.02\n");
	/* colour goes round the text, not round the padding */
	text = open_text(80, false, true);
	CHECK(loci_table_print(&table, &text, 0) == 0);
	fclose(text.out);
	CHECK(strstr(printed, "  \033[31m49.9\033[0m\n") != NULL);
	free(printed);
	loci_table_fini(&table);
}

int main(void)
{
	check_width();
	check_bar();
	check_numbers();
	check_paragraph();
	check_table();
	check_shorten();
	check_yield();
	return check_status();
}
