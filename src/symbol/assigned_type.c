/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/assigned_scan.h"

#include "base/cleanup.h"

/* A type from i on: its end, or i where there is none. Stars count if they are wanted. */
static size_t type_end(const struct loci_scan *s, size_t i, bool stars)
{
	size_t at = i;

	while (at < s->n) {
		if (loci_scan_is_name(s, at) && !loci_scan_is(s, at, "nothrow")) {
			at++;
		} else if (loci_scan_is(s, at, "::") ||
			(stars && at > i && loci_scan_is(s, at, "*"))) {
			at++;
		} else if (at > i && loci_scan_is(s, at, "<") &&
			loci_scan_angle_closing(s, at) < s->n) {
			at = loci_scan_angle_closing(s, at) + 1;
		} else {
			break;
		}
	}
	return at;
}

/* (T *) before the call, new T, make_unique<T>, static_cast<T *>, sizeof(T). */
static bool type_at(const struct loci_scan *s, size_t i, struct loci_assigned_text *ret)
{
	static const char *const makers[] = { "make_unique", "make_shared", "static_cast",
		"reinterpret_cast", "allocator", "make_unique_for_overwrite" };
	size_t end;

	if (loci_scan_is(s, i, "(")) {
		end = type_end(s, i + 1, true);
		return loci_scan_is(s, end, ")") && end > i + 2 && loci_scan_is(s, end - 1, "*") &&
			!loci_scan_is(s, i + 1, "void") &&
			loci_assigned_join(s->tokens, i + 1, end - 1, ret->type);
	}
	if (loci_scan_is(s, i, "new")) {
		size_t from = i + 1;

		if (loci_scan_is(s, from, "(")) /* placement, (std::nothrow) */
			from = loci_tokens_closing(s->tokens, s->n, from) + 1;
		end = type_end(s, from, true);
		return end > from && loci_assigned_join(s->tokens, from, end, ret->type);
	}
	if (loci_scan_is_one_of(s, i, makers, LOCI_ARRAY_SIZE(makers)) &&
		loci_scan_is(s, i + 1, "<")) {
		end = type_end(s, i + 2, true);
		if (end > i + 2 && loci_scan_is(s, end - 1, "*"))
			end--;
		return end > i + 2 && loci_assigned_join(s->tokens, i + 2, end, ret->type);
	}
	if (loci_scan_is(s, i, "sizeof") && loci_scan_is(s, i + 1, "(")) {
		end = type_end(s, i + 2, true);
		return loci_scan_is(s, end, ")") && end > i + 2 &&
			loci_assigned_join(s->tokens, i + 2, end, ret->type);
	}
	return false;
}

void loci_scan_type(const struct loci_scan *s, size_t call, struct loci_assigned_text *ret)
{
	size_t from = loci_scan_start(s, call), to = loci_scan_end(s, call);

	/* The nearest assignment's right side, where there is one. */
	for (size_t i = call < to ? call : to; i-- > from;)
		if (loci_scan_is(s, i, "=")) {
			from = i + 1;
			break;
		}
	for (size_t i = from; i < to; i++)
		if (type_at(s, i, ret))
			return;
}
