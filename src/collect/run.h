/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a program under a collector and hands out the streams of its processes as they appear.
 *
 * The collector is told the run's directory; every process it watches makes a ring there
 * (loci_ring_format), under a name that begins with a dot, and renames it to "PID.N.ring" when it
 * can be read (N: images of the process so far, by exec). All else is in the stream, whose first
 * marker is PROCESS. */
#ifndef LOCI_COLLECT_RUN_H
#define LOCI_COLLECT_RUN_H

#include "base/err.h"
#include "stream/source.h"

#include <stdbool.h>
#include <sys/types.h>

struct loci_run_options {
	char *const *argv; /* the program and its arguments, NULL at the end */
	bool follow;       /* children too */
	bool no_kernel;
	bool start_disabled; /* nothing is recorded until toggled */
	int toggle_signal;   /* 0: none. Sent to the program's process; never reaches the program */
	double delay_s, duration_s; /* 0: none */
	const char *only, *skip;    /* function names, comma separated, * and ? allowed; NULL */
};

struct loci_runner;

/* Starts the program. Its standard streams, terminal and process group are this process's. What
 * keeps it from starting (not found, not executable, no Valgrind, another version) is explained in
 * err; errno 127 and 126 as a shell gives them are in *ret_status. */
int loci_runner_start(const struct loci_run_options *options, struct loci_runner **ret,
	int *ret_status, struct loci_err *err);
/* The next process's stream; waits for one. NULL and 0 when the program and all it left behind that
 * is watched have ended. The caller reads each to its end in a thread of its own and closes it. */
int loci_runner_next(struct loci_runner *runner, struct loci_source **ret, struct loci_err *err);
/* Passes a signal on to the program; from a signal handler. */
void loci_runner_signal(struct loci_runner *runner, int signal);
/* Status of the program as wait(2) gives it, once loci_runner_next has given NULL. */
int loci_runner_status(const struct loci_runner *runner);
void loci_runner_free(struct loci_runner *runner);

#endif
