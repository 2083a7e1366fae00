/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci cache --model`: what the model of Anger et al. says of a hierarchy. */
#ifndef LOCI_REPORT_ANGER_TABLE_H
#define LOCI_REPORT_ANGER_TABLE_H

#include "model/anger_profile.h"
#include "report/json.h"
#include "report/text.h"

/* 0 or -ENOMEM. */
int loci_anger_table_text(const struct loci_anger_result *result,
	const struct loci_profile *profile, const struct loci_text *text);
/* "model" and its members. */
void loci_anger_table_json(const struct loci_anger_result *result, struct loci_json *json);

#endif
