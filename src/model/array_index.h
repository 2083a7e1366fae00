/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which parts of arrays are far apart: the pieces that a profile has of each array, by axis, and
 * ranges of neighbours that are alike.
 *
 * How far apart a part is is the mean stack distance of the reuses that end there: how many other
 * bytes, in blocks, were touched since the use before. First touches have none. */
#ifndef LOCI_MODEL_ARRAY_INDEX_H
#define LOCI_MODEL_ARRAY_INDEX_H

#include "model/catalogue.h"

struct loci_index_range {
	uint64_t low, high; /* holds low <= index < high */
	uint64_t touches, cold, reuses, distance_blocks, misses;
};

struct loci_index_axis {
	const char *name; /* index, outer, inner, byte */
	uint64_t block_bytes;
	struct loci_index_range *piece, *range;
	size_t n_pieces, n_ranges;
};

#define LOCI_INDEX_AXES 2

struct loci_index_array {
	const struct loci_object_row *object;
	struct loci_index_axis axis[LOCI_INDEX_AXES];
	unsigned n_axes;
	struct loci_index_range all; /* of one axis */
};

struct loci_array_index {
	struct loci_index_array *array; /* by misses, then by the sum of their distances */
	size_t n;
	struct loci_index_range *store;
};

/* wanted: the name of the objects to take, or NULL. */
int loci_array_index_new(const struct loci_catalogue *catalogue, const char *wanted,
	struct loci_array_index *ret, struct loci_err *err);
void loci_array_index_fini(struct loci_array_index *index);

/* Negative: nothing was reused. */
double loci_index_distance(const struct loci_index_range *range);

#endif
