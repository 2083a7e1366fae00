/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/assigned_text.h"

#include <ctype.h>
#include <string.h>

/* [from, to) is one item of an ALLOCATE list: "x(n)", "grid%cells(0:n, m)", "p". Lower case, as
 * debug information has it. */
static bool take_item(const struct loci_token *tokens, size_t n, size_t from, size_t to,
	struct loci_assigned_text *ret)
{
	size_t end = to;

	if (end > from && loci_token_is(&tokens[end - 1], ")")) {
		size_t open = loci_tokens_opening(tokens, n, end - 1);

		if (open < n && open > from)
			end = open;
	}
	if (from >= end || tokens[from].kind != LOCI_TOKEN_WORD ||
		!loci_assigned_join(tokens, from, end, ret->target))
		return false;
	for (char *c = ret->target; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return true;
}

/* The end of the item that begins at from, within the list that ends at close. */
static size_t item_end(const struct loci_token *tokens, size_t n, size_t from, size_t close)
{
	size_t i = from;

	while (i < close && !loci_token_is(&tokens[i], ",")) {
		if (loci_token_is(&tokens[i], "(")) {
			size_t inner = loci_tokens_closing(tokens, n, i);

			i = inner < close ? inner : close - 1;
		}
		i++;
	}
	return i;
}

/* One statement may allocate several, and gfortran says of each only where the statement ends:
 * then all of them are the answer. */
static bool read_list(
	const struct loci_token *tokens, size_t n, size_t open, struct loci_assigned_text *ret)
{
	size_t close = loci_tokens_closing(tokens, n, open), from = open + 1, used = 0, length;
	struct loci_assigned_text item;

	/* The type of the elements may stand in front: allocate(real(8) :: x(n)). */
	for (size_t i = from; i < close && i < n; i++)
		if (loci_token_is(&tokens[i], "::"))
			from = i + 1;
	for (size_t end; close < n && from < close; from = end + 1) {
		end = item_end(tokens, n, from, close);
		if (end == from || (end > from + 1 && loci_token_is(&tokens[from + 1], "=")) ||
			!take_item(tokens, n, from, end, &item))
			continue; /* stat= and its like */
		length = strlen(item.target);
		if (length + 2 >= LOCI_ASSIGNED_MAX - used)
			break;
		if (used) {
			memcpy(ret->target + used, ", ", 2);
			used += 2;
		}
		memcpy(ret->target + used, item.target, length + 1);
		used += length;
	}
	return used > 0;
}

bool loci_assigned_fortran(
	const struct loci_token *tokens, size_t n, struct loci_assigned_text *ret)
{
	for (size_t i = 0; i + 1 < n; i++) {
		if (loci_token_is_nocase(&tokens[i], "allocate") &&
			loci_token_is(&tokens[i + 1], "("))
			return read_list(tokens, n, i + 1, ret);
		/* To assign to a part of an array does not allocate it: it may take a temporary. */
		ret->perhaps = loci_token_is(&tokens[i], "=");
		if (ret->perhaps || loci_token_is(&tokens[i], "=>"))
			return i > 0 && !loci_token_is(&tokens[i - 1], ")") &&
				take_item(tokens, n, 0, i, ret);
		if (loci_token_is(&tokens[i], "(")) {
			size_t close = loci_tokens_closing(tokens, n, i);

			/* if (condition) allocate(..): what is in brackets assigns nothing */
			if (close < n)
				i = close;
		}
	}
	return false;
}
