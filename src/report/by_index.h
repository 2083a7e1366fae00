/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci report --by index`: which parts of arrays are far apart, as text and as JSON. */
#ifndef LOCI_REPORT_BY_INDEX_H
#define LOCI_REPORT_BY_INDEX_H

#include "model/array_index.h"
#include "model/subject.h"
#include "report/json.h"
#include "report/text.h"

struct loci_by_index {
	const struct loci_subject *subject;
	const struct loci_catalogue *catalogue;
	const struct loci_array_index *index;
	size_t max_arrays; /* SIZE_MAX: all */
};

int loci_by_index(
	const struct loci_by_index *by, const struct loci_text *text, struct loci_err *err);
/* One profile's object, as doc/index.schema.json describes it. */
void loci_by_index_json(const struct loci_by_index *by, struct loci_json *json);

#endif
