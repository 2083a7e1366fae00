/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loci record -m count: how many references, and how often blocks ran whose operations are known.
 */
#ifndef LOCI_CLI_COUNTING_H
#define LOCI_CLI_COUNTING_H

#include "analyse/analyse.h"
#include "collect/run.h"

#include <stdint.h>

struct loci_counting {
	uint64_t references; /* of threads that told */
	unsigned processes, threads;
	unsigned untold; /* threads that were killed before they could */
};

/* Reads all streams of a run that counts, to its end, into the analysis too. */
int loci_counting_read(struct loci_runner *runner, struct loci_analysis *analysis,
	struct loci_counting *ret, struct loci_err *err);

#endif
