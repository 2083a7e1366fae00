/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all processes of an analysis counted, attributed. Sites of different processes that are the
 * same code are one here, and so are contexts, objects and loops of the same name. */
#ifndef LOCI_ANALYSE_LEDGER_H
#define LOCI_ANALYSE_LEDGER_H

#include "analyse/attribute.h"

struct loci_ledger_site {
	struct loci_site site;
	uint64_t refs;
	bool touched; /* it has distances, also where no reference was sampled */
};

struct loci_ledger_object {
	char *kind, *name, *type, *file;
	unsigned line;
	const struct loci_type *element;
	uint64_t size_bytes, allocations, element_bytes;
	uint32_t whole; /* of a part of a registered object: that; else itself */
	uint64_t part_offset;
	uint32_t module; /* the symbols' number */
	uint64_t code_address;
	uint32_t context; /* UINT32_MAX: none */
	uint64_t born_refs, died_refs;
	bool released;
	bool touched; /* also by references that count where they begin */
	bool nameless;
	uint64_t refs;
	/* Of its pieces, if it is cut, the outer first: as in piece.h. */
	struct loci_piece_cell *cell;
	uint32_t n_outer, n_inner;
	struct loci_object_shape shape;
};

struct loci_ledger_loop {
	uint32_t module;
	uint64_t offset, end_offset; /* of fixed code: the symbols' number, and nothing */
	bool fixed;
	uint32_t function; /* site of the entry, LOCI_NO_SITE or LOCI_NO_FUNCTION */
	uint64_t iterations;
};

/* What was counted in each region, or phase. */
struct loci_ledger_marked {
	struct loci_spread distances;
	struct loci_level_tallies levels;
	uint64_t *refs;
	size_t refs_cap;
};

/* The whole of it is its key but the refs. */
struct loci_ledger_pair {
	uint32_t use_site, reuse_site, object;
	uint32_t use_context, reuse_context;
	uint32_t loop;
	uint32_t kind; /* 2 * the use wrote + the reuse writes */
	uint32_t recycled;
	uint64_t refs;
	struct loci_spread_far distance;
};

/* A block that operations are counted of. */
struct loci_ledger_ran {
	uint32_t site;   /* of its function's definition */
	uint32_t number; /* in it */
	uint64_t executions, loaded_bytes, stored_bytes;
};

struct loci_ledger {
	struct loci_symbols *symbols;
	unsigned n_levels;
	struct loci_code_name *module; /* by the symbols' number; path NULL: unknown */
	size_t n_modules, module_cap;
	struct loci_ledger_site *site; /* site 0 is none */
	size_t n_sites, site_cap;
	struct loci_keymap site_ids;
	struct loci_context *context; /* 0 is the root; sites are the ledger's */
	size_t n_contexts, context_cap;
	struct loci_keymap context_ids;
	struct loci_ledger_object *object;
	size_t n_objects, object_cap;
	struct loci_keymap object_ids;
	struct loci_ledger_waiting *waiting; /* allocations: ledger_waiting.c */
	size_t n_waiting, waiting_cap;
	struct loci_row *row; /* row 0 is what found no room; sites and objects are the ledger's */
	size_t n_rows, row_cap;
	struct loci_keymap row_ids;
	struct loci_ledger_loop *loop; /* loop 0 is none */
	size_t n_loops, loop_cap;
	struct loci_keymap loop_ids;
	struct loci_ledger_pair *pair;
	size_t n_pairs, pair_cap;
	struct loci_keymap pair_ids;
	struct loci_pair_level *pair_level;
	size_t pair_level_cap;
	struct loci_ledger_ran *ran;
	size_t n_ran, ran_cap;
	struct loci_keymap ran_ids;
	struct loci_ran_cell *cell; /* its numbers are the ledger's */
	size_t n_cells, cell_cap;
	struct loci_keymap cell_ids;
	struct loci_footprint_sum footprint; /* functions by site */
	struct loci_level_tallies row_levels, context_levels;
	struct loci_spread rows, contexts;           /* distances */
	struct loci_spread time_rows, time_contexts; /* of samples that were watched */
	bool threaded; /* a process had several threads: then the next four are of all */
	struct loci_spread private_rows;
	struct loci_coherence *row_met; /* by row */
	size_t row_met_cap;
	struct loci_share_miss *sharing; /* rows are the ledger's */
	size_t n_sharing, sharing_cap;
	struct loci_keymap sharing_ids;
	struct loci_spread side_rows[LOCI_ANALYSE_GRAINS - 1]; /* at further block sizes */
	unsigned n_sides;
	struct loci_marked_region *region; /* region 0 is none */
	size_t n_regions, region_cap;
	struct loci_keymap region_ids;
	char **phase; /* names; 0 is before the first */
	size_t n_phases, phase_cap;
	struct loci_keymap phase_ids;
	struct loci_ledger_marked in_region, in_phase; /* number 0 has nothing there */
	size_t n_running;                              /* processes that have references */
	struct loci_phase_stretch *stretch;            /* if that is one */
	size_t n_stretches, stretch_cap;
	bool contexts_full, rows_full, pairs_full, regions_full, stages_full, stretches_full;
};

int loci_ledger_init(struct loci_ledger *ledger, unsigned n_levels, struct loci_err *err);
void loci_ledger_fini(struct loci_ledger *ledger);
/* Adds what a process counted, which has finished. */
int loci_ledger_add(
	struct loci_ledger *ledger, struct loci_attribution *process, struct loci_err *err);
/* After all of them. */
int loci_ledger_settle(struct loci_ledger *ledger, struct loci_err *err);

#endif
