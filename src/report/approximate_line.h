/* SPDX-License-Identifier: GPL-2.0-or-later */
/* That numbers are an approximation, and what they leave out, wherever they are shown. */
#ifndef LOCI_REPORT_APPROXIMATE_LINE_H
#define LOCI_REPORT_APPROXIMATE_LINE_H

#include "profile/profile.h"
#include "report/json.h"
#include "report/text.h"

/* What stands where all references were seen and counted: "exact", or "approximate". */
const char *loci_approximate_word(const struct loci_run *run);
/* A paragraph, if it is one. */
void loci_approximate_text(const struct loci_run *run, const struct loci_text *text);
/* The member "approximate" of the object at hand: the same words, or null. */
void loci_approximate_json(const struct loci_run *run, struct loci_json *json);

#endif
