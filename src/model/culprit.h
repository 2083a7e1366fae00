/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line that most misses of the first cache are made at, and the object it walks; and code whose
 * lines nobody knows. */
#ifndef LOCI_MODEL_CULPRIT_H
#define LOCI_MODEL_CULPRIT_H

#include "model/blame.h"

struct loci_culprit {
	bool is_known; /* sites were recorded, and misses are worth a word */
	struct loci_catalogue catalogue;
	struct loci_cache cache;
	bool of_elements; /* it holds elements, not lines: see loci_blame_levels() */
	double ratio;     /* misses of all touches */
	double share;     /* of those misses, at the worst line */
	const struct loci_site_row *site;
	const struct loci_object_row *object; /* NULL: unknown */
	struct loci_blame_detail detail;
	size_t n_most; /* lines that make 90 % of the misses; 0: all make less */
};

/* A profile without sites, or a machine unknown, has none: 0 all the same. */
int loci_culprit_find(
	const struct loci_subject *subject, struct loci_culprit *ret, struct loci_err *err);

/* Misses in code without lines, by the module that has the most of them. */
struct loci_unlined {
	const struct loci_module_row *module; /* NULL: unknown */
	double share;                         /* of all misses, in this module .. */
	double all;                           /* .. and in all */
};
/* sites: a blame of sites. */
void loci_unlined_find(const struct loci_blame *sites, struct loci_unlined *ret);

#endif
