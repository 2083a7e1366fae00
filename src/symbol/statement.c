/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/statement.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define LINES_MAX 12

/* The last character of a line that says something; comments to its end do not. */
static char last_sign(const char *line, bool fortran)
{
	const char *comment = strstr(line, "//");
	size_t end;

	if (fortran)
		comment = strchr(line, '!');
	end = comment ? (size_t)(comment - line) : strlen(line);
	while (end && isspace((unsigned char)line[end - 1]))
		end--;
	if (!fortran && end >= 2 && line[end - 1] == '/' && line[end - 2] == '*') {
		while (end >= 2 && !(line[end - 2] == '/' && line[end - 1] == '*'))
			end--;
		end = end >= 2 ? end - 2 : 0;
		while (end && isspace((unsigned char)line[end - 1]))
			end--;
	}
	return end ? line[end - 1] : '\0';
}

static bool continues(const char *line, bool fortran)
{
	char last = last_sign(line, fortran);

	if (fortran)
		return last == '&';
	while (isspace((unsigned char)*line))
		line++;
	return last && !strchr(";{}:", last) && *line != '#';
}

static bool append(struct loci_statement *to, const char *line)
{
	size_t length = strlen(line);

	if (length + 1 >= LOCI_STATEMENT_MAX - to->length)
		return false;
	memcpy(to->text + to->length, line, length);
	to->text[to->length + length] = '\n';
	to->length += length + 1;
	to->text[to->length] = '\0';
	return true;
}

bool loci_statement_read(struct loci_source_text *sources, const char *file, unsigned line,
	unsigned column, bool fortran, struct loci_statement *ret)
{
	const char *text = loci_source_text_line(sources, file, line);
	const char *other;
	unsigned first = line;

	ret->length = 0;
	ret->place = SIZE_MAX;
	if (!text)
		return false;
	while (first > 1 && line - first < LINES_MAX &&
		(other = loci_source_text_line(sources, file, first - 1)) &&
		continues(other, fortran))
		first--;
	for (unsigned i = first; i < line; i++)
		if (!append(ret, loci_source_text_line(sources, file, i)))
			ret->length = 0; /* lines that long are data: do without them */
	if (column && column <= strlen(text))
		ret->place = ret->length + column - 1;
	else
		ret->place = ret->length && !column ? ret->length : SIZE_MAX;
	if (!append(ret, text))
		return false;
	for (unsigned i = 0; i < LINES_MAX && continues(text, fortran); i++) {
		text = loci_source_text_line(sources, file, line + 1 + i);
		if (!text || !append(ret, text))
			break;
	}
	return true;
}
