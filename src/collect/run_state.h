/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside a run: run.c starts it and finds its streams, run_complaint.c says what went wrong. */
#ifndef LOCI_COLLECT_RUN_STATE_H
#define LOCI_COLLECT_RUN_STATE_H

#include "collect/gate.h"
#include "collect/instrumented.h"
#include "collect/run.h"
#include "collect/watched.h"

struct name {
	struct name *next;
	char text[64];
};

struct loci_runner {
	struct loci_rundir *dir;
	struct loci_watch watch;
	struct name *first, **last; /* rings that were seen and not given yet */
	struct loci_gate gate;
	int inotify, log;
	pid_t pid;
	bool follow;
	enum loci_collector collector;
	struct loci_instrumented program; /* of cc: how it was built */
	const char *program_name;
	bool rescanning; /* names may have been missed */
	bool asked;      /* for processes without a ring */
	unsigned streams;
	double recorded_s, all_s; /* where there are windows */
	char version[32];
	char complaint[512];
};

/* Processes that found no room for a ring are an error, once. */
int loci_runner_say_unheard(struct loci_runner *runner, struct loci_err *err);

#endif
