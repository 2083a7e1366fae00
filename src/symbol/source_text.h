/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of source files as they stand on disk. Of a file those parts are kept that lines were asked
 * of; what is kept in all is bounded, and lines beyond that there are none. */
#ifndef LOCI_SYMBOL_SOURCE_TEXT_H
#define LOCI_SYMBOL_SOURCE_TEXT_H

#include <stddef.h>

#define LOCI_SOURCE_BYTES_MAX ((size_t)64 << 20)

struct loci_source_file;

struct loci_source_text {
	struct loci_source_file **files; /* a hash table by name */
	size_t n, cap;
	size_t bytes; /* kept in all */
};

void loci_source_text_fini(struct loci_source_text *sources);
/* Without its newline; NULL: no such file or line. Lines count from 1. */
const char *loci_source_text_line(
	struct loci_source_text *sources, const char *file, unsigned line);

#endif
