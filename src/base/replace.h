/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces a file as a whole or not at all: written to a temporary name in the same directory, then
 * renamed over the target, so that nobody ever sees half a file and a failure leaves the old one.
 */
#ifndef LOCI_BASE_REPLACE_H
#define LOCI_BASE_REPLACE_H

#include "base/err.h"

struct loci_replace {
	char *path;      /* the target; where it is a symbolic link, what the link points to */
	char *temporary; /* NULL when there is none (any more) */
	int fd;          /* of the temporary, for reading and writing; -1 */
};

/* Creates the temporary, with the permissions a new file gets. A target that exists and is not a
 * regular file is refused: renaming over a device would remove it. */
int loci_replace_begin(struct loci_replace *replace, const char *path, struct loci_err *err);
/* Syncs the temporary to disk and renames it. */
int loci_replace_commit(struct loci_replace *replace, struct loci_err *err);
/* Frees, and removes a temporary that was not committed. Needs loci_replace_begin or zeroes with
 * fd -1 before it. */
void loci_replace_fini(struct loci_replace *replace);

#endif
