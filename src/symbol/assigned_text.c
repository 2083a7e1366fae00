/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the call leftwards: out of its brackets, over casts, to the sign of an assignment, whose
 * left side is the target. Where there is none: the object whose constructor or method is called.
 */
#include "symbol/assigned_scan.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

bool loci_assigned_join(
	const struct loci_token *tokens, size_t from, size_t to, char ret[LOCI_ASSIGNED_MAX])
{
	size_t used = 0;

	for (size_t i = from; i < to; i++) {
		bool space = i > from && tokens[i].kind != LOCI_TOKEN_SIGN &&
			tokens[i - 1].kind != LOCI_TOKEN_SIGN;

		if (tokens[i].length + space >= LOCI_ASSIGNED_MAX - used) {
			*ret = '\0';
			return false;
		}
		if (space)
			ret[used++] = ' ';
		memcpy(ret + used, tokens[i].text, tokens[i].length);
		used += tokens[i].length;
	}
	ret[used] = '\0';
	return used > 0;
}

/* The expression that ends before end: a, a.b, a->b[i].c, (*p)->next, f(x)->y. Its first token; end
 * itself where there is none. */
static size_t expression_start(const struct loci_scan *s, size_t low, size_t end)
{
	size_t i = end;

	for (;;) {
		size_t part = i;

		while (part > low &&
			(loci_scan_is(s, part - 1, "]") || loci_scan_is(s, part - 1, ")"))) {
			size_t open = loci_tokens_opening(s->tokens, s->n, part - 1);

			if (open >= s->n || open < low)
				return end;
			part = open;
		}
		if (part > low && loci_scan_is_name(s, part - 1))
			part--;
		else if (part == i || !loci_scan_is(s, part, "("))
			return end; /* neither a name nor brackets around something */
		i = part;
		if (i > low &&
			(loci_scan_is(s, i - 1, ".") || loci_scan_is(s, i - 1, "->") ||
				loci_scan_is(s, i - 1, "::")))
			i--;
		else
			return i;
		/* ::x, .member */
		if (i == low ||
			!(loci_scan_is_word(s, i - 1) || loci_scan_is(s, i - 1, ")") ||
				loci_scan_is(s, i - 1, "]")))
			return loci_scan_is(s, i, ".") || loci_scan_is(s, i, "::") ? i : end;
	}
}

/* Whether a type and a name stand here: T x, T *x, ns::T<U> x. */
static bool declares(const struct loci_scan *s, size_t i)
{
	bool apart = false; /* a name would not go on with what was before */

	for (size_t n = 0; i < s->n; i++, n++) {
		if (loci_scan_is_name(s, i)) {
			if (n && apart)
				return true;
			apart = true;
		} else if (loci_scan_is(s, i, "::")) {
			apart = false;
		} else if (loci_scan_is(s, i, "<") && loci_scan_angle_closing(s, i) < s->n) {
			i = loci_scan_angle_closing(s, i);
		} else if (!n || !(loci_scan_is(s, i, "*") || loci_scan_is(s, i, "&"))) {
			return false;
		}
	}
	return false;
}

/* The left side of an assignment: tokens in [low, end) whose last ones are an expression or what a
 * declaration declares. */
static bool read_target(
	const struct loci_scan *s, size_t low, size_t end, struct loci_assigned_text *ret)
{
	size_t start, first;

	/* x = y = call(): y has it first. T x[] = .. */
	start = expression_start(s, low, end);
	if (start == end)
		return false;
	if (loci_scan_is(s, start, "auto"))
		return false;
	first = start;
	while (first > low && loci_scan_is(s, first - 1, "*"))
		first--;
	/* Stars after a type are those of a declaration, also after a comma of one. */
	if (first < start && loci_scan_is(s, first - 1, ",") &&
		declares(s, loci_scan_start(s, start)))
		first = start;
	if (first > low &&
		(loci_scan_is_name(s, first - 1) || loci_scan_is(s, first - 1, ">") ||
			loci_scan_is(s, first - 1, "&")))
		first = start;
	return loci_assigned_join(s->tokens, first, end, ret->target);
}

/* Brackets whose contents are what the whole is: casts, moves, owners, macros. */
static bool passes_through(const struct loci_scan *s, size_t open)
{
	static const char *const words[] = { "move", "forward", "unique_ptr", "shared_ptr",
		"move_if_noexcept", "launder", "assume_aligned" };
	size_t name = open;

	if (name > 0 && loci_scan_is(s, name - 1, ">")) {
		size_t angle = loci_scan_angle_opening(s, name - 1);

		if (angle >= s->n)
			return false;
		name = angle;
	}
	if (!name || !loci_scan_is_word(s, name - 1))
		return false;
	name--;
	if (s->tokens[name].length > 5 &&
		!memcmp(s->tokens[name].text + s->tokens[name].length - 5, "_cast", 5))
		return true;
	for (size_t i = 0; i < s->tokens[name].length; i++)
		if (islower((unsigned char)s->tokens[name].text[i]))
			return loci_scan_is_one_of(s, name, words, LOCI_ARRAY_SIZE(words));
	return true; /* CHECKED(malloc(n)) */
}

/* Whether the bracket at open is one of a call, and not one around an expression. */
static bool calls(const struct loci_scan *s, size_t open)
{
	if (!open)
		return false;
	return (loci_scan_is_word(s, open - 1) && !loci_scan_is_keyword(s, open - 1)) ||
		loci_scan_is(s, open - 1, ">") || loci_scan_is(s, open - 1, "]") ||
		loci_scan_is(s, open - 1, ")");
}

/* x.reset(new T), v.push_back(new T), T x(new T): the object that takes it. open is the bracket
 * after the method's or the variable's name. */
static bool read_receiver(const struct loci_scan *s, size_t open, struct loci_assigned_text *ret)
{
	size_t low = loci_scan_start(s, open);
	size_t method = open - 1;
	size_t start;

	if (open == low || !loci_scan_is_word(s, method) || loci_scan_is_keyword(s, method) ||
		method == low)
		return false;
	if (loci_scan_is(s, method - 1, ".") || loci_scan_is(s, method - 1, "->")) {
		start = expression_start(s, low, method - 1);
		return start < method - 1 &&
			loci_assigned_join(s->tokens, start, method - 1, ret->target);
	}
	/* A declaration: what stands before the name is a type. */
	if (loci_scan_is(s, method - 1, ">") || loci_scan_is(s, method - 1, "*") ||
		loci_scan_is(s, method - 1, "&") ||
		(loci_scan_is_name(s, method - 1) && !loci_scan_is(s, method - 1, "new")))
		return loci_assigned_join(s->tokens, method, method + 1, ret->target);
	return false;
}

/* struct s x = { .buffer = malloc(n) }: x.buffer. open is the curly bracket. */
static bool read_aggregate(
	const struct loci_scan *s, size_t open, const char *member, struct loci_assigned_text *ret)
{
	struct loci_assigned_text outer = { 0 };
	size_t length;

	if (!open || !loci_scan_is(s, open - 1, "=") ||
		!read_target(s, loci_scan_start(s, open), open - 1, &outer))
		return false;
	length = strlen(outer.target);
	if (length + strlen(member) >= LOCI_ASSIGNED_MAX)
		return false;
	memmove(ret->target + length, member, strlen(member) + 1);
	memcpy(ret->target, outer.target, length);
	return true;
}

static bool read_member(const struct loci_scan *s, size_t sign, struct loci_assigned_text *ret)
{
	char member[LOCI_ASSIGNED_MAX];
	size_t i = sign;

	if (!read_target(s, 0, sign, ret))
		return false;
	if (*ret->target != '.')
		return true;
	memcpy(member, ret->target, sizeof(member));
	while (i > 0 && !loci_scan_is(s, i - 1, "{") && !loci_scan_is(s, i - 1, ";")) {
		size_t inner = loci_scan_is(s, i - 1, "}") || loci_scan_is(s, i - 1, ")")
			? loci_tokens_opening(s->tokens, s->n, i - 1)
			: s->n;

		i = inner < s->n ? inner : i - 1;
	}
	if (!i || !read_aggregate(s, i - 1, member, ret))
		memmove(ret->target, member + 1, sizeof(member) - 1);
	return true;
}

/* Leftwards from the call to its assignment. */
static bool find_assignment(const struct loci_scan *s, size_t call, struct loci_assigned_text *ret)
{
	bool argument = false; /* beyond a comma: only an opening bracket may follow */

	for (size_t i = call; i-- > 0;) {
		if (loci_scan_is(s, i, ")") || loci_scan_is(s, i, "]")) {
			size_t open = loci_tokens_opening(s->tokens, s->n, i);

			if (open >= s->n)
				return false;
			i = open;
		} else if (loci_scan_is(s, i, "(")) {
			if (calls(s, i) && !passes_through(s, i))
				return read_receiver(s, i, ret);
			argument = false;
		} else if (loci_scan_is(s, i, "{")) {
			return read_aggregate(s, i, "", ret) || (i && read_receiver(s, i, ret));
		} else if (loci_scan_is(s, i, "=")) {
			if (!argument)
				return read_member(s, i, ret);
		} else if (loci_scan_is(s, i, ",")) {
			argument = true;
		} else if (loci_scan_is(s, i, ";") || loci_scan_is(s, i, "}") ||
			loci_scan_is(s, i, "&&") || loci_scan_is(s, i, "||") ||
			loci_scan_is(s, i, "return")) {
			return false;
		}
	}
	return false;
}

/* Without an assignment: std::vector<int> v(n); v.resize(n); */
static bool find_object(const struct loci_scan *s, size_t call, struct loci_assigned_text *ret)
{
	size_t low = loci_scan_start(s, call), high = loci_scan_end(s, call);

	for (size_t i = low; i < high; i++) {
		if (loci_scan_is(s, i, "=") || loci_scan_is(s, i, "return"))
			return false;
		if (loci_scan_is(s, i, "<")) {
			size_t close = loci_scan_angle_closing(s, i);

			if (close < high)
				i = close;
		} else if ((loci_scan_is(s, i, "(") || loci_scan_is(s, i, "{")) && i > low) {
			return read_receiver(s, i, ret);
		} else if (loci_scan_is(s, i, "[")) {
			size_t close = loci_tokens_closing(s->tokens, s->n, i);

			if (close < high)
				i = close;
		}
	}
	return false;
}

/* The token that the call stands at; without a place the first one that looks like a call. */
static size_t call_token(const struct loci_scan *s, size_t call)
{
	if (call != SIZE_MAX) {
		size_t i = 0;

		while (i + 1 < s->n && s->tokens[i + 1].at <= call)
			i++;
		/* g++ says where a call ends. */
		if (loci_scan_is(s, i, ")") && loci_tokens_opening(s->tokens, s->n, i) < s->n)
			i = loci_tokens_opening(s->tokens, s->n, i);
		return i;
	}
	for (size_t i = 0; i < s->n; i++)
		if (loci_scan_is(s, i, "new") ||
			(loci_scan_is_word(s, i) && !loci_scan_is_keyword(s, i) &&
				loci_scan_is(s, i + 1, "(") &&
				!(i && loci_scan_is(s, i - 1, "sizeof"))))
			return i;
	return s->n;
}

bool loci_assigned_read(
	const char *text, size_t length, size_t call, bool fortran, struct loci_assigned_text *ret)
{
	struct loci_token tokens[LOCI_TOKENS_MAX];
	struct loci_scan s = { .tokens = tokens };
	size_t at;

	memset(ret, 0, sizeof(*ret));
	s.n = loci_tokens_split(text, length, fortran, tokens);
	if (fortran)
		return loci_assigned_fortran(tokens, s.n, ret);
	at = call_token(&s, call);
	if (at >= s.n)
		return false;
	loci_scan_type(&s, at, ret);
	if (find_assignment(&s, at, ret))
		return true;
	*ret->target = '\0';
	return find_object(&s, at, ret);
}
