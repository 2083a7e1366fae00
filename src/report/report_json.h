/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci report --json`, and the pieces that other commands' documents share. */
#ifndef LOCI_REPORT_JSON_PIECES_H
#define LOCI_REPORT_JSON_PIECES_H

#include "model/subject.h"
#include "report/json.h"

/* One profile's object, as doc/report.schema.json describes it. */
void loci_report_json(const struct loci_subject *subject, struct loci_json *json);

/* Its member "threads"; null where none share memory. */
void loci_report_json_threads(const struct loci_subject *subject, struct loci_json *json);

/* "blocks" and "bytes" of a size, null where no cache is large enough; bytes are null where the
 * unit is object. */
void loci_report_json_size(
	struct loci_json *json, const struct loci_subject *subject, double blocks);
/* "name", "size_bytes", "ways" and "line_bytes" of a level. */
void loci_report_json_cache(struct loci_json *json, const struct loci_cache *cache);
/* "hierarchy": the machine judged against, or null. */
void loci_report_json_machine(struct loci_json *json, const struct loci_subject *subject);

#endif
