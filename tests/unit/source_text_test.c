/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a file of several parts in any order, against those that were written; files without a
 * last newline, with carriage returns, empty, missing, and one that is another meanwhile. */
#include "check.h"
#include "symbol/source_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES 2000

static char path[] = "/tmp/loci-source-XXXXXX";

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Of every length from none to some hundreds, so that lines lie across what is read at once. */
static void line_of(unsigned number, char *ret, size_t size)
{
	unsigned length = number * 7919 % 300;

	snprintf(ret, size, "%u %.*s", number, (int)length,
		"................................................................................"
		"................................................................................"
		"................................................................................"
		"................................................................................");
	if (number % 97 == 0)
		*ret = '\0';
}

static void check_parts(const char *newline, bool ends)
{
	struct loci_source_text sources = { 0 };
	FILE *file = fopen(path, "w");
	const char *first = NULL;
	char line[512];

	CHECK(file);
	for (unsigned i = 1; i <= LINES; i++) {
		line_of(i, line, sizeof(line));
		fprintf(file, "%s%s", line, i < LINES || ends ? newline : "");
	}
	CHECK(fclose(file) == 0);
	for (unsigned i = 0; i < 2 * LINES; i++) {
		unsigned number = 1 + i * 769 % LINES;
		const char *got = loci_source_text_line(&sources, path, number);

		line_of(number, line, sizeof(line));
		CHECK_STR(got, line);
		if (number == 1)
			CHECK(!first || first == got); /* it stays where it is */
		first = number == 1 ? got : first;
	}
	CHECK(!loci_source_text_line(&sources, path, 0));
	CHECK(!loci_source_text_line(&sources, path, LINES + 1));
	loci_source_text_fini(&sources);
}

static void check_few(void)
{
	struct loci_source_text sources = { 0 };

	write_file("a\n");
	CHECK_STR(loci_source_text_line(&sources, path, 1), "a");
	CHECK(!loci_source_text_line(&sources, path, 2));
	CHECK(!loci_source_text_line(&sources, "/nonexistent/file", 1));
	CHECK(!loci_source_text_line(&sources, "/tmp", 1));
	CHECK(!loci_source_text_line(&sources, NULL, 1));
	loci_source_text_fini(&sources);
	write_file("");
	CHECK(!loci_source_text_line(&sources, path, 1));
	loci_source_text_fini(&sources);
}

/* Lines that were not read before would be of another file. */
static void check_changed(void)
{
	struct loci_source_text sources = { 0 };
	char text[2 * 600 + 1] = "";

	for (unsigned i = 0; i < 600; i++)
		strcat(text, "x\n");
	write_file(text);
	CHECK_STR(loci_source_text_line(&sources, path, 1), "x");
	write_file("another\n");
	CHECK_STR(loci_source_text_line(&sources, path, 2), "x");
	CHECK(!loci_source_text_line(&sources, path, 600));
	loci_source_text_fini(&sources);
}

int main(void)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0 && close(fd) == 0);
	check_parts("\n", true);
	check_parts("\n", false);
	check_parts("\r\n", true);
	check_few();
	check_changed();
	unlink(path);
	return check_status();
}
