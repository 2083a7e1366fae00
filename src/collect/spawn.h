/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting the program under its collector, in a world that is as it would be without. */
#ifndef LOCI_COLLECT_SPAWN_H
#define LOCI_COLLECT_SPAWN_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

struct loci_spawn {
	char *const *command;
	const char *program;  /* NULL: command[0], Valgrind */
	const char *variable; /* of the environment to set, and .. */
	const char *value;    /* .. to this; "": leave it */
	uint32_t *own_pid;    /* shared memory for the process's id before it begins; NULL */
	/* Of Valgrind: */
	int log;    /* where it writes, .. */
	int log_fd; /* .. under this number in the program's process */
};

/* The number under which a descriptor is out of the program's way: among those that Valgrind keeps
 * for itself, above the program's limit. */
int loci_spawn_high_fd(void);

/* The caller waits for *ret_pid. */
int loci_spawn(
	const struct loci_spawn *spawn, pid_t *ret_pid, int *ret_pidfd, struct loci_err *err);

#endif
