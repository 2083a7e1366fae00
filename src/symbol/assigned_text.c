/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the call leftwards: out of its brackets, over casts, to the sign of an assignment, whose
 * left side is the target. Where there is none: the object whose constructor or method is called.
 */
#include "symbol/assigned_text.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

struct scan {
	const struct loci_token *tokens;
	size_t n;
};

static bool is(const struct scan *s, size_t i, const char *text)
{
	return i < s->n && loci_token_is(&s->tokens[i], text);
}

static bool is_word(const struct scan *s, size_t i)
{
	return i < s->n && s->tokens[i].kind == LOCI_TOKEN_WORD;
}

static bool is_one_of(const struct scan *s, size_t i, const char *const *texts, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (is(s, i, texts[k]))
			return true;
	return false;
}

bool loci_assigned_join(
	const struct loci_token *tokens, size_t from, size_t to, char ret[LOCI_ASSIGNED_MAX])
{
	size_t used = 0;

	for (size_t i = from; i < to; i++) {
		bool space = i > from && tokens[i].kind == LOCI_TOKEN_WORD &&
			tokens[i - 1].kind == LOCI_TOKEN_WORD;

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

/* Words that stand before an expression, or before brackets that are no call's. */
static bool is_keyword(const struct scan *s, size_t i)
{
	static const char *const keywords[] = { "if", "while", "for", "switch", "return", "sizeof",
		"do", "else", "case", "goto", "throw", "co_return", "co_await", "co_yield",
		"delete" };

	return is_one_of(s, i, keywords, LOCI_ARRAY_SIZE(keywords));
}

static bool is_type_word(const struct scan *s, size_t i)
{
	return is_word(s, i) && !is_keyword(s, i) && !is(s, i, "new");
}

/* From the '>' at close back to its '<', as far as only a type's tokens lie between. */
static size_t angle_opening(const struct scan *s, size_t close)
{
	int depth = 0;

	for (size_t i = close + 1; i-- > 0;) {
		if (is(s, i, ">"))
			depth++;
		else if (is(s, i, "<") && --depth == 0)
			return i;
		else if (is(s, i, ";") || is(s, i, "{") || is(s, i, "}") || is(s, i, "="))
			break;
	}
	return s->n;
}

static size_t angle_closing(const struct scan *s, size_t open)
{
	int depth = 0;

	for (size_t i = open; i < s->n; i++) {
		if (is(s, i, "<"))
			depth++;
		else if (is(s, i, ">") && --depth == 0)
			return i;
		else if (is(s, i, ";") || is(s, i, "{") || is(s, i, "}"))
			break;
	}
	return s->n;
}

/* The expression that ends before end: a, a.b, a->b[i].c, (*p)->next, f(x)->y. Its first token; end
 * itself where there is none. */
static size_t expression_start(const struct scan *s, size_t low, size_t end)
{
	size_t i = end;

	for (;;) {
		size_t part = i;

		while (part > low && (is(s, part - 1, "]") || is(s, part - 1, ")"))) {
			size_t open = loci_tokens_opening(s->tokens, s->n, part - 1);

			if (open >= s->n || open < low)
				return end;
			part = open;
		}
		if (part > low && is_type_word(s, part - 1))
			part--;
		else if (part == i || !is(s, part, "("))
			return end; /* neither a name nor brackets around something */
		i = part;
		if (i > low && (is(s, i - 1, ".") || is(s, i - 1, "->") || is(s, i - 1, "::")))
			i--;
		else
			return i;
		/* ::x, .member */
		if (i == low || !(is_word(s, i - 1) || is(s, i - 1, ")") || is(s, i - 1, "]")))
			return is(s, i, ".") || is(s, i, "::") ? i : end;
	}
}

/* Where the statement with token i begins. */
static size_t statement_start(const struct scan *s, size_t i)
{
	while (i > 0 && !is(s, i - 1, ";") && !is(s, i - 1, "{") && !is(s, i - 1, "}"))
		i--;
	return i;
}

/* Whether a type and a name stand here: T x, T *x, ns::T<U> x. */
static bool declares(const struct scan *s, size_t i)
{
	bool apart = false; /* a name would not go on with what was before */

	for (size_t n = 0; i < s->n; i++, n++) {
		if (is_type_word(s, i)) {
			if (n && apart)
				return true;
			apart = true;
		} else if (is(s, i, "::")) {
			apart = false;
		} else if (is(s, i, "<") && angle_closing(s, i) < s->n) {
			i = angle_closing(s, i);
		} else if (!n || !(is(s, i, "*") || is(s, i, "&"))) {
			return false;
		}
	}
	return false;
}

/* The left side of an assignment: tokens in [low, end) whose last ones are an expression or what a
 * declaration declares. */
static bool read_target(
	const struct scan *s, size_t low, size_t end, struct loci_assigned_text *ret)
{
	size_t start, first;

	/* x = y = call(): y has it first. T x[] = .. */
	start = expression_start(s, low, end);
	if (start == end)
		return false;
	if (is(s, start, "auto"))
		return false;
	first = start;
	while (first > low && is(s, first - 1, "*"))
		first--;
	/* Stars after a type are those of a declaration, also after a comma of one. */
	if (first < start && is(s, first - 1, ",") && declares(s, statement_start(s, start)))
		first = start;
	if (first > low &&
		(is_type_word(s, first - 1) || is(s, first - 1, ">") || is(s, first - 1, "&")))
		first = start;
	return loci_assigned_join(s->tokens, first, end, ret->target);
}

static size_t statement_end(const struct scan *s, size_t i)
{
	while (i < s->n && !is(s, i, ";"))
		i++;
	return i;
}

/* Brackets whose contents are what the whole is: casts, moves, owners, macros. */
static bool passes_through(const struct scan *s, size_t open)
{
	static const char *const words[] = { "move", "forward", "unique_ptr", "shared_ptr",
		"move_if_noexcept", "launder", "assume_aligned" };
	size_t name = open;

	if (name > 0 && is(s, name - 1, ">")) {
		size_t angle = angle_opening(s, name - 1);

		if (angle >= s->n)
			return false;
		name = angle;
	}
	if (!name || !is_word(s, name - 1))
		return false;
	name--;
	if (s->tokens[name].length > 5 &&
		!memcmp(s->tokens[name].text + s->tokens[name].length - 5, "_cast", 5))
		return true;
	for (size_t i = 0; i < s->tokens[name].length; i++)
		if (islower((unsigned char)s->tokens[name].text[i]))
			return is_one_of(s, name, words, LOCI_ARRAY_SIZE(words));
	return true; /* CHECKED(malloc(n)) */
}

/* Whether the bracket at open is one of a call, and not one around an expression. */
static bool calls(const struct scan *s, size_t open)
{
	if (!open)
		return false;
	return (is_word(s, open - 1) && !is_keyword(s, open - 1)) || is(s, open - 1, ">") ||
		is(s, open - 1, "]") || is(s, open - 1, ")");
}

/* x.reset(new T), v.push_back(new T), T x(new T): the object that takes it. open is the bracket
 * after the method's or the variable's name. */
static bool read_receiver(const struct scan *s, size_t open, struct loci_assigned_text *ret)
{
	size_t low = statement_start(s, open);
	size_t method = open - 1;
	size_t start;

	if (open == low || !is_word(s, method) || is_keyword(s, method) || method == low)
		return false;
	if (is(s, method - 1, ".") || is(s, method - 1, "->")) {
		start = expression_start(s, low, method - 1);
		return start < method - 1 &&
			loci_assigned_join(s->tokens, start, method - 1, ret->target);
	}
	/* A declaration: what stands before the name is a type. */
	if (is(s, method - 1, ">") || is(s, method - 1, "*") || is(s, method - 1, "&") ||
		(is_type_word(s, method - 1) && !is(s, method - 1, "new")))
		return loci_assigned_join(s->tokens, method, method + 1, ret->target);
	return false;
}

/* struct s x = { .buffer = malloc(n) }: x.buffer. open is the curly bracket. */
static bool read_aggregate(
	const struct scan *s, size_t open, const char *member, struct loci_assigned_text *ret)
{
	struct loci_assigned_text outer = { 0 };
	size_t length;

	if (!open || !is(s, open - 1, "=") ||
		!read_target(s, statement_start(s, open), open - 1, &outer))
		return false;
	length = strlen(outer.target);
	if (length + strlen(member) >= LOCI_ASSIGNED_MAX)
		return false;
	memmove(ret->target + length, member, strlen(member) + 1);
	memcpy(ret->target, outer.target, length);
	return true;
}

static bool read_member(const struct scan *s, size_t sign, struct loci_assigned_text *ret)
{
	char member[LOCI_ASSIGNED_MAX];
	size_t i = sign;

	if (!read_target(s, 0, sign, ret))
		return false;
	if (*ret->target != '.')
		return true;
	memcpy(member, ret->target, sizeof(member));
	while (i > 0 && !is(s, i - 1, "{") && !is(s, i - 1, ";")) {
		size_t inner = is(s, i - 1, "}") || is(s, i - 1, ")")
			? loci_tokens_opening(s->tokens, s->n, i - 1)
			: s->n;

		i = inner < s->n ? inner : i - 1;
	}
	if (!i || !read_aggregate(s, i - 1, member, ret))
		memmove(ret->target, member + 1, sizeof(member) - 1);
	return true;
}

/* Leftwards from the call to its assignment. */
static bool find_assignment(const struct scan *s, size_t call, struct loci_assigned_text *ret)
{
	bool argument = false; /* beyond a comma: only an opening bracket may follow */

	for (size_t i = call; i-- > 0;) {
		if (is(s, i, ")") || is(s, i, "]")) {
			size_t open = loci_tokens_opening(s->tokens, s->n, i);

			if (open >= s->n)
				return false;
			i = open;
		} else if (is(s, i, "(")) {
			if (calls(s, i) && !passes_through(s, i))
				return read_receiver(s, i, ret);
			argument = false;
		} else if (is(s, i, "{")) {
			return read_aggregate(s, i, "", ret) || (i && read_receiver(s, i, ret));
		} else if (is(s, i, "=")) {
			if (!argument)
				return read_member(s, i, ret);
		} else if (is(s, i, ",")) {
			argument = true;
		} else if (is(s, i, ";") || is(s, i, "}") || is(s, i, "&&") || is(s, i, "||") ||
			is(s, i, "return")) {
			return false;
		}
	}
	return false;
}

/* Without an assignment: std::vector<int> v(n); v.resize(n); */
static bool find_object(const struct scan *s, size_t call, struct loci_assigned_text *ret)
{
	size_t low = statement_start(s, call), high = statement_end(s, call);

	for (size_t i = low; i < high; i++) {
		if (is(s, i, "=") || is(s, i, "return"))
			return false;
		if (is(s, i, "<")) {
			size_t close = angle_closing(s, i);

			if (close < high)
				i = close;
		} else if ((is(s, i, "(") || is(s, i, "{")) && i > low) {
			return read_receiver(s, i, ret);
		} else if (is(s, i, "[")) {
			size_t close = loci_tokens_closing(s->tokens, s->n, i);

			if (close < high)
				i = close;
		}
	}
	return false;
}

/* A type from i on: its end, or i where there is none. Stars count if they are wanted. */
static size_t type_end(const struct scan *s, size_t i, bool stars)
{
	size_t at = i;

	while (at < s->n) {
		if (is_type_word(s, at) && !is(s, at, "nothrow")) {
			at++;
		} else if (is(s, at, "::") || (stars && at > i && is(s, at, "*"))) {
			at++;
		} else if (at > i && is(s, at, "<") && angle_closing(s, at) < s->n) {
			at = angle_closing(s, at) + 1;
		} else {
			break;
		}
	}
	return at;
}

/* (T *) before the call, new T, make_unique<T>, static_cast<T *>, sizeof(T). */
static bool type_at(const struct scan *s, size_t i, struct loci_assigned_text *ret)
{
	static const char *const makers[] = { "make_unique", "make_shared", "static_cast",
		"reinterpret_cast", "allocator", "make_unique_for_overwrite" };
	size_t end;

	if (is(s, i, "(")) {
		end = type_end(s, i + 1, true);
		return is(s, end, ")") && end > i + 2 && is(s, end - 1, "*") &&
			!is(s, i + 1, "void") &&
			loci_assigned_join(s->tokens, i + 1, end - 1, ret->type);
	}
	if (is(s, i, "new")) {
		size_t from = i + 1;

		if (is(s, from, "(")) /* placement, (std::nothrow) */
			from = loci_tokens_closing(s->tokens, s->n, from) + 1;
		end = type_end(s, from, true);
		return end > from && loci_assigned_join(s->tokens, from, end, ret->type);
	}
	if (is_one_of(s, i, makers, LOCI_ARRAY_SIZE(makers)) && is(s, i + 1, "<")) {
		end = type_end(s, i + 2, true);
		if (end > i + 2 && is(s, end - 1, "*"))
			end--;
		return end > i + 2 && loci_assigned_join(s->tokens, i + 2, end, ret->type);
	}
	if (is(s, i, "sizeof") && is(s, i + 1, "(")) {
		end = type_end(s, i + 2, true);
		return is(s, end, ")") && end > i + 2 &&
			loci_assigned_join(s->tokens, i + 2, end, ret->type);
	}
	return false;
}

static void find_type(const struct scan *s, size_t call, struct loci_assigned_text *ret)
{
	size_t from = statement_start(s, call), to = statement_end(s, call);

	/* The nearest assignment's right side, where there is one. */
	for (size_t i = call < to ? call : to; i-- > from;)
		if (is(s, i, "=")) {
			from = i + 1;
			break;
		}
	for (size_t i = from; i < to; i++)
		if (type_at(s, i, ret))
			return;
}

/* The token that the call stands at; without a place the first one that looks like a call. */
static size_t call_token(const struct scan *s, size_t call)
{
	if (call != SIZE_MAX) {
		size_t i = 0;

		while (i + 1 < s->n && s->tokens[i + 1].at <= call)
			i++;
		/* g++ says where a call ends. */
		if (is(s, i, ")") && loci_tokens_opening(s->tokens, s->n, i) < s->n)
			i = loci_tokens_opening(s->tokens, s->n, i);
		return i;
	}
	for (size_t i = 0; i < s->n; i++)
		if (is(s, i, "new") ||
			(is_word(s, i) && !is_keyword(s, i) && is(s, i + 1, "(") &&
				!(i && is(s, i - 1, "sizeof"))))
			return i;
	return s->n;
}

bool loci_assigned_read(
	const char *text, size_t length, size_t call, bool fortran, struct loci_assigned_text *ret)
{
	struct loci_token tokens[LOCI_TOKENS_MAX];
	struct scan s = { .tokens = tokens };
	size_t at;

	memset(ret, 0, sizeof(*ret));
	s.n = loci_tokens_split(text, length, fortran, tokens);
	if (fortran)
		return loci_assigned_fortran(tokens, s.n, ret);
	at = call_token(&s, call);
	if (at >= s.n)
		return false;
	find_type(&s, at, ret);
	if (find_assignment(&s, at, ret))
		return true;
	*ret->target = '\0';
	return find_object(&s, at, ret);
}
