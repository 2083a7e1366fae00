/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in an array references go: an array is cut into at most LOCI_PIECES pieces by index, none
 * smaller than a block, and a touch belongs to the piece that its first byte is in. An array of
 * several dimensions is cut twice: by the index in which elements lie side by side (inner), and by
 * all others together (outer). Heap blocks and registered objects are cut into LOCI_PIECES even
 * pieces, each by its own size; those of fewer blocks are not cut.
 *
 * The first stage finds the pieces, as numbers of cells; the second counts there what the touches
 * met. */
#ifndef LOCI_ANALYSE_PIECE_H
#define LOCI_ANALYSE_PIECE_H

#include "analyse/object.h"

#define LOCI_PIECES  64
#define LOCI_NO_CELL 0u

struct loci_piece_cell {
	uint64_t touches, cold;
	uint64_t reuses;          /* whose distance is known .. */
	uint64_t distance_blocks; /* .. and the sum of them */
	uint64_t misses;          /* of the first level */
};

/* How an object is cut; its cells are those of the outer pieces, then those of the inner. */
struct loci_piece_object {
	bool asked;
	uint32_t first; /* cell; LOCI_NO_CELL: it is not cut */
	uint32_t n_outer, n_inner;
	struct loci_object_shape shape;
};

/* Where a site is. */
struct loci_piece_site {
	uint64_t begin, whole_bytes;
	uint32_t object;
	bool framed;
};

struct loci_pieces {
	const struct loci_objects *objects; /* borrowed */
	struct loci_piece_object *object;   /* by number */
	size_t object_cap;
	struct loci_piece_site *site; /* by number */
	size_t site_cap;
	uint64_t block_bytes;
	uint32_t n_cells; /* the first is LOCI_NO_CELL's */
};

int loci_pieces_new(const struct loci_objects *objects, uint64_t block_bytes,
	struct loci_pieces **ret, struct loci_err *err);
void loci_pieces_free(struct loci_pieces *pieces); /* NULL allowed */
/* The site's reference is in another place than before. 0 or -ENOMEM. */
int loci_pieces_move(struct loci_pieces *pieces, uint32_t site, const struct loci_object_hit *hit);
/* The cells of an address that the site refers to. base: what framed objects are relative to. */
void loci_pieces_find(const struct loci_pieces *pieces, uint32_t site, uint64_t address,
	uint64_t base, uint32_t ret[2]);

/* Which of n pieces of an extent an index is in, and the first index of a piece. */
static inline uint32_t loci_piece_of(uint64_t index, uint64_t extent, uint32_t n)
{
	return (uint32_t)((unsigned __int128)index * n / extent);
}

static inline uint64_t loci_piece_low(uint32_t piece, uint64_t extent, uint32_t n)
{
	return (uint64_t)(((unsigned __int128)piece * extent + n - 1) / n);
}

#endif
