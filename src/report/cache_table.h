/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predictions of caches, for a person and as JSON. */
#ifndef LOCI_REPORT_CACHE_TABLE_H
#define LOCI_REPORT_CACHE_TABLE_H

#include "model/predict.h"
#include "report/json.h"
#include "report/text.h"

/* What is shown of which run. */
struct loci_cache_table {
	struct loci_profile *profile;
	enum loci_policy policy;
	const struct loci_prediction *row;
	size_t n;
	bool is_object; /* sizes and traffic count objects */
};

/* A line on the run and the policy, the table, and what a reader must know of its numbers. 0 or
 * -ENOMEM. */
int loci_cache_table_text(const struct loci_cache_table *table, const struct loci_text *text);
/* Cycles per reference, where they are not 0, and from which latencies. */
void loci_cache_table_cycles(
	const struct loci_hierarchy *hierarchy, double cycles, const struct loci_text *text);
/* The members of one row. */
void loci_cache_table_json_row(const struct loci_prediction *prediction, struct loci_json *json);
/* The rows as an array. */
void loci_cache_table_json(const struct loci_cache_table *table, struct loci_json *json);

/* The named machines: specification, latencies and the processor meant. */
int loci_cache_table_machines(const struct loci_text *text);

#endif
