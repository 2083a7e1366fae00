/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profile a command means when its FILE is left out. */
#ifndef LOCI_CLI_PICK_H
#define LOCI_CLI_PICK_H

#include "base/err.h"

/* given, or where it is NULL the only *.loci file of the current directory; none or several of them
 * are errors that say so. *ret_path is malloc'ed. */
int loci_pick_profile(const char *given, char **ret_path, struct loci_err *err);

#endif
