/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict in words. */
#ifndef LOCI_REPORT_VERDICT_H
#define LOCI_REPORT_VERDICT_H

#include "base/units.h"
#include "model/verdict.h"

#include <stddef.h>

/* A size in blocks as the subject's unit has it: "12 MiB", "1.2 M objects". Spaces inside do not
 * break. */
const char *loci_report_size(
	char buf[LOCI_UNITS_MAX + 16], const struct loci_subject *subject, double blocks);
/* The same in a table that says objects once, with plain spaces: "12 MiB", "1.2 M". */
const char *loci_report_cell(
	char buf[LOCI_UNITS_MAX], const struct loci_subject *subject, double blocks);
/* "64-byte blocks", "4 KiB blocks", "objects". */
const char *loci_report_blocks(char buf[LOCI_UNITS_MAX + 16], const struct loci_subject *subject);
/* What the subject counts: "references", or "requests" where the unit is object. */
const char *loci_report_noun(const struct loci_subject *subject);

/* One to three sentences; where sites were recorded the first names the worst line and its object.
 * Returns buf, at least 640 bytes. */
const char *loci_report_verdict(const struct loci_subject *subject,
	const struct loci_verdict *verdict, char *buf, size_t size);
/* A sentence on what fits where: the first of a verdict that names no line. Returns buf, at least
 * 640 bytes. */
const char *loci_report_fit(const struct loci_subject *subject, const struct loci_verdict *verdict,
	char *buf, size_t size);
/* "4 KiB (49 %), 52 KiB (50 %)", or why there are none. Returns buf, at least 640 bytes. */
const char *loci_report_knees(const struct loci_subject *subject,
	const struct loci_verdict *verdict, char *buf, size_t size);

#endif
