/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map from sparse ids to small numbers: open addressing with linear probing, at most half full.
 * Nothing is ever removed one by one. */
#ifndef LOCI_STREAM_IDMAP_H
#define LOCI_STREAM_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#define LOCI_IDMAP_NONE UINT32_MAX

struct loci_idmap_slot {
	uint64_t id;
	uint32_t value; /* LOCI_IDMAP_NONE: the slot is free */
};

struct loci_idmap {
	struct loci_idmap_slot *slot; /* NULL until the first put */
	size_t used;
	unsigned bits; /* of the table's size */
};

static inline size_t loci_idmap_home(const struct loci_idmap *map, uint64_t id)
{
	return (size_t)(id * 0x9e3779b97f4a7c15ull >> (64 - map->bits));
}

/* The id's value, or LOCI_IDMAP_NONE. */
static inline uint32_t loci_idmap_get(const struct loci_idmap *map, uint64_t id)
{
	size_t mask = ((size_t)1 << map->bits) - 1;

	if (!map->slot)
		return LOCI_IDMAP_NONE;
	for (size_t i = loci_idmap_home(map, id);; i = (i + 1) & mask)
		if (map->slot[i].value == LOCI_IDMAP_NONE || map->slot[i].id == id)
			return map->slot[i].value;
}

/* Sets or replaces; value is not LOCI_IDMAP_NONE. 0 or -ENOMEM. */
int loci_idmap_put(struct loci_idmap *map, uint64_t id, uint32_t value);
void loci_idmap_clear(struct loci_idmap *map); /* keeps the memory */
void loci_idmap_fini(struct loci_idmap *map);

#endif
