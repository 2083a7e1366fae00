/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/source_token.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const c_signs[] = { "<<=", ">>=", "...", "->*", "<=>", "->",
	"::", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "&&", "||",
	"<<", "++", "--" };
static const char *const fortran_signs[] = { "::", "==", "/=", "<=", ">=", "=>", "**" };

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t sign_length(const char *text, size_t left, bool fortran)
{
	const char *const *signs = fortran ? fortran_signs : c_signs;
	size_t n = fortran ? LOCI_ARRAY_SIZE(fortran_signs) : LOCI_ARRAY_SIZE(c_signs);

	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(signs[i]);

		if (length <= left && !memcmp(text, signs[i], length))
			return length;
	}
	return 1;
}

/* A number, with its point, exponent and suffix; 1'000 in C++. */
static size_t number_length(const char *text, size_t left)
{
	size_t i = 0;

	while (i < left &&
		(in_word(text[i]) || text[i] == '.' ||
			(text[i] == '\'' && i + 1 < left && in_word(text[i + 1]))))
		i++;
	return i;
}

static size_t quoted_length(const char *text, size_t left, bool fortran)
{
	size_t i = 1;

	while (i < left && text[i] != text[0] && text[i] != '\n')
		i += !fortran && text[i] == '\\' && i + 1 < left ? 2 : 1;
	return i < left ? i + 1 : left;
}

static size_t line_length(const char *text, size_t left)
{
	const char *end = memchr(text, '\n', left);

	return end ? (size_t)(end - text) : left;
}

/* 0: no comment begins here. A line that is for the preprocessor is one too. */
static size_t comment_length(const char *text, size_t left, bool fortran, bool line_start)
{
	const char *end;

	if (fortran)
		return *text == '!' ? line_length(text, left) : 0;
	if ((*text == '#' && line_start) || (left >= 2 && text[0] == '/' && text[1] == '/'))
		return line_length(text, left);
	if (left < 2 || text[0] != '/' || text[1] != '*')
		return 0;
	end = memmem(text + 2, left - 2, "*/", 2);
	return end ? (size_t)(end + 2 - text) : left;
}

size_t loci_tokens_split(
	const char *text, size_t length, bool fortran, struct loci_token tokens[LOCI_TOKENS_MAX])
{
	bool line_start = true;
	size_t n = 0, step;

	for (size_t at = 0; at < length && n < LOCI_TOKENS_MAX; at += step) {
		const char *c = text + at;
		size_t left = length - at;
		enum loci_token_kind kind = LOCI_TOKEN_SIGN;

		step = comment_length(c, left, fortran, line_start);
		if (step)
			continue;
		if (isspace((unsigned char)*c) || *c == '\\' || (fortran && *c == '&') || !*c) {
			line_start = *c == '\n' || (line_start && *c != '\\');
			step = 1;
			continue;
		}
		line_start = false;
		if (*c == '"' || *c == '\'') {
			kind = LOCI_TOKEN_LITERAL;
			step = quoted_length(c, left, fortran);
		} else if (isdigit((unsigned char)*c)) {
			kind = LOCI_TOKEN_LITERAL;
			step = number_length(c, left);
		} else if (in_word(*c)) {
			kind = LOCI_TOKEN_WORD;
			for (step = 1; step < left && in_word(c[step]);)
				step++;
		} else {
			step = sign_length(c, left, fortran);
		}
		tokens[n++] =
			(struct loci_token){ .text = c, .length = step, .at = at, .kind = kind };
	}
	return n;
}

bool loci_token_is(const struct loci_token *token, const char *text)
{
	return token->length == strlen(text) && !memcmp(token->text, text, token->length);
}

bool loci_token_is_nocase(const struct loci_token *token, const char *text)
{
	return token->length == strlen(text) && !strncasecmp(token->text, text, token->length);
}

static bool pair_of(const struct loci_token *token, bool closing, char *ret_open, char *ret_close)
{
	static const char open[] = "([{", close[] = ")]}";
	const char *found = token->kind == LOCI_TOKEN_SIGN && token->length == 1
		? strchr(closing ? close : open, *token->text)
		: NULL;
	size_t which;

	if (!found || !*found)
		return false;
	which = (size_t)(found - (closing ? close : open));
	*ret_open = open[which];
	*ret_close = close[which];
	return true;
}

static int step_of(const struct loci_token *token, char open, char close)
{
	if (token->kind != LOCI_TOKEN_SIGN || token->length != 1)
		return 0;
	return *token->text == open ? 1 : *token->text == close ? -1 : 0;
}

size_t loci_tokens_opening(const struct loci_token *tokens, size_t n, size_t close)
{
	char opens, closes;
	int depth = 0;

	if (close >= n || !pair_of(&tokens[close], true, &opens, &closes))
		return n;
	for (size_t i = close + 1; i-- > 0;) {
		depth += step_of(&tokens[i], opens, closes);
		if (!depth)
			return i;
	}
	return n;
}

size_t loci_tokens_closing(const struct loci_token *tokens, size_t n, size_t open)
{
	char opens, closes;
	int depth = 0;

	if (open >= n || !pair_of(&tokens[open], false, &opens, &closes))
		return n;
	for (size_t i = open; i < n; i++) {
		depth += step_of(&tokens[i], opens, closes);
		if (!depth)
			return i;
	}
	return n;
}
