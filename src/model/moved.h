/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What moved between two runs, by line, by object and by region. Sites are matched by their keys,
 * which survive rebuilding, and added up by the line they are on now; objects by kind, name and the
 * function that allocates or declares them, regions by their names and those around them. */
#ifndef LOCI_MODEL_MOVED_H
#define LOCI_MODEL_MOVED_H

#include "model/blame.h"
#include "model/compare.h"

struct loci_moved_row {
	/* The owner after, and before; NULL: it was not there. Rows of lines, of objects, or of
	 * regions. */
	const struct loci_blame_row *row[2];
	struct loci_change misses;
	struct loci_blame_detail detail[2];
};

struct loci_moved {
	struct loci_catalogue catalogue[2]; /* before, after */
	struct loci_cache cache;            /* whose misses */
	bool is_estimate;
	struct loci_blame *lines[2], *objects[2], *regions[2];
	struct loci_moved_row *line, *object, *region; /* the largest moves first */
	size_t n_lines, n_objects, n_regions;
};

/* Both runs must have sites and a level in common, else 0 with nothing in it. At most max_rows
 * each, none of less than a thousandth of the misses. Subjects are borrowed. */
int loci_moved_new(const struct loci_subject *before, const struct loci_subject *after,
	size_t max_rows, struct loci_moved *ret, struct loci_err *err);
void loci_moved_fini(struct loci_moved *moved);

#endif
