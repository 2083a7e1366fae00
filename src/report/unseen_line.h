/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of code that nothing was recorded of, in a line and as JSON. */
#ifndef LOCI_REPORT_UNSEEN_LINE_H
#define LOCI_REPORT_UNSEEN_LINE_H

#include "profile/profile.h"
#include "report/json.h"

/* "libm.so.6 1.2 M, libc.so.6 3.4 k", the most first, and how many more there are; "" if none.
 * Returns buf. */
const char *loci_unseen_line(const struct loci_profile *profile, char *buf, size_t size);
/* The member "unseen" of the object at hand: all libraries. */
void loci_unseen_json(const struct loci_profile *profile, struct loci_json *json);

#endif
