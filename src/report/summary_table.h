/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci summary`: one row per profile. Rows are taken as subjects come, so that no more than one
 * profile need be open at a time. */
#ifndef LOCI_REPORT_SUMMARY_TABLE_H
#define LOCI_REPORT_SUMMARY_TABLE_H

#include "model/subject.h"
#include "report/json.h"
#include "report/table.h"

#define LOCI_SUMMARY_PERCENTS 4
extern const unsigned loci_summary_percents[LOCI_SUMMARY_PERCENTS]; /* 70, 80, 90, 95 */

void loci_summary_begin(struct loci_table *table);
void loci_summary_add(struct loci_table *table, const struct loci_subject *subject);
/* Prints and frees the table. */
int loci_summary_end(struct loci_table *table, const struct loci_text *text, struct loci_err *err);

/* One row's object, as doc/summary.schema.json describes it. */
void loci_summary_json(const struct loci_subject *subject, struct loci_json *json);

#endif
