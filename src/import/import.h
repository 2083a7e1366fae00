/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Foreign traces as streams. One file per format; each is a loci_source. Plain, gzip or zstd, from
 * a file or standard input, recognised by content. */
#ifndef LOCI_IMPORT_H
#define LOCI_IMPORT_H

#include "stream/source.h"

#include <stdbool.h>

struct loci_import_options {
	const char *format; /* a name of the table below; NULL: recognise it */
	bool instructions;  /* instruction fetches too */
};

/* path "-" is standard input. Our own trace files are recognised too. The source's info names the
 * format (origin) and the unit. A message about bad input names the file and line or byte, what
 * was expected and what was found. */
int loci_import_open(const char *path, const struct loci_import_options *options,
	struct loci_source **ret, struct loci_err *err);

struct loci_importer;

/* For `loci analyse --formats`; ends with a NULL name. */
struct loci_import_format {
	const char *name;                     /* "lackey" */
	const char *summary;                  /* one line: what writes it, with the command */
	const char *sample;                   /* one or two lines of it */
	const struct loci_importer *importer; /* private to src/import */
};
extern const struct loci_import_format loci_import_formats[];

#endif
