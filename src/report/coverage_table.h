/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci report --coverage` and `loci diff --rank`: the fewest sites with most of the misses, and
 * how well another profile finds them. */
#ifndef LOCI_REPORT_COVERAGE_TABLE_H
#define LOCI_REPORT_COVERAGE_TABLE_H

#include "model/coverage.h"
#include "report/json.h"
#include "report/text.h"

/* percent: so much of the misses. 0 or -ENOMEM. */
int loci_coverage_table_text(
	const struct loci_coverage *coverage, unsigned percent, const struct loci_text *text);
/* One profile's object, as doc/coverage.schema.json describes it. */
void loci_coverage_table_json(
	const struct loci_coverage *coverage, unsigned percent, struct loci_json *json);

struct loci_rank_table {
	const struct loci_profile *truth, *other;
	uint64_t block_bytes;
	const struct loci_rank_row *row;
	size_t n;
};
int loci_rank_table_text(const struct loci_rank_table *table, const struct loci_text *text);
/* The document of doc/rank.schema.json. */
void loci_rank_table_json(const struct loci_rank_table *table, struct loci_json *json);

#endif
