/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole profile in other programs' formats. Errors of out are left for the caller to find with
 * ferror; the functions fail only where the profile does. */
#ifndef LOCI_REPORT_EXPORT_H
#define LOCI_REPORT_EXPORT_H

#include "profile/profile.h"

#include <stdio.h>

#define LOCI_EXPORT_VERSION 1 /* of both formats; members and columns are only ever added */

/* One object, as doc/profile.schema.json describes it. */
int loci_export_json(struct loci_profile *profile, FILE *out, struct loci_err *err);
/* The histograms as one table, a line per bin: RFC 4180, but lines end in a bare LF. */
int loci_export_csv(struct loci_profile *profile, FILE *out, struct loci_err *err);

#endif
