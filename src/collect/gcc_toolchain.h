/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `loci gcc`, `loci g++` and `loci gfortran` compile with: a gcc of any version, and the
 * runtime that answers its calls. */
#ifndef LOCI_COLLECT_GCC_TOOLCHAIN_H
#define LOCI_COLLECT_GCC_TOOLCHAIN_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>

struct loci_gcc_toolchain {
	char dir[PATH_MAX];      /* of the runtime */
	char compiler[PATH_MAX]; /* the program */
	char specs[PATH_MAX];    /* the file of that directory which gcc is told to read */
	char version[32];        /* "12.2.0", or "" if it was not asked */
};

/* driver: "gcc", "g++" or "gfortran", looked for in PATH; or what is named instead: a program, a
 * path or a major version. A named one is asked whether it is gcc, and so is any if `ask`. */
int loci_gcc_toolchain_find(struct loci_gcc_toolchain *ret, const char *driver, const char *named,
	bool ask, struct loci_err *err);

#endif
