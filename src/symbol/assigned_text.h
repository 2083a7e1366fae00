/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads in source text what the result of a call is assigned to. A scanner, no parser: it knows how
 * allocations are written, and says nothing where it does not. */
#ifndef LOCI_SYMBOL_ASSIGNED_TEXT_H
#define LOCI_SYMBOL_ASSIGNED_TEXT_H

#include "symbol/source_token.h"

#define LOCI_ASSIGNED_MAX 160

struct loci_assigned_text {
	char target[LOCI_ASSIGNED_MAX]; /* "x", "node->next", "a[i]", "*out", "a, b" of one
					   ALLOCATE;
					   "": none */
	char type[LOCI_ASSIGNED_MAX];   /* of what is allocated, as written: "struct node"; "" */
	bool perhaps; /* Fortran: only if the target is one that an assignment allocates */
};

/* text is a statement, with what stands around it on its lines; call is where in it the call
 * stands, SIZE_MAX where that is not known. Returns whether there is a target. A type may be there
 * without one. */
bool loci_assigned_read(
	const char *text, size_t length, size_t call, bool fortran, struct loci_assigned_text *ret);

/* assigned_fortran.c: ALLOCATE statements, and assignments to allocatable variables. */
bool loci_assigned_fortran(
	const struct loci_token *tokens, size_t n, struct loci_assigned_text *ret);

/* Tokens one after another, with a space only between words. false: there is no room for them. */
bool loci_assigned_join(
	const struct loci_token *tokens, size_t from, size_t to, char ret[LOCI_ASSIGNED_MAX]);

#endif
