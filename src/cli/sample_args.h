/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person asks of loci record -m sample. */
#ifndef LOCI_CLI_SAMPLE_ARGS_H
#define LOCI_CLI_SAMPLE_ARGS_H

#include "analyse/analyse.h"
#include "collect/run.h"

struct loci_record_args;

struct loci_sample_args {
	bool wanted;        /* -m sample */
	bool asked;         /* some other of these options was given .. */
	const char *option; /* .. this one */
	uint64_t period;    /* 0: not given */
	double error;       /* a share; 0: not given */
	uint64_t seed;
	bool has_seed, sequential;
	uint64_t skew;
	struct loci_run_sampling run;
	struct loci_analyse_sampling analyse;
};

enum loci_sample_option {
	LOCI_SAMPLE_PERIOD,
	LOCI_SAMPLE_ERROR,
	LOCI_SAMPLE_SEED,
	LOCI_SAMPLE_SEQUENTIAL,
	LOCI_SAMPLE_SKEW,
};
int loci_sample_parse(struct loci_sample_args *args, enum loci_sample_option option,
	const char *text, struct loci_err *err);
/* As asked, or any. */
uint64_t loci_sample_seed(const struct loci_sample_args *args);
/* Once all options are known: what they mean together, and for the run and the analysis. */
int loci_sample_settle(struct loci_record_args *args, struct loci_err *err);
/* The runner that is told of samples. */
void loci_sample_attach(struct loci_sample_args *args, struct loci_runner *runner);

#endif
