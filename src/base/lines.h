/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text file as lines. */
#ifndef LOCI_BASE_LINES_H
#define LOCI_BASE_LINES_H

#include <stddef.h>
#include <time.h>

struct loci_lines {
	char *text; /* newlines and zeros replaced by the ends of lines */
	char **line;
	size_t n;
	time_t changed; /* when the file was */
};

/* Regular files of at most 64 MiB. 0 or -errno. */
int loci_lines_read(const char *path, struct loci_lines *ret);
void loci_lines_fini(struct loci_lines *lines);
/* From 1, or NULL. */
const char *loci_lines_at(const struct loci_lines *lines, unsigned number);

#endif
