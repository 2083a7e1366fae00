/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is mapped where: regions that do not overlap, by address. A later mapping replaces what it
 * covers. */
#ifndef LOCI_ANALYSE_OBJECT_MAP_H
#define LOCI_ANALYSE_OBJECT_MAP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loci_region {
	uint64_t low, last;
	uint32_t object; /* what memory without a better name belongs to */
	uint32_t serial; /* advances when what was said of the region no longer holds */
	bool anonymous;
	bool joins;  /* alike neighbours are one */
	bool stack;  /* of a thread */
	bool parted; /* allocations or registered objects have been inside */
};

struct loci_map {
	struct loci_region **region; /* by address */
	size_t n, cap;
	size_t last;                /* where the last lookup was */
	struct loci_region **spare; /* of those that ended; answers point to their serials */
	size_t n_spare, cap_spare;
};

void loci_map_fini(struct loci_map *map);

/* The region around address, or NULL. */
struct loci_region *loci_map_find(struct loci_map *map, uint64_t address);
/* The first region that ends at or after address: an index, map->n where there is none. */
size_t loci_map_index(struct loci_map *map, uint64_t address);

/* Nothing is mapped from low to last any more. *ret_stack: part of a stack was. */
int loci_map_cut(
	struct loci_map *map, uint64_t low, uint64_t last, bool *ret_stack, struct loci_err *err);
/* Adds a region where nothing is mapped; joins it with the one before it where both
 * join and all is alike. */
int loci_map_add(struct loci_map *map, const struct loci_region *region, struct loci_err *err);

#endif
