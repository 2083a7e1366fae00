/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the terminal behind a stream can show. A stream that is none can show plain text. */
#ifndef LOCI_BASE_TERMINAL_H
#define LOCI_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#define LOCI_TERMINAL_COLUMNS 80 /* of what is no terminal, or does not say */

struct loci_terminal {
	bool is_terminal; /* one that moves its cursor: TERM=dumb does not count */
	bool has_unicode; /* the locale names UTF-8, or names nothing */
	bool has_colour;  /* and NO_COLOR is not set */
	unsigned columns;
};

void loci_terminal_query(FILE *stream, struct loci_terminal *ret);

#endif
