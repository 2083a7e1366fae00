/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The viewer: one self-contained page of what profiles say. The page itself, code and style, is
 * made of web/ when loci is built; what is added here is the data, a JSON document that is
 * compressed and written in letters that no page can take for markup. doc/viewer.md describes it.
 */
#ifndef LOCI_REPORT_VIEW_PAGE_H
#define LOCI_REPORT_VIEW_PAGE_H

#include "model/subject.h"

#include <stdio.h>

struct loci_view_profile {
	struct loci_profile *profile;
	/* NULL: it holds no distances, but operations. */
	const struct loci_subject *subject;
};

/* The first profile is the one that the others are compared with. Errors of out are left for the
 * caller to find. */
int loci_view_page(
	const struct loci_view_profile *profile, size_t n, FILE *out, struct loci_err *err);
/* Its data alone, as JSON. */
int loci_view_json(
	const struct loci_view_profile *profile, size_t n, FILE *out, struct loci_err *err);

#endif
