// SPDX-License-Identifier: GPL-2.0-or-later
/* What the pieces of arrays met. */
#include "analyse/publish_state.h"

#include "base/cleanup.h"

#include <stdlib.h>

struct cut {
	const struct loci_ledger_object *object;
	int64_t object_id;
};

static int by_id(const void *left, const void *right)
{
	const struct cut *a = left, *b = right;

	return (a->object_id > b->object_id) - (a->object_id < b->object_id);
}

static int put_axis(struct loci_publication *p, const struct cut *cut, const char *axis,
	const struct loci_piece_cell *cell, uint64_t extent, uint32_t n, int64_t *id,
	struct loci_err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = loci_profile_put_piece(p->profile,
			&(struct loci_piece_row){ .id = ++*id,
				.object_id = cut->object_id,
				.axis = axis,
				.low = loci_piece_low(i, extent, n),
				.high = loci_piece_low(i + 1, extent, n),
				.block_bytes = p->options->block_bytes[0],
				.touches = cell[i].touches,
				.cold = cell[i].cold,
				.reuses = cell[i].reuses,
				.distance_blocks = cell[i].distance_blocks,
				.misses = cell[i].misses },
			err);
	return r;
}

/* Of heap blocks that differ in size the indexes are those of the largest. */
static int put_block(
	struct loci_publication *p, const struct cut *cut, int64_t *id, struct loci_err *err)
{
	const struct loci_ledger_object *object = cut->object;
	uint64_t element = object->shape.element_bytes ? object->shape.element_bytes
		: object->element                      ? loci_type_bytes(object->element)
						       : 0;

	if (element && object->size_bytes / element >= object->n_outer)
		return put_axis(p, cut, "index", object->cell, object->size_bytes / element,
			object->n_outer, id, err);
	return put_axis(p, cut, "byte", object->cell, object->size_bytes, object->n_outer, id, err);
}

static int put_array(
	struct loci_publication *p, const struct cut *cut, int64_t *id, struct loci_err *err)
{
	const struct loci_ledger_object *object = cut->object;
	const struct loci_object_shape *shape = &object->shape;
	int r;

	if (!shape->elements)
		return put_block(p, cut, id, err);
	if (!shape->inner)
		return put_axis(
			p, cut, "index", object->cell, shape->elements, object->n_outer, id, err);
	r = put_axis(p, cut, "outer", object->cell, shape->elements / shape->inner, object->n_outer,
		id, err);
	return r < 0 ? r
		     : put_axis(p, cut, "inner", object->cell + object->n_outer, shape->inner,
			       object->n_inner, id, err);
}

static bool is_touched(const struct loci_ledger_object *object)
{
	for (uint32_t i = 0; object->cell && i < object->n_outer; i++)
		if (object->cell[i].touches)
			return true;
	return false;
}

int loci_publish_pieces(struct loci_publication *p, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	loci_autofree struct cut *cut = calloc(ledger->n_objects + 1, sizeof(*cut));
	int64_t id = 0;
	size_t n = 0;
	int r = 0;

	if (!cut)
		return loci_err_nomem(err);
	for (size_t i = 0; i < ledger->n_objects; i++)
		if (p->object_id[i] && is_touched(&ledger->object[i]))
			cut[n++] = (struct cut){ &ledger->object[i], p->object_id[i] };
	qsort(cut, n, sizeof(*cut), by_id);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = put_array(p, &cut[i], &id, err);
	return r;
}
