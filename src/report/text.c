// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text.h"

#include "base/cleanup.h"
#include "base/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define COLUMNS_MIN 60
#define COLUMNS_MAX 100 /* longer lines and bars do not read better */

static const struct loci_glyphs unicode = { "─", " · ", "→", "±", "│", "…" };
static const struct loci_glyphs ascii = { "-", " | ", "->", "+/-", "|", ".." };

static const char *const escape[] = {
	[LOCI_STYLE_PLAIN] = "",
	[LOCI_STYLE_BOLD] = "\033[1m",
	[LOCI_STYLE_DIM] = "\033[2m",
	[LOCI_STYLE_GOOD] = "\033[32m",
	[LOCI_STYLE_FAIR] = "\033[33m",
	[LOCI_STYLE_BAD] = "\033[31m",
	[LOCI_STYLE_NEUTRAL] = "\033[36m",
};

void loci_text_begin(struct loci_text *text, FILE *out, bool no_colour)
{
	struct loci_terminal terminal;

	loci_terminal_query(out, &terminal);
	*text = (struct loci_text){
		.out = out,
		.columns = terminal.columns < COLUMNS_MIN ? COLUMNS_MIN
			: terminal.columns > COLUMNS_MAX  ? COLUMNS_MAX
							  : terminal.columns,
		.is_terminal = terminal.is_terminal,
		.has_unicode = terminal.has_unicode,
		.has_colour = terminal.has_colour && !no_colour,
		.glyph = terminal.has_unicode ? &unicode : &ascii,
	};
}

/* Decodes one character; a byte that belongs to none stands for itself. */
static uint32_t next_character(const char **s)
{
	const unsigned char *u = (const unsigned char *)*s;
	unsigned more = u[0] >= 0xf0 ? 3 : u[0] >= 0xe0 ? 2 : u[0] >= 0xc0 ? 1 : 0;
	uint32_t c = more ? u[0] & (0x3fu >> more) : u[0];

	for (unsigned i = 1; i <= more; i++) {
		if ((u[i] & 0xc0) != 0x80) {
			(*s)++;
			return u[0];
		}
		c = c << 6 | (u[i] & 0x3f);
	}
	*s += more + 1;
	return c;
}

/* Blocks of characters that take no cell or two; a file's name may hold them. The letters of a
 * terminal's own table differ here and there: being one off bends a line, nothing worse. */
static const struct {
	uint32_t from, to;
	unsigned width;
} odd_widths[] = {
	{ 0x0300, 0x036f, 0 },
	{ 0x1100, 0x115f, 2 },
	{ 0x200b, 0x200f, 0 },
	{ 0x20d0, 0x20ff, 0 },
	{ 0x2e80, 0xa4cf, 2 },
	{ 0xac00, 0xd7a3, 2 },
	{ 0xf900, 0xfaff, 2 },
	{ 0xfe00, 0xfe0f, 0 },
	{ 0xfe30, 0xfe6f, 2 },
	{ 0xff00, 0xff60, 2 },
	{ 0xffe0, 0xffe6, 2 },
	{ 0x1f300, 0x1faff, 2 },
	{ 0x20000, 0x3fffd, 2 },
};

static unsigned character_width(uint32_t c)
{
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(odd_widths); i++)
		if (c >= odd_widths[i].from && c <= odd_widths[i].to)
			return odd_widths[i].width;
	return 1;
}

unsigned loci_text_width(const char *string)
{
	unsigned width = 0;

	while (*string)
		width += character_width(next_character(&string));
	return width;
}

/* Bytes of the character at u, or 0 if it is no proper UTF-8. */
static unsigned character_bytes(const unsigned char *u)
{
	unsigned n = u[0] < 0x80              ? 1
		: u[0] >= 0xc2 && u[0] < 0xe0 ? 2
		: u[0] >= 0xe0 && u[0] < 0xf0 ? 3
		: u[0] >= 0xf0 && u[0] < 0xf5 ? 4
					      : 0;

	for (unsigned i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	/* overlong, surrogates, beyond the last */
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] >= 0xa0) ||
		(u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] >= 0x90))
		return 0;
	return n;
}

/* Control characters, and those that reverse the direction of what follows. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
		(c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Copies one character, or a question mark for what is none or may not be. */
static void pass_character(const char **from, char **to)
{
	unsigned n = character_bytes((const unsigned char *)*from);
	const char *end = *from;

	if (n && !is_control(next_character(&end))) {
		memmove(*to, *from, n);
		*to += n;
		*from += n;
	} else {
		*(*to)++ = '?';
		*from += n ? n : 1;
	}
}

char *loci_text_disarm(char *string)
{
	const char *from = string;
	char *to = string;

	while (*from) {
		if (*from == '\n')
			*to++ = *from++;
		else
			pass_character(&from, &to);
	}
	*to = '\0';
	return string;
}

/* The longest beginning of at most so many cells. */
static const char *after_cells(const char *string, unsigned cells)
{
	while (*string) {
		const char *next = string;
		unsigned width = character_width(next_character(&next));

		if (width > cells)
			break;
		cells -= width;
		string = next;
	}
	return string;
}

/* The longest end of at most so many cells. */
static const char *last_cells(const char *string, unsigned cells)
{
	unsigned width = loci_text_width(string);

	while (width > cells)
		width -= character_width(next_character(&string));
	return string;
}

const char *loci_text_shorten(const struct loci_text *text, const char *string, unsigned cells,
	enum loci_cut cut, char *buf, size_t size)
{
	unsigned dots = loci_text_width(text->glyph->ellipsis), keep, head;

	if (cut == LOCI_CUT_NONE || loci_text_width(string) <= cells) {
		snprintf(buf, size, "%s", string);
		return buf;
	}
	if (cut == LOCI_CUT_PLACE) {
		size_t length = strcspn(string, " ");
		char first[256];

		snprintf(first, sizeof(first), "%.*s", (int)length, string);
		if (loci_text_width(first) + 1 + dots < cells)
			return loci_text_shorten(text, string, cells, LOCI_CUT_END, buf, size);
		return loci_text_shorten(text, first, cells, LOCI_CUT_FRONT, buf, size);
	}
	keep = cells > dots ? cells - dots : 0;
	head = cut == LOCI_CUT_FRONT ? 0 : cut == LOCI_CUT_END ? keep : (keep + 1) / 2;
	snprintf(buf, size, "%.*s%s%s", (int)(after_cells(string, head) - string), string,
		cells >= dots ? text->glyph->ellipsis : "", last_cells(string, keep - head));
	return buf;
}

void loci_text_print(const struct loci_text *text, enum loci_style style, const char *fmt, ...)
{
	bool coloured = text->has_colour && style != LOCI_STYLE_PLAIN;
	loci_autofree char *string = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&string, fmt, args);
	va_end(args);
	if (n < 0) {
		string = NULL; /* out of memory: this piece is missing */
		return;
	}
	if (coloured)
		fputs(escape[style], text->out);
	fputs(loci_text_disarm(string), text->out);
	if (coloured)
		fputs("\033[0m", text->out);
}

void loci_text_spaces(const struct loci_text *text, unsigned n)
{
	fprintf(text->out, "%*s", (int)n, "");
}

void loci_text_rule(const struct loci_text *text, unsigned n)
{
	if (text->has_colour)
		fputs(escape[LOCI_STYLE_DIM], text->out);
	for (unsigned i = 0; i < n; i++)
		fputs(text->glyph->rule, text->out);
	if (text->has_colour)
		fputs("\033[0m", text->out);
}

#define NO_BREAK_SPACE "\xc2\xa0"

/* Prints a word, its no-break spaces as spaces. */
static void print_word(const struct loci_text *text, const char *word, size_t length)
{
	for (const char *end = word + length; word < end;) {
		char passed[8], *to = passed;

		if (word + 1 < end && !memcmp(word, NO_BREAK_SPACE, 2)) {
			fputc(' ', text->out);
			word += 2;
		} else {
			pass_character(&word, &to);
			fwrite(passed, 1, (size_t)(to - passed), text->out);
		}
	}
}

void loci_text_paragraph(
	const struct loci_text *text, enum loci_style style, unsigned indent, const char *words)
{
	bool coloured = text->has_colour && style != LOCI_STYLE_PLAIN;
	unsigned column = 0;

	if (coloured)
		fputs(escape[style], text->out);
	while (*words) {
		size_t gap = strspn(words, " "), length = strcspn(words + gap, " ");
		char word[512];
		unsigned width;

		if (!length)
			break;
		if (!strncmp(words + gap + length, " %", 2)) /* stays with its number */
			length += 1 + strcspn(words + gap + length + 1, " ");
		snprintf(word, sizeof(word), "%.*s", (int)length, words + gap);
		width = loci_text_width(word);
		if (column && column + gap + width > text->columns) {
			fputc('\n', text->out);
			column = 0;
		}
		if (!column)
			gap = indent;
		loci_text_spaces(text, (unsigned)gap);
		print_word(text, words + strspn(words, " "), length);
		words += strspn(words, " ") + length;
		column += (unsigned)gap + width;
	}
	if (coloured)
		fputs("\033[0m", text->out);
	fputc('\n', text->out);
}

const char *loci_text_unbroken(char *buf, size_t size, const char *words)
{
	size_t used = 0;

	for (; *words && used + 3 < size; words++) {
		if (*words == ' ') {
			memcpy(buf + used, NO_BREAK_SPACE, 2);
			used += 2;
		} else {
			buf[used++] = *words;
		}
	}
	buf[used] = '\0';
	return buf;
}

const char *loci_text_bar(const struct loci_text *text, double fraction, unsigned cells, char *buf,
	size_t size, unsigned *ret_width)
{
	static const char *const eighth[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned parts = text->has_unicode ? 8 : 1, n, used = 0;

	fraction = fraction < 0 || !(fraction == fraction) ? 0 : fraction > 1 ? 1 : fraction;
	n = (unsigned)lround(fraction * cells * parts);
	buf[0] = '\0';
	for (unsigned i = 0; i < n / parts && used + 4 < size; i++)
		used += (unsigned)snprintf(buf + used, size - used, "%s", parts == 8 ? "█" : "#");
	if (n % parts)
		snprintf(buf + used, size - used, "%s", eighth[n % parts]);
	if (!n && fraction > 0)
		snprintf(buf, size, "%s", parts == 8 ? "▏" : ".");
	if (ret_width)
		*ret_width = loci_text_width(buf);
	return buf;
}

const char *loci_text_percent(char buf[LOCI_TEXT_NUMBER], double fraction)
{
	double percent = 100 * fraction, to_go = 100 - percent;
	double near = percent < to_go ? percent : to_go; /* to whichever end */
	int decimals = near < 0.095 ? 2 : near < 9.95 ? 1 : 0;

	if (percent > 0 && percent < 0.005)
		return strcpy(buf, "less than 0.01 %");
	if (to_go > 0 && to_go < 0.005)
		return strcpy(buf, "more than 99.99 %");
	snprintf(buf, LOCI_TEXT_NUMBER, "%.*f", decimals, percent);
	if (decimals == 1 && strlen(buf) > 2 && !strcmp(buf + strlen(buf) - 2, ".0"))
		buf[strlen(buf) - 2] = '\0'; /* 5 %, not 5.0 % */
	if (percent <= 0 || to_go <= 0)
		snprintf(buf, LOCI_TEXT_NUMBER, "%d", percent <= 0 ? 0 : 100);
	strcat(buf, " %");
	return buf;
}

const char *loci_text_points(char buf[LOCI_TEXT_NUMBER], double fraction)
{
	double percent = 100 * fraction;
	bool small = fabs(percent) < 0.095 && percent != 0;

	snprintf(buf, LOCI_TEXT_NUMBER, "%.*f%s", small ? 2 : 1, percent, small ? "" : " ");
	return buf;
}

const char *loci_text_change(char buf[LOCI_TEXT_NUMBER], double before, double after)
{
	double percent;

	if (before == after)
		return strcpy(buf, "same");
	if (before == 0)
		return strcpy(buf, "new");
	if (after == 0)
		return strcpy(buf, "gone");
	if (isinf(before) || isinf(after))
		return strcpy(buf, "");
	percent = 100 * (after / before - 1);
	if (percent >= 999.5)
		snprintf(buf, LOCI_TEXT_NUMBER, "x %.3g", after / before);
	else if (fabs(percent) < 0.05)
		snprintf(buf, LOCI_TEXT_NUMBER, "%c0.0 %%", percent < 0 ? '-' : '+');
	else
		snprintf(buf, LOCI_TEXT_NUMBER, "%+.1f %%", percent);
	return buf;
}
