/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci report --by sharing`: what threads take from each other, as text and as JSON. */
#ifndef LOCI_REPORT_SHARING_TABLE_H
#define LOCI_REPORT_SHARING_TABLE_H

#include "model/sharing.h"
#include "model/subject.h"
#include "report/json.h"
#include "report/text.h"

struct loci_sharing_table {
	const struct loci_subject *subject;
	const struct loci_sharing *sharing;
	size_t max_rows;
};

int loci_sharing_table(
	const struct loci_sharing_table *table, const struct loci_text *text, struct loci_err *err);
/* The first rows alone. 0 or -ENOMEM. */
int loci_sharing_rows(
	const struct loci_sharing *sharing, size_t n_rows, const struct loci_text *text);
/* One profile's object, as doc/sharing.schema.json describes it. */
void loci_sharing_table_json(const struct loci_sharing_table *table, struct loci_json *json);
/* The rows as an array. */
void loci_sharing_rows_json(
	const struct loci_sharing *sharing, size_t n_rows, struct loci_json *json);
/* The whole run's members: touches, misses, blocks. */
void loci_sharing_totals_json(const struct loci_sharing *sharing, struct loci_json *json);

/* "38 misses (12.7 % of touches) of what another thread wrote: .." Returns buf. */
const char *loci_sharing_words(const struct loci_sharing *sharing, char *buf, size_t size);
/* "x", "x.a and x.b", "x and y", or "memory". Returns buf. */
const char *loci_sharing_data(const struct loci_sharing *sharing,
	const struct loci_sharing_case *row, char *buf, size_t size);
/* What to do about it, a sentence without its full stop. Returns buf. */
const char *loci_sharing_advice(const struct loci_sharing *sharing,
	const struct loci_sharing_case *row, char *buf, size_t size);

#endif
