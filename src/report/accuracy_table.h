/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far conversions from time distances are off on a profile whose stack distances are known. */
#ifndef LOCI_REPORT_ACCURACY_TABLE_H
#define LOCI_REPORT_ACCURACY_TABLE_H

#include "model/accuracy.h"
#include "report/json.h"
#include "report/text.h"

/* Rows of any number of block sizes. 0 or -ENOMEM. */
int loci_accuracy_table_text(
	const struct loci_accuracy_row *row, size_t n, const struct loci_text *text);
/* The rows as an array. */
void loci_accuracy_table_json(
	const struct loci_accuracy_row *row, size_t n, struct loci_json *json);

#endif
