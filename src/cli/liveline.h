/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The progress line of a run whose program has the terminal too. It stands on the line below the
 * cursor, which stays where the program left it: what the program prints replaces the line. Where
 * the program's output goes to the terminal the line is not drawn again once there is some. */
#ifndef LOCI_CLI_LIVELINE_H
#define LOCI_CLI_LIVELINE_H

#include "analyse/analyse.h"
#include "base/progress.h"

#include <pthread.h>

struct loci_liveline {
	const struct loci_analysis *analysis;
	pid_t program;
	struct loci_progress progress;
	uint64_t began_bytes; /* written by the program when the line began */
	bool running, ending, has_begun;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t end;
};

/* Shows nothing where standard error is no terminal, or another job has it. */
void loci_liveline_begin(
	struct loci_liveline *line, const struct loci_analysis *analysis, pid_t program);
void loci_liveline_end(struct loci_liveline *line);

#endif
