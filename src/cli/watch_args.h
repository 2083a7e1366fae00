/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person asks of loci analyse --watch. */
#ifndef LOCI_CLI_WATCH_ARGS_H
#define LOCI_CLI_WATCH_ARGS_H

#include "analyse/analyse.h"
#include "collect/rewatch.h"

struct loci_watch_args {
	bool wanted;        /* --watch */
	const char *option; /* some other of these that was given, or NULL */
	struct loci_rewatch_options replay;
	struct loci_analyse_watching analyse;
};

enum loci_watch_option {
	LOCI_WATCH_KIND, /* --watch[=rw|w] */
	LOCI_WATCH_PERIOD,
	LOCI_WATCH_NUMBER,
	LOCI_WATCH_REPLACE,
	LOCI_WATCH_WEIGHTS,
	LOCI_WATCH_BURST_REFS,
	LOCI_WATCH_SEED,
};
#define LOCI_WATCH_DEFAULTS                                                                \
	{                                                                                  \
		.replay = {.period = 10000, .burst_refs = 256, .watches = LOCI_RESERVOIR } \
	}

/* text may be NULL of LOCI_WATCH_KIND. */
int loci_watch_parse(struct loci_watch_args *args, enum loci_watch_option option, const char *text,
	struct loci_err *err);
/* Once all options are known. */
int loci_watch_settle(
	struct loci_watch_args *args, struct loci_analyse_options *options, struct loci_err *err);

#endif
