// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces of arrays, of all processes. */
#include "analyse/ledger_state.h"

#include "analyse/grow.h"

static void add_cell(struct loci_piece_cell *to, const struct loci_piece_cell *from)
{
	to->touches += from->touches;
	to->cold += from->cold;
	to->reuses += from->reuses;
	to->distance_blocks += from->distance_blocks;
	to->misses += from->misses;
}

/* Pieces of one dimension. Of an array that has another number of them here each goes where it
 * begins. */
static void add_cells(struct loci_piece_cell *to, uint32_t n_to, const struct loci_piece_cell *from,
	uint32_t n_from)
{
	for (uint32_t i = 0; n_to && i < n_from; i++)
		add_cell(&to[loci_piece_of(i, n_from, n_to)], &from[i]);
}

int loci_ledger_add_pieces(struct loci_ledger *ledger, const struct loci_ledger_maps *maps)
{
	const struct loci_pieces *pieces = maps->process->pieces;
	const struct loci_measure *measure = &maps->process->measure;
	size_t n = loci_objects_count(maps->process->objects);

	for (uint32_t i = 0; pieces && i < pieces->object_cap && i < n; i++) {
		const struct loci_piece_object *from = &pieces->object[i];
		const struct loci_piece_cell *cell = measure->cell + from->first;
		struct loci_ledger_object *to = &ledger->object[maps->object[i]];

		if (!from->first || from->first + from->n_outer + from->n_inner > measure->cell_cap)
			continue;
		if (!to->cell) {
			to->cell = calloc(from->n_outer + from->n_inner, sizeof(*to->cell));
			if (!to->cell)
				return -ENOMEM;
			to->n_outer = from->n_outer;
			to->n_inner = from->n_inner;
			to->shape = from->shape;
		}
		add_cells(to->cell, to->n_outer, cell, from->n_outer);
		add_cells(to->cell + to->n_outer, to->n_inner, cell + from->n_outer, from->n_inner);
	}
	return 0;
}
