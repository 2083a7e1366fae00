/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci report`: one screen about one profile. */
#ifndef LOCI_REPORT_SCREEN_H
#define LOCI_REPORT_SCREEN_H

#include "model/verdict.h"
#include "report/text.h"

/* What the parts of the screen share. */
struct loci_screen {
	const struct loci_subject *subject;
	const struct loci_text *text;
	struct loci_verdict verdict;
};

int loci_report_screen(
	const struct loci_subject *subject, const struct loci_text *text, struct loci_err *err);

/* The parts. */
void loci_screen_header(const struct loci_screen *screen);
void loci_screen_histogram(const struct loci_screen *screen);
void loci_screen_curve(const struct loci_screen *screen);
int loci_screen_levels(const struct loci_screen *screen);
/* Threads and what they share; nothing where none share memory. */
int loci_screen_threads(const struct loci_screen *screen, struct loci_err *err);
/* The worst lines and pairs; nothing where none were recorded. *ret_wanted, LOCI_SCREEN_WANTED
 * bytes: what to annotate next, or "". */
#define LOCI_SCREEN_WANTED 64
int loci_screen_blame(const struct loci_screen *screen, char *ret_wanted, struct loci_err *err);

/* A level as a line across a histogram, its size under the rows' labels: "L1 ─ 48 KiB ────". */
void loci_screen_rule(const struct loci_text *text, const struct loci_subject *subject,
	const struct loci_cache *level, unsigned label_cells);

#endif
