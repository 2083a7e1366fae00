/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/assigned_scan.h"

#include "base/cleanup.h"

bool loci_scan_is(const struct loci_scan *s, size_t i, const char *text)
{
	return i < s->n && loci_token_is(&s->tokens[i], text);
}

bool loci_scan_is_word(const struct loci_scan *s, size_t i)
{
	return i < s->n && s->tokens[i].kind == LOCI_TOKEN_WORD;
}

bool loci_scan_is_one_of(const struct loci_scan *s, size_t i, const char *const *texts, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (loci_scan_is(s, i, texts[k]))
			return true;
	return false;
}

/* Words that stand before an expression, or before brackets that are no call's. */
bool loci_scan_is_keyword(const struct loci_scan *s, size_t i)
{
	static const char *const keywords[] = { "if", "while", "for", "switch", "return", "sizeof",
		"do", "else", "case", "goto", "throw", "co_return", "co_await", "co_yield",
		"delete" };

	return loci_scan_is_one_of(s, i, keywords, LOCI_ARRAY_SIZE(keywords));
}

bool loci_scan_is_name(const struct loci_scan *s, size_t i)
{
	return loci_scan_is_word(s, i) && !loci_scan_is_keyword(s, i) && !loci_scan_is(s, i, "new");
}

static bool ends_type(const struct loci_scan *s, size_t i)
{
	static const char *const signs[] = { ";", "{", "}", "=", "==", "!=", "!", "&&", "||" };

	return loci_scan_is_one_of(s, i, signs, LOCI_ARRAY_SIZE(signs));
}

/* From the '>' at close back to its '<', as far as only a type's tokens lie between. */
size_t loci_scan_angle_opening(const struct loci_scan *s, size_t close)
{
	int depth = 0;

	for (size_t i = close + 1; i-- > 0;) {
		if (loci_scan_is(s, i, ">"))
			depth++;
		else if (loci_scan_is(s, i, "<") && --depth == 0)
			return i;
		else if (ends_type(s, i))
			break;
	}
	return s->n;
}

size_t loci_scan_angle_closing(const struct loci_scan *s, size_t open)
{
	int depth = 0;

	for (size_t i = open; i < s->n; i++) {
		if (loci_scan_is(s, i, "<"))
			depth++;
		else if (loci_scan_is(s, i, ">") && --depth == 0)
			return i;
		else if (ends_type(s, i))
			break;
	}
	return s->n;
}

/* Where the statement with token i begins. */
size_t loci_scan_start(const struct loci_scan *s, size_t i)
{
	while (i > 0 && !loci_scan_is(s, i - 1, ";") && !loci_scan_is(s, i - 1, "{") &&
		!loci_scan_is(s, i - 1, "}"))
		i--;
	return i;
}

size_t loci_scan_end(const struct loci_scan *s, size_t i)
{
	while (i < s->n && !loci_scan_is(s, i, ";"))
		i++;
	return i;
}
