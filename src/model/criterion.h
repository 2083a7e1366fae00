/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bound that a change must keep, for continuous integration:
 *
 *	METRIC OP [+|-]NUMBER[%]        OP one of > >= < <=
 *
 *	llc-misses>+5%      grew by more than 5 % of what it was
 *	references>+1000    grew by more than 1000
 *	l1-misses>5%        more than 5 % of the touches after the change
 *	p90>=64K            after the change, whatever it was before
 *
 * Metrics: references, touches, blocks, cold; LEVEL-misses, LEVEL-writebacks, LEVEL-moved (bytes)
 * for every level of the machine by its name, llc for the outermost; p50, p70, p80, p90, p95, the
 * cache size (bytes, or objects) that this share of the touches needs. */
#ifndef LOCI_MODEL_CRITERION_H
#define LOCI_MODEL_CRITERION_H

#include "model/compare.h"

enum loci_criterion_op {
	LOCI_CRITERION_MORE,
	LOCI_CRITERION_MORE_EQUAL,
	LOCI_CRITERION_LESS,
	LOCI_CRITERION_LESS_EQUAL,
};

struct loci_criterion {
	char text[96]; /* as given */
	char metric[40];
	enum loci_criterion_op op;
	bool is_change; /* a sign was given: the difference counts, not the value */
	bool is_percent;
	double number; /* signed; percent not divided by 100 */
};

int loci_criterion_parse(const char *text, struct loci_criterion *ret, struct loci_err *err);

struct loci_criterion_result {
	struct loci_change change; /* the metric's two values */
	double measured;           /* what was held against the number, in its unit */
	bool is_bytes;             /* the values are bytes */
	bool fired;
};
/* -EINVAL and a message where this comparison lacks the metric, or a percentage makes no sense. */
int loci_criterion_check(const struct loci_criterion *criterion, const struct loci_compare *compare,
	struct loci_criterion_result *ret, struct loci_err *err);

#endif
