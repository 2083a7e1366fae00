// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/array_index.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define ALIKE 2. /* mean distances of one range are at most so many times apart */

double loci_index_distance(const struct loci_index_range *range)
{
	return range->reuses ? (double)range->distance_blocks / (double)range->reuses : -1;
}

static void add(struct loci_index_range *to, const struct loci_index_range *from)
{
	to->touches += from->touches;
	to->cold += from->cold;
	to->reuses += from->reuses;
	to->distance_blocks += from->distance_blocks;
	to->misses += from->misses;
}

/* Neighbours are alike where neither is touched, neither is reused, or both are about as far apart;
 * a block is added so that near ones are near. */
static bool is_alike(const struct loci_index_range *a, const struct loci_index_range *b)
{
	double x = loci_index_distance(a) + 1, y = loci_index_distance(b) + 1;

	if (!a->touches || !b->touches)
		return !a->touches && !b->touches;
	if (!a->reuses || !b->reuses)
		return !a->reuses && !b->reuses;
	x++;
	y++;
	return x <= ALIKE * y && y <= ALIKE * x;
}

static void find_ranges(struct loci_index_axis *axis)
{
	for (size_t i = 0; i < axis->n_pieces; i++) {
		struct loci_index_range *last = axis->range + axis->n_ranges - 1;

		if (axis->n_ranges && last->high == axis->piece[i].low &&
			is_alike(last, &axis->piece[i])) {
			last->high = axis->piece[i].high;
			add(last, &axis->piece[i]);
		} else {
			axis->range[axis->n_ranges++] = axis->piece[i];
		}
	}
}

static int compare_pieces(const void *left, const void *right)
{
	const struct loci_piece_row *a = *(const struct loci_piece_row *const *)left;
	const struct loci_piece_row *b = *(const struct loci_piece_row *const *)right;
	int order;

	if (a->object_id != b->object_id)
		return a->object_id < b->object_id ? -1 : 1;
	order = strcmp(b->axis, a->axis); /* outer before inner */
	if (order)
		return order;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->high > b->high) - (a->high < b->high);
}

static int compare_arrays(const void *left, const void *right)
{
	const struct loci_index_array *a = left, *b = right;

	if (a->all.misses != b->all.misses)
		return a->all.misses > b->all.misses ? -1 : 1;
	if (a->all.distance_blocks != b->all.distance_blocks)
		return a->all.distance_blocks > b->all.distance_blocks ? -1 : 1;
	return (a->object->id > b->object->id) - (a->object->id < b->object->id);
}

/* The pieces, of which those of an axis are side by side, become arrays. */
static void group(const struct loci_catalogue *c, const struct loci_piece_row **piece, size_t n,
	struct loci_array_index *ret)
{
	struct loci_index_array *array = NULL;
	struct loci_index_axis *axis = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct loci_piece_row *row = piece[i];
		struct loci_index_range *to = ret->store + i;

		if (!i || row->object_id != piece[i - 1]->object_id) {
			array = &ret->array[ret->n++];
			array->object = loci_catalogue_find_object(c, row->object_id);
			axis = NULL;
		}
		if (!axis || strcmp(axis->name, row->axis) != 0) {
			if (array->n_axes == LOCI_INDEX_AXES)
				continue; /* nobody writes more */
			axis = &array->axis[array->n_axes++];
			*axis = (struct loci_index_axis){ .name = row->axis,
				.block_bytes = row->block_bytes,
				.piece = to,
				.range = ret->store + n + i };
		}
		*to = (struct loci_index_range){ row->low, row->high, row->touches, row->cold,
			row->reuses, row->distance_blocks, row->misses };
		axis->n_pieces++;
		if (array->n_axes == 1)
			add(&array->all, to);
	}
	for (size_t i = 0; i < ret->n; i++)
		for (unsigned k = 0; k < ret->array[i].n_axes; k++)
			find_ranges(&ret->array[i].axis[k]);
}

int loci_array_index_new(const struct loci_catalogue *c, const char *wanted,
	struct loci_array_index *ret, struct loci_err *err)
{
	loci_autofree const struct loci_piece_row **piece = calloc(c->n_piece + 1, sizeof(*piece));
	size_t n = 0;

	*ret = (struct loci_array_index){ .array = calloc(c->n_piece + 1, sizeof(*ret->array)),
		.store = calloc(2 * c->n_piece + 1, sizeof(*ret->store)) };
	if (!piece || !ret->array || !ret->store) {
		loci_array_index_fini(ret);
		return loci_err_nomem(err);
	}
	for (size_t i = 0; i < c->n_piece; i++) {
		const struct loci_object_row *object =
			loci_catalogue_find_object(c, c->piece[i].object_id);

		if (object && (!wanted || (object->name && !strcmp(object->name, wanted))))
			piece[n++] = &c->piece[i];
	}
	qsort(piece, n, sizeof(*piece), compare_pieces);
	group(c, piece, n, ret);
	if (ret->n)
		qsort(ret->array, ret->n, sizeof(*ret->array), compare_arrays);
	return 0;
}

void loci_array_index_fini(struct loci_array_index *index)
{
	free(index->array);
	free(index->store);
	*index = (struct loci_array_index){ 0 };
}
