/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci ops`: what a program computes and moves, as text, JSON and CSV. */
#ifndef LOCI_REPORT_OPS_SCREEN_H
#define LOCI_REPORT_OPS_SCREEN_H

#include "model/op_counts.h"
#include "report/json.h"
#include "report/text.h"

/* One or two sentences: bytes per flop, share vectorised. Returns buf. */
const char *loci_ops_verdict(const struct loci_ops_sum *sum, char *buf, size_t size);

/* The whole program. */
int loci_ops_screen(const struct loci_ops *ops, const struct loci_text *text, struct loci_err *err);
/* One level; max_rows of it. */
int loci_ops_table(const struct loci_ops *ops, enum loci_ops_level level, size_t max_rows,
	const struct loci_text *text, struct loci_err *err);
/* ops_table.c: whose row it is. Returns buf. */
const char *loci_ops_row_name(const struct loci_ops *ops, enum loci_ops_level level,
	const struct loci_ops_row *row, char *buf, size_t size);

/* One profile's object, as doc/ops.schema.json describes it; by LOCI_OPS_LEVELS: the whole alone.
 */
int loci_ops_json(const struct loci_ops *ops, enum loci_ops_level by, struct loci_json *json,
	struct loci_err *err);
/* The figures of a sum, as members. */
void loci_ops_sum_json(const struct loci_ops_sum *sum, bool has_ranges, struct loci_json *json);
/* A line of titles and one for each row of the level, all of them; the whole: a line for each
 * figure. */
int loci_ops_csv(
	const struct loci_ops *ops, enum loci_ops_level by, FILE *out, struct loci_err *err);

/* Of `loci diff`: what moved, if anything. */
int loci_ops_moved(const struct loci_ops *before, const struct loci_ops *after,
	const struct loci_text *text, struct loci_err *err);
/* .. and all figures, as "operations" of its document; NULL: one of both has none. */
void loci_ops_moved_json(
	const struct loci_ops *before, const struct loci_ops *after, struct loci_json *json);

/* The figures that all forms give, by name, in order. */
struct loci_ops_figure {
	const char *name; /* of JSON and CSV */
	double value;     /* NAN: there is none */
};
#define LOCI_OPS_FIGURES 32
size_t loci_ops_figures(const struct loci_ops_sum *sum, bool has_ranges,
	struct loci_ops_figure figure[LOCI_OPS_FIGURES]);

#endif
