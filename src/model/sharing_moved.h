/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads take from each other, in two runs. Cases are matched by kind and by the names of the
 * data: lines move when data is padded, names do not. */
#ifndef LOCI_MODEL_SHARING_MOVED_H
#define LOCI_MODEL_SHARING_MOVED_H

#include "model/compare.h"
#include "model/sharing.h"

struct loci_sharing_move {
	unsigned side;                       /* of the case: 0 before, 1 after */
	const struct loci_sharing_case *one; /* that stands for it */
	struct loci_change misses;
};

struct loci_sharing_moved {
	struct loci_sharing sharing[2]; /* before, after */
	bool is_known;                  /* either run had threads that share memory */
	struct loci_change true_sharing, false_sharing, remote;
	struct loci_sharing_move *row; /* the largest moves first; none that did not move */
	size_t n_rows;
};

int loci_sharing_moved_new(struct loci_profile *before, struct loci_profile *after,
	uint64_t block_bytes, size_t max_rows, struct loci_sharing_moved *ret,
	struct loci_err *err);
void loci_sharing_moved_fini(struct loci_sharing_moved *moved);

#endif
