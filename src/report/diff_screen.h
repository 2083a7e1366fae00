/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci diff`: two runs side by side, as text and as JSON. */
#ifndef LOCI_REPORT_DIFF_SCREEN_H
#define LOCI_REPORT_DIFF_SCREEN_H

#include "model/compare.h"
#include "model/criterion.h"
#include "model/moved.h"
#include "model/op_counts.h"
#include "model/sharing_moved.h"
#include "report/json.h"
#include "report/text.h"

/* One or two sentences: better, worse, mixed or the same, and why. Returns buf. */
const char *loci_diff_verdict(const struct loci_compare *compare, char *buf, size_t size);

int loci_diff_screen(
	const struct loci_compare *compare, const struct loci_text *text, struct loci_err *err);
/* The part of the screen that shows the bins. */
void loci_diff_histogram(const struct loci_compare *compare, const struct loci_text *text);

/* Below it: lines and objects; nothing where they are not known. */
int loci_diff_moved(
	const struct loci_moved *moved, const struct loci_text *text, struct loci_err *err);
/* "lines" and "objects" of the document. */
void loci_diff_moved_json(const struct loci_moved *moved, struct loci_json *json);

/* What threads take from each other; nothing where neither run has any that share memory. */
int loci_diff_sharing(
	const struct loci_sharing_moved *moved, const struct loci_text *text, struct loci_err *err);
/* "sharing" of the document. */
void loci_diff_sharing_json(const struct loci_sharing_moved *moved, struct loci_json *json);

/* Why a criterion fired: "llc-misses went from 1.2 M to 1.5 M, +25 %". Returns buf. */
const char *loci_diff_reason(const struct loci_criterion *criterion,
	const struct loci_criterion_result *result, char *buf, size_t size);

/* A member: before, after, relative. */
void loci_diff_change(struct loci_json *json, const char *key, struct loci_change change);

/* The document of doc/diff.schema.json. Without operations of both, NULL. */
void loci_diff_json(const struct loci_compare *compare, const struct loci_moved *moved,
	const struct loci_sharing_moved *sharing, const struct loci_ops *before,
	const struct loci_ops *after, const struct loci_criterion *criteria,
	const struct loci_criterion_result *results, size_t n_criteria, struct loci_json *json);

#endif
