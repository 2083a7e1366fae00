/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that runs a program under the `any` collector: Valgrind's launcher, our tool, and
 * their options. */
#ifndef LOCI_COLLECT_LAUNCH_H
#define LOCI_COLLECT_LAUNCH_H

#include "base/err.h"
#include "collect/run.h"

#include <limits.h>

struct loci_launch {
	char launcher[PATH_MAX]; /* Valgrind */
	char tools[PATH_MAX];    /* VALGRIND_LIB: the directory of our tool */
	char version[32];        /* "3.19.0" */
};

/* What is missing, or does not fit together, is explained with the remedy. What was found before
 * is in *ret. */
int loci_launch_find(struct loci_launch *ret, struct loci_err *err);

/* The command line, NULL at its end, for loci_launch_free; NULL where memory is short. log_fd is
 * where Valgrind says what it has to say. */
char **loci_launch_command(const struct loci_launch *launch, const struct loci_run_options *options,
	const char *run_dir, int log_fd);
void loci_launch_free(char **command); /* NULL allowed */

static inline void loci_launch_freep(char ***command)
{
	loci_launch_free(*command);
}

#endif
