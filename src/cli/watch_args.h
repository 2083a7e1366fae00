/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person asks of loci analyse --watch, and of traces of samples that were watched. */
#ifndef LOCI_CLI_WATCH_ARGS_H
#define LOCI_CLI_WATCH_ARGS_H

#include "analyse/analyse.h"
#include "collect/rewatch.h"
#include "stream/watch_terms.h"

struct loci_watch_args {
	bool wanted;        /* --watch */
	bool weighs;        /* --weights, which traces of samples take, too */
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
/* Once the trace is open: whether it is of samples, how these were watched, and whether that is
 * what was asked for. Puts another source in the place of *source, on failure perhaps NULL. */
int loci_watch_settle_trace(struct loci_watch_args *args, bool blocks_given,
	struct loci_analyse_options *options, struct loci_source **source, struct loci_err *err);
/* What analysing has to know of it. */
void loci_watch_describe(
	const struct loci_watch_terms *terms, struct loci_analyse_watching *analyse);

#endif
