// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/sharing_moved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CASES 256 /* of either run: those beyond are not looked at */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_side(const struct loci_sharing_side *a, const struct loci_sharing_side *b)
{
	return same_text(a->object ? a->object->name : NULL, b->object ? b->object->name : NULL) &&
		same_text(a->field ? a->field->name : NULL, b->field ? b->field->name : NULL);
}

/* Whichever of the two wrote. */
static bool same_data(const struct loci_sharing_case *a, const struct loci_sharing_case *b)
{
	return a->is_false == b->is_false &&
		((same_side(&a->writer, &b->writer) && same_side(&a->misser, &b->misser)) ||
			(same_side(&a->writer, &b->misser) && same_side(&a->misser, &b->writer)));
}

static double misses_of(const struct loci_sharing *sharing, const struct loci_sharing_case *one)
{
	double misses = 0;

	for (size_t i = 0; i < sharing->n_rows; i++)
		if (same_data(&sharing->row[i], one))
			misses += (double)sharing->row[i].misses;
	return misses;
}

static bool is_known(const struct loci_sharing_moved *moved, const struct loci_sharing_case *one)
{
	for (size_t i = 0; i < moved->n_rows; i++)
		if (same_data(moved->row[i].one, one))
			return true;
	return false;
}

static int compare_moves(const void *a, const void *b)
{
	const struct loci_sharing_move *x = a, *y = b;
	double p = fabs(x->misses.after - x->misses.before);
	double q = fabs(y->misses.after - y->misses.before);

	return p > q ? -1 : p < q;
}

static struct loci_change change_of(
	const struct loci_sharing_moved *moved, uint64_t (*get)(const struct loci_coherence_row *))
{
	const struct loci_coherence_row *before = moved->sharing[0].whole;
	const struct loci_coherence_row *after = moved->sharing[1].whole;

	return (struct loci_change){ before ? (double)get(before) : 0,
		after ? (double)get(after) : 0 };
}

static uint64_t get_true(const struct loci_coherence_row *row)
{
	return row->true_sharing;
}

static uint64_t get_false(const struct loci_coherence_row *row)
{
	return row->false_sharing;
}

static uint64_t get_remote(const struct loci_coherence_row *row)
{
	return row->remote;
}

int loci_sharing_moved_new(struct loci_profile *before, struct loci_profile *after,
	uint64_t block_bytes, size_t max_rows, struct loci_sharing_moved *ret, struct loci_err *err)
{
	struct loci_profile *profile[2] = { before, after };
	size_t kept = 0;

	*ret = (struct loci_sharing_moved){ 0 };
	ret->row = calloc(2 * CASES + 1, sizeof(*ret->row));
	for (unsigned side = 0; side < 2; side++) {
		int r = ret->row
			? loci_sharing_new(profile[side], block_bytes, &ret->sharing[side], err)
			: loci_err_nomem(err);

		if (r < 0) {
			loci_sharing_moved_fini(ret);
			return r;
		}
	}
	ret->is_known = ret->sharing[0].whole || ret->sharing[1].whole;
	ret->true_sharing = change_of(ret, get_true);
	ret->false_sharing = change_of(ret, get_false);
	ret->remote = change_of(ret, get_remote);
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < ret->sharing[side].n_rows && i < CASES; i++) {
			const struct loci_sharing_case *one = &ret->sharing[side].row[i];

			if (!is_known(ret, one))
				ret->row[ret->n_rows++] = (struct loci_sharing_move){ side, one,
					{ misses_of(&ret->sharing[0], one),
						misses_of(&ret->sharing[1], one) } };
		}
	qsort(ret->row, ret->n_rows, sizeof(*ret->row), compare_moves);
	while (kept < ret->n_rows && kept < max_rows &&
		ret->row[kept].misses.before != ret->row[kept].misses.after)
		kept++;
	ret->n_rows = kept;
	return 0;
}

void loci_sharing_moved_fini(struct loci_sharing_moved *moved)
{
	loci_sharing_fini(&moved->sharing[0]);
	loci_sharing_fini(&moved->sharing[1]);
	free(moved->row);
	moved->row = NULL;
	moved->n_rows = 0;
}
