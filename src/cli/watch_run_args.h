/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person asks of loci record -m watch. */
#ifndef LOCI_CLI_WATCH_RUN_ARGS_H
#define LOCI_CLI_WATCH_RUN_ARGS_H

#include "cli/watch_args.h"
#include "collect/run.h"

struct loci_record_args;

struct loci_watch_run_args {
	bool wanted;        /* -m watch, or --light */
	const char *option; /* some other of these that was given, or NULL */
	double overhead;    /* a share; 0: not given */
	double far;         /* a share of the references */
	bool has_far;
	bool has_by;
	bool lacks_registers; /* and so it is by pages */
	enum loci_control_watch by;
	struct loci_watch_args watch; /* what loci analyse --watch has too */
	struct loci_run_watching run;
	struct loci_watch_terms terms; /* for a trace */
};
#define LOCI_WATCH_RUN_DEFAULTS                                                         \
	{                                                                               \
		.watch = {.replay = { .burst_refs = 4096, .watches = LOCI_RESERVOIR } } \
	}

enum loci_watch_run_option {
	LOCI_WATCH_RUN_KIND,
	LOCI_WATCH_RUN_NUMBER,
	LOCI_WATCH_RUN_REPLACE,
	LOCI_WATCH_RUN_WEIGHTS,
	LOCI_WATCH_RUN_BURST,
	LOCI_WATCH_RUN_FAR,
	LOCI_WATCH_RUN_OVERHEAD,
	LOCI_WATCH_RUN_BY,
};
int loci_watch_run_parse(struct loci_watch_run_args *args, enum loci_watch_run_option option,
	const char *text, struct loci_err *err);
/* Once all options are known; period and seed are those of samples. */
int loci_watch_run_settle(struct loci_record_args *args, struct loci_err *err);
/* How it is recorded, on stderr. */
void loci_watch_run_say(const struct loci_watch_run_args *args, const char *size);
/* What a reader must know of how it went, and with `verbose` what it took. NULL: it was none. */
void loci_watch_run_note(const struct loci_watch_run_args *args,
	const struct loci_control_watching *took, struct loci_analysis *analysis, bool verbose);

#endif
