/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The viewer's page from the profiles that a command line names. */
#ifndef LOCI_CLI_PAGE_H
#define LOCI_CLI_PAGE_H

#include "cli/open.h"

#include <stddef.h>

#define LOCI_PAGE_PROFILES 16

/* The page in memory: *ret is malloc'ed. No path: the only profile here; *ret_first, where not
 * NULL, is the path of the first, malloc'ed. */
int loci_page_make(char *const *path, size_t n, const struct loci_aim *aim, char **ret,
	size_t *ret_length, char **ret_first, struct loci_err *err);

#endif
