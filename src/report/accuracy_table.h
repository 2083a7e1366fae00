/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci diff --accuracy`: how well one profile's distances stand for another's. */
#ifndef LOCI_REPORT_ACCURACY_TABLE_H
#define LOCI_REPORT_ACCURACY_TABLE_H

#include "model/accuracy.h"
#include "report/json.h"
#include "report/text.h"

struct loci_accuracy_table {
	const struct loci_profile *truth, *other;
	uint64_t block_bytes;
	const struct loci_accuracy_pair *row;
	size_t n;
};

/* 0 or -ENOMEM. */
int loci_accuracy_table_text(const struct loci_accuracy_table *table, const struct loci_text *text);
/* The document of doc/accuracy.schema.json. */
void loci_accuracy_table_json(const struct loci_accuracy_table *table, struct loci_json *json);

#endif
