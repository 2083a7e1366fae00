/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owners by name, as a person looks for them: a site by file, line and function, an object by its
 * variable and where it comes from. Each fills buf and returns it. Names are the program's: what
 * prints them must disarm them, as text.h does. */
#ifndef LOCI_REPORT_OWNER_NAME_H
#define LOCI_REPORT_OWNER_NAME_H

#include "model/blame.h"

#include <stddef.h>

#define LOCI_NAME_MAX 512

/* A path's last part. */
const char *loci_name_file(const char *path);
/* A function without what makes C++ names long, template arguments and parameters:
 * "std::vector<>::push_back". */
const char *loci_name_function(const char *name, char *buf, size_t size);

/* Cuts a name that a sentence has no room for. Returns name. */
const char *loci_name_clip(char *name, size_t bytes);

/* "mm.c:14"; "" where line or file is unknown. */
const char *loci_name_line(const struct loci_catalogue *catalogue, int64_t source_id, unsigned line,
	char *buf, size_t size);
/* "mm.c:14 mul"; without a line "memcpy (libc.so.6+0x9a1b)" or "libc.so.6+0x9a1b". */
const char *loci_name_site(const struct loci_catalogue *catalogue, const struct loci_site_row *site,
	char *buf, size_t size);
/* "b", or what is known instead: "heap mm.c:31", "(stack)". */
const char *loci_name_object(const struct loci_catalogue *catalogue,
	const struct loci_object_row *object, char *buf, size_t size);
/* It is known by where it comes from, and not by a variable. */
bool loci_name_is_origin(const struct loci_object_row *object);
/* "heap, mm.c:31 main", "global, table.c:7", "stack". */
const char *loci_name_origin(const struct loci_catalogue *catalogue,
	const struct loci_object_row *object, char *buf, size_t size);
/* The same in fewer words: "mm.c:14", or "memcpy", or "libc.so.6+0x9a1b". */
const char *loci_name_place(const struct loci_catalogue *catalogue,
	const struct loci_site_row *site, char *buf, size_t size);
/* "mm.c:14 -> mm.c:20" */
const char *loci_name_pair(const struct loci_catalogue *catalogue, const struct loci_pair_row *pair,
	const char *arrow, char *buf, size_t size);
/* "loop at mm.c:12", "called by main", or "": where the way from use to reuse is. */
const char *loci_name_carrier(const struct loci_catalogue *catalogue,
	const struct loci_pair_row *pair, char *buf, size_t size);
/* The function of a context, and "mm.c:31" of its call. */
const char *loci_name_context(const struct loci_catalogue *catalogue,
	const struct loci_context_row *context, char *buf, size_t size);
/* "solve/smooth": the regions around it, the outermost first. */
const char *loci_name_region(const struct loci_catalogue *catalogue,
	const struct loci_region_row *region, char *buf, size_t size);
/* Any row of a blame. */
const char *loci_name_row(const struct loci_blame *blame, const struct loci_blame_row *row,
	const char *arrow, char *buf, size_t size);

#endif
