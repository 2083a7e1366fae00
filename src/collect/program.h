/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program a person named: where it is, and whether it can run under a collector. */
#ifndef LOCI_COLLECT_PROGRAM_H
#define LOCI_COLLECT_PROGRAM_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>

#define LOCI_PROGRAM_NOT_FOUND 127 /* as shells have it */
#define LOCI_PROGRAM_CANNOT    126

/* Finds an executable as execvp(3) does: names without a slash in PATH. 0, -ENOENT, or -EACCES
 * where there is one that may not be executed; path holds PATH_MAX bytes. */
int loci_program_find(const char *name, char *path);

/* Why the program could not be recorded, before it is tried: not there, no program, a script whose
 * interpreter is not there, another machine's, one with the rights of another user. *ret_status is
 * then what a shell would give. */
int loci_program_check(const char *name, int *ret_status, struct loci_err *err);

/* Executables that change rights are refused by Valgrind, also to a child of the program. */
bool loci_program_has_rights(const char *path);

#endif
