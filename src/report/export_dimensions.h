/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of an export that says what is known of code and data. */
#ifndef LOCI_REPORT_EXPORT_DIMENSIONS_H
#define LOCI_REPORT_EXPORT_DIMENSIONS_H

#include "profile/profile.h"
#include "report/json.h"

/* Members of the object that json is in, an array for each table. */
int loci_export_dimensions(
	struct loci_json *json, struct loci_profile *profile, struct loci_err *err);

#endif
