/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `loci cache --sweep` asks for: "L2=256K..8M" or "line=16..512". */
#ifndef LOCI_CLI_SWEEP_RANGE_H
#define LOCI_CLI_SWEEP_RANGE_H

#include "model/cache.h"

struct loci_sweep_range {
	bool is_line;
	unsigned level;
	uint64_t from, to;
};

/* 0, or the exit status after saying what is wrong with the text. */
int loci_sweep_range(const char *text, const struct loci_hierarchy *hierarchy, bool is_object,
	struct loci_sweep_range *ret);

#endif
