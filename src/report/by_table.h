/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci report --by`: one kind of owner, the worst first, as text and as JSON. */
#ifndef LOCI_REPORT_BY_TABLE_H
#define LOCI_REPORT_BY_TABLE_H

#include "model/blame.h"
#include "model/context_tree.h"
#include "report/json.h"
#include "report/text.h"

struct loci_by {
	const struct loci_subject *subject;
	struct loci_blame *blame;
	enum loci_blame_sort sort;
	size_t max_rows;  /* SIZE_MAX: all */
	double min_share; /* of the tree of contexts */
};

/* The first rows alone. title: of the first column, or NULL. */
int loci_by_rows(struct loci_blame *blame, const char *title, size_t n_rows,
	const struct loci_text *text, struct loci_err *err);
int loci_by_table(const struct loci_by *by, const struct loci_text *text, struct loci_err *err);
/* One profile's object, as doc/by.schema.json describes it. */
int loci_by_json(const struct loci_by *by, struct loci_json *json, struct loci_err *err);

/* The tree of contexts. */
int loci_by_contexts(const struct loci_by *by, const struct loci_text *text, struct loci_err *err);
int loci_by_contexts_json(const struct loci_by *by, struct loci_json *json, struct loci_err *err);

/* The first line: which run, which cache, how many misses. */
void loci_by_head(const struct loci_by *by, const struct loci_text *text);
/* How few owners make most of the misses, and what has no owner. */
void loci_by_coverage(const struct loci_blame *blame, const struct loci_text *text);

/* Cells that other tables share. */
/* "51 KiB", "cold", "shared", "conflict", or "". */
const char *loci_by_distance(const struct loci_blame *blame, const struct loci_blame_detail *detail,
	char buf[LOCI_TEXT_NUMBER + 8]);
/* "stride 6400 B", "92 % by 8 B", "in place", "irregular", or "". */
const char *loci_by_access(const struct loci_blame_detail *detail, char buf[LOCI_TEXT_NUMBER + 16]);
/* What a cause is called in JSON. */
const char *loci_by_cause(enum loci_blame_cause cause);
/* The members of one row's object in JSON. */
int loci_by_json_row(struct loci_blame *blame, const struct loci_blame_row *row,
	struct loci_json *json, struct loci_err *err);

#endif
