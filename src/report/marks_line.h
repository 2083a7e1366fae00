/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program marked, in a line: its largest regions, and what it did wrong. */
#ifndef LOCI_REPORT_MARKS_LINE_H
#define LOCI_REPORT_MARKS_LINE_H

#include "profile/dimension.h"
#include "report/json.h"

/* "solve/smooth 61 %, assemble 20 %, 3 more": shares of the references, a region's own; "": none. A
 * profile whose tables cannot be read has none here: who reads them in earnest says why. */
const char *loci_regions_line(struct loci_profile *profile, char *buf, size_t size);
/* "region \"x\" ended that was not begun in this thread (3 times), ..". */
const char *loci_mistakes_line(struct loci_profile *profile, char *buf, size_t size);
/* Members "regions" (how many) and "mistakes". */
void loci_marks_json(struct loci_profile *profile, struct loci_json *json);

#endif
