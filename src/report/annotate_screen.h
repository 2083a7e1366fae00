/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci annotate`: source with a margin of misses, as text and as JSON. */
#ifndef LOCI_REPORT_ANNOTATE_SCREEN_H
#define LOCI_REPORT_ANNOTATE_SCREEN_H

#include "model/listing.h"
#include "report/json.h"
#include "report/text.h"

/* One listing after the other. */
int loci_annotate_screen(const struct loci_subject *subject, const struct loci_listings *listings,
	const struct loci_text *text, struct loci_err *err);
/* The document of doc/annotate.schema.json. */
void loci_annotate_json(const struct loci_subject *subject, const struct loci_listings *listings,
	struct loci_json *json);

#endif
