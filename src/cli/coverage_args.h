/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `loci report --coverage` and `loci diff --rank` are asked in common: at which cache size. */
#ifndef LOCI_CLI_COVERAGE_ARGS_H
#define LOCI_CLI_COVERAGE_ARGS_H

#include "model/coverage.h"

struct loci_coverage_args {
	uint64_t cache_bytes; /* 0: chosen by miss */
	double miss;          /* 0: the usual */
};

/* Each returns 0, or the exit status after saying what is wrong with the text. */
int loci_coverage_args_cache(
	struct loci_coverage_args *args, const char *command, const char *text);
int loci_coverage_args_miss(struct loci_coverage_args *args, const char *command, const char *text);
/* Both given. */
int loci_coverage_args_check(const struct loci_coverage_args *args, const char *command);

/* "10%", "0.5 %": a share from 0 to 1, or negative. */
double loci_coverage_args_percent(const char *text);

struct loci_coverage_options loci_coverage_args_options(
	const struct loci_coverage_args *args, uint64_t block_bytes);

#endif
