/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scanner of assignments asks of tokens. Indices beyond the last are allowed everywhere
 * and are nothing. */
#ifndef LOCI_SYMBOL_ASSIGNED_SCAN_H
#define LOCI_SYMBOL_ASSIGNED_SCAN_H

#include "symbol/assigned_text.h"

struct loci_scan {
	const struct loci_token *tokens;
	size_t n;
};

bool loci_scan_is(const struct loci_scan *s, size_t i, const char *text);
bool loci_scan_is_one_of(const struct loci_scan *s, size_t i, const char *const *texts, size_t n);
bool loci_scan_is_word(const struct loci_scan *s, size_t i);
/* Words that stand before an expression, or before brackets that are no call's. */
bool loci_scan_is_keyword(const struct loci_scan *s, size_t i);
/* Any other word, but new. */
bool loci_scan_is_name(const struct loci_scan *s, size_t i);
/* The other of a pair of angle brackets around a type; n: there is none. */
size_t loci_scan_angle_opening(const struct loci_scan *s, size_t close);
size_t loci_scan_angle_closing(const struct loci_scan *s, size_t open);
/* The first token of the statement around i, and the one after its last. */
size_t loci_scan_start(const struct loci_scan *s, size_t i);
size_t loci_scan_end(const struct loci_scan *s, size_t i);

/* assigned_type.c: the type that is said where a call allocates; ret->type stays "" if none is. */
void loci_scan_type(const struct loci_scan *s, size_t call, struct loci_assigned_text *ret);

#endif
