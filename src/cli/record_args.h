/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person asks of loci record. */
#ifndef LOCI_CLI_RECORD_ARGS_H
#define LOCI_CLI_RECORD_ARGS_H

#include "cli/choice.h"
#include "cli/product.h"
#include "cli/sample_args.h"
#include "cli/watch_run_args.h"
#include "collect/run.h"

struct loci_record_args {
	struct loci_run_options run;
	struct loci_analyse_options analyse;
	struct loci_product_levels levels;
	struct loci_sample_args sample;
	struct loci_watch_run_args watching;
	const char *caches;    /* --cache */
	const char *collector; /* --collector */
	struct loci_choice choice;
	char *output, *command;
	const char *trace;
	enum loci_order order;
	bool quiet, verbose;
	int toggle; /* the signal that turns recording on and off; 0: none */
};

/* Returns the exit status to end with, or -1 to go on. */
int loci_record_parse(int argc, char **argv, struct loci_record_args *args);

#endif
