/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the viewer's document: tables by column, and histograms. A row that another names is
 * named by its place among those shown, -1 where there is none. doc/viewer.md describes them. */
#ifndef LOCI_REPORT_VIEW_TABLES_H
#define LOCI_REPORT_VIEW_TABLES_H

#include "model/shown.h"
#include "report/json.h"

/* Members for code, data, contexts and pairs. */
int loci_view_tables(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err);
/* Members for threads, regions, phases and the caches named at record time. */
int loci_view_stages(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err);

/* Members for what threads take from each other. */
int loci_view_threads(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err);
/* Member "coherence" of one owner: what it met of others, or null. */
void loci_view_met_of_others(
	const struct loci_shown *shown, enum loci_owner owner, int64_t id, struct loci_json *json);

/* One histogram as an object. */
void loci_view_hist(const struct loci_hist *hist, struct loci_json *json);
/* Member "histograms": those of the whole run, every distance and number of sets. */
int loci_view_hists(struct loci_profile *profile, struct loci_json *json, struct loci_err *err);
/* Member "histogram" of a table: the coarse ones of the rows that are shown, as columns. */
int loci_view_owner_hists(const struct loci_shown *shown, enum loci_owner owner,
	const struct loci_shown_table *table, const void *rows, size_t row_bytes,
	struct loci_json *json, struct loci_err *err);

#endif
