/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory of a run: where rings are, readable by its owner only, removed at the end. It holds
 * a file that its owner keeps locked (flock), so that others know whether the owner lives:
 * producers of rings, and the next run, which removes what a crash left behind. */
#ifndef LOCI_STREAM_RUNDIR_H
#define LOCI_STREAM_RUNDIR_H

#include "base/err.h"

struct loci_rundir;

/* In /dev/shm, or else in $TMPDIR or /tmp. Directories left there by dead runs of this user are
 * removed first. */
int loci_rundir_new(struct loci_rundir **ret, struct loci_err *err);
/* In a directory of the caller's choice. */
int loci_rundir_new_in(const char *base, struct loci_rundir **ret, struct loci_err *err);
/* Removes the directory; in a child of the owner's process only forgets it. NULL allowed. */
void loci_rundir_free(struct loci_rundir *dir);

const char *loci_rundir_path(const struct loci_rundir *dir);
const char *loci_rundir_lock_path(const struct loci_rundir *dir);

#endif
