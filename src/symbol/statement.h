/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a statement that may span lines. */
#ifndef LOCI_SYMBOL_STATEMENT_H
#define LOCI_SYMBOL_STATEMENT_H

#include "symbol/source_text.h"

#include <stdbool.h>

#define LOCI_STATEMENT_MAX 4096

struct loci_statement {
	char text[LOCI_STATEMENT_MAX];
	size_t length;
	size_t place; /* of the column asked for; SIZE_MAX: not known */
};

/* The lines of the statement that stands on a line, that line whole, and those before and after it
 * as far as it goes on there. column 0: not known. false: no such line. */
bool loci_statement_read(struct loci_source_text *sources, const char *file, unsigned line,
	unsigned column, bool fortran, struct loci_statement *ret);

#endif
