/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a program under a collector and hands out the streams of its processes as they appear.
 *
 * The collector is told the run's directory; every process it watches makes a ring there
 * (loci_ring_format), under a name that begins with a dot, and renames it to "PID.N.ring" when it
 * can be read (N: images of the process so far, by exec). All else is in the stream, whose first
 * marker is PROCESS. For the rings of threads see run_control.h. */
#ifndef LOCI_COLLECT_RUN_H
#define LOCI_COLLECT_RUN_H

#include "base/err.h"
#include "collect/run_control.h"
#include "stream/source.h"

#include <stdbool.h>
#include <sys/types.h>

struct loci_launch;

/* Samples: what the control file says of them (run_control.h). */
struct loci_run_sampling {
	uint64_t period, seed;
	uint32_t doubling, skew;
};

/* Watched samples: the same. */
struct loci_run_watching {
	uint64_t period, seed;
	enum loci_control_watch by;
	uint32_t watches, replace, block_shift, burst_refs, overhead, far, per_second;
	bool writes_only;
};

struct loci_run_options {
	char *const *argv;             /* the program and its arguments, NULL at the end */
	enum loci_collector collector; /* LOCI_COLLECTOR_CC, which is GCC too, or else ANY */
	bool count;                    /* references are counted only; by cc */
	const struct loci_run_sampling *sampling; /* references around samples; by cc. NULL: all */
	const struct loci_run_watching *watching; /* no references, watched samples; by cc */
	bool turns;  /* threads take turns where they meet, if all is recorded; by cc */
	bool follow; /* children too */
	bool no_kernel;
	bool start_disabled;        /* nothing is recorded until toggled */
	bool toggles;               /* loci_runner_toggle will be used */
	double delay_s, duration_s; /* 0: none */
	const char *only, *skip;    /* function names, comma separated, * and ? allowed; NULL */
	const struct loci_launch *launch; /* NULL: as loci_launch_find finds it */
};

/* Whether recording is to start or stop while the program runs. */
static inline bool loci_run_has_windows(const struct loci_run_options *options)
{
	return options->start_disabled || options->toggles || options->delay_s > 0 ||
		options->duration_s > 0;
}

struct loci_runner;

/* Starts the program. Its standard streams, terminal, process group, environment and signals are
 * this process's, but for what the collector needs; under Valgrind it dumps no core. What keeps it
 * from starting is explained in err; *ret_status is then 127 and 126 as a shell gives them, or 1.
 * Call it before there are threads. */
int loci_runner_start(const struct loci_run_options *options, struct loci_runner **ret,
	int *ret_status, struct loci_err *err);
/* The next process's stream; waits for one, and keeps the times of delay_s and duration_s
 * meanwhile. NULL and 0 when the program has ended and every stream
 * has been given; a failure is about one process's stream, there may be more. The caller reads each
 * to its end in a thread of its own and closes it, before the runner is freed.
 *
 * When the program has ended, the streams of processes that it left behind end with what they hold
 * at that moment; such a process goes on unwatched. */
int loci_runner_next(struct loci_runner *runner, struct loci_source **ret, struct loci_err *err);
/* Of a stream that loci_runner_next gave. */
pid_t loci_runner_source_pid(const struct loci_source *source);
unsigned loci_runner_source_image(const struct loci_source *source); /* by exec, from 0 */
/* Passes a signal on to the program; from a signal handler. */
void loci_runner_signal(struct loci_runner *runner, int signal);
/* Turns recording on or off, in all processes; from a signal handler. */
void loci_runner_toggle(struct loci_runner *runner);
/* So many more samples of the process need not be followed any further; from any thread. */
void loci_runner_closed(struct loci_runner *runner, pid_t pid, uint32_t n);
/* Status of the program as wait(2) gives it, once loci_runner_next has given NULL. */
int loci_runner_status(const struct loci_runner *runner);
/* How many processes became programs that cannot be watched, and ran on by themselves. */
unsigned loci_runner_unwatched(const struct loci_runner *runner);
/* For how long recording was on and the program ran, where recording has windows; else 0. Once
 * loci_runner_next has given NULL. */
void loci_runner_times(const struct loci_runner *runner, double *ret_recorded_s, double *ret_all_s);
/* What watching took, of all processes so far; NULL: there is none. */
const struct loci_control_watching *loci_runner_watching(const struct loci_runner *runner);
pid_t loci_runner_pid(const struct loci_runner *runner);
/* Why there is nothing to see, or why it ended ill, as far as the collector said: a sentence for a
 * person, or "". Once loci_runner_next has given NULL. */
const char *loci_runner_complaint(struct loci_runner *runner);
void loci_runner_free(struct loci_runner *runner); /* NULL allowed */

/* Where a run's rings would be: /dev/shm, or else TMPDIR or /tmp. They must have room, lest they
 * fail in the program. */
int loci_runner_room(const char **ret_dir, uint64_t *ret_free_bytes, struct loci_err *err);

#endif
