// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/piece.h"

#include "analyse/grow.h"

int loci_pieces_new(const struct loci_objects *objects, uint64_t block_bytes,
	struct loci_pieces **ret, struct loci_err *err)
{
	struct loci_pieces *pieces = calloc(1, sizeof(*pieces));

	*ret = pieces;
	if (!pieces)
		return loci_err_nomem(err);
	pieces->objects = objects;
	pieces->block_bytes = block_bytes;
	pieces->n_cells = LOCI_NO_CELL + 1;
	return 0;
}

void loci_pieces_free(struct loci_pieces *pieces)
{
	if (!pieces)
		return;
	free(pieces->object);
	free(pieces->site);
	free(pieces);
}

/* Pieces of an extent whose units have so many bytes. */
static uint32_t pieces_of(const struct loci_pieces *pieces, uint64_t extent, uint64_t bytes)
{
	uint64_t n = bytes < pieces->block_bytes ? extent / (pieces->block_bytes / bytes) : extent;

	return n > LOCI_PIECES ? LOCI_PIECES : n ? (uint32_t)n : 1;
}

static bool is_large(const struct loci_pieces *pieces, uint64_t bytes)
{
	return bytes / LOCI_PIECES >= pieces->block_bytes;
}

/* Decides how an object is cut, when it is first met with enough bytes to be. */
static void cut(struct loci_pieces *pieces, uint32_t number, uint64_t whole_bytes)
{
	struct loci_piece_object *object = &pieces->object[number];
	struct loci_object_shape *shape = &object->shape;

	if (!loci_objects_shape(pieces->objects, number, shape)) {
		object->asked = true;
		return;
	}
	if (!shape->elements && !is_large(pieces, whole_bytes))
		return;
	object->asked = true;
	if (!shape->elements) {
		object->n_outer = LOCI_PIECES;
	} else if (!shape->inner || shape->elements % shape->inner) {
		shape->inner = 0;
		object->n_outer = pieces_of(pieces, shape->elements, shape->element_bytes);
	} else {
		object->n_outer = pieces_of(pieces, shape->elements / shape->inner,
			shape->inner * shape->element_bytes);
		object->n_inner = pieces_of(pieces, shape->inner, shape->element_bytes);
	}
	object->first = pieces->n_cells;
	pieces->n_cells += object->n_outer + object->n_inner;
}

int loci_pieces_move(struct loci_pieces *pieces, uint32_t site, const struct loci_object_hit *hit)
{
	uint64_t whole_bytes;

	if (loci_grow(&pieces->site, &pieces->site_cap, site + 1ul, sizeof(*pieces->site)) < 0 ||
		loci_grow(&pieces->object, &pieces->object_cap, hit->object + 1ul,
			sizeof(*pieces->object)) < 0)
		return -ENOMEM;
	whole_bytes = hit->last - hit->begin + 1;
	if (!pieces->object[hit->object].asked)
		cut(pieces, hit->object, whole_bytes);
	pieces->site[site] =
		(struct loci_piece_site){ hit->begin, whole_bytes, hit->object, hit->framed };
	return 0;
}

void loci_pieces_find(const struct loci_pieces *pieces, uint32_t number, uint64_t address,
	uint64_t base, uint32_t ret[2])
{
	const struct loci_piece_site *site = &pieces->site[number];
	const struct loci_piece_object *object = &pieces->object[site->object];
	const struct loci_object_shape *shape = &object->shape;
	uint64_t offset = address - site->begin - (base & -(uint64_t)site->framed), index;

	ret[0] = ret[1] = LOCI_NO_CELL;
	if (!object->first || offset >= site->whole_bytes)
		return;
	if (!shape->elements) {
		if (is_large(pieces, site->whole_bytes))
			ret[0] = object->first +
				loci_piece_of(offset, site->whole_bytes, object->n_outer);
		return;
	}
	index = offset / shape->element_bytes;
	if (index >= shape->elements)
		return;
	if (!shape->inner) {
		ret[0] = object->first + loci_piece_of(index, shape->elements, object->n_outer);
		return;
	}
	ret[0] = object->first +
		loci_piece_of(
			index / shape->inner, shape->elements / shape->inner, object->n_outer);
	ret[1] = object->first + object->n_outer +
		loci_piece_of(index % shape->inner, shape->inner, object->n_inner);
}
