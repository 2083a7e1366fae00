/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `loci report` is asked, and the tables that it shows instead of its screen. */
#ifndef LOCI_CLI_REPORT_PART_H
#define LOCI_CLI_REPORT_PART_H

#include "cli/coverage_args.h"
#include "cli/open.h"
#include "model/blame.h"
#include "report/json.h"
#include "report/text.h"

struct loci_report_ask {
	struct loci_aim aim;
	bool as_json, no_colour;
	bool is_by, is_index, is_sharing;
	const char *object;
	const char *only_by; /* an option given that makes sense with --by alone */
	enum loci_blame_kind kind;
	enum loci_blame_sort sort;
	const char *level;
	size_t max_rows;
	double min_share;
	const char *cache;        /* as given */
	unsigned coverage;        /* percent; 0: not asked for */
	const char *only_covered; /* an option given that makes sense with --coverage alone */
	bool is_private, is_shared;
	struct loci_coverage_args covered;
};

/* Each shows one profile, as text or, with as_json, into the document begun. */
int loci_report_by(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err);
int loci_report_index(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err);
int loci_report_sharing(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err);
int loci_report_coverage(const struct loci_report_ask *report, const struct loci_subject *subject,
	const struct loci_text *text, struct loci_json *json, struct loci_err *err);

#endif
