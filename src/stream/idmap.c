// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/idmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BITS 6

static void insert(struct loci_idmap *map, uint64_t id, uint32_t value)
{
	size_t mask = ((size_t)1 << map->bits) - 1;
	size_t i = loci_idmap_home(map, id);

	while (map->slot[i].value != LOCI_IDMAP_NONE && map->slot[i].id != id)
		i = (i + 1) & mask;
	map->used += map->slot[i].value == LOCI_IDMAP_NONE;
	map->slot[i] = (struct loci_idmap_slot){ .id = id, .value = value };
}

static int grow(struct loci_idmap *map)
{
	struct loci_idmap larger = { .bits = map->slot ? map->bits + 1 : FIRST_BITS };
	size_t n = (size_t)1 << larger.bits;

	larger.slot = malloc(n * sizeof(*larger.slot));
	if (!larger.slot)
		return -ENOMEM;
	memset(larger.slot, 0xff, n * sizeof(*larger.slot)); /* every value LOCI_IDMAP_NONE */
	for (size_t i = 0; map->slot && i < (size_t)1 << map->bits; i++)
		if (map->slot[i].value != LOCI_IDMAP_NONE)
			insert(&larger, map->slot[i].id, map->slot[i].value);
	free(map->slot);
	*map = larger;
	return 0;
}

int loci_idmap_put(struct loci_idmap *map, uint64_t id, uint32_t value)
{
	if (!map->slot || 2 * (map->used + 1) > (size_t)1 << map->bits) {
		int r = grow(map);

		if (r < 0)
			return r;
	}
	insert(map, id, value);
	return 0;
}

void loci_idmap_clear(struct loci_idmap *map)
{
	if (map->slot && map->used)
		memset(map->slot, 0xff, ((size_t)1 << map->bits) * sizeof(*map->slot));
	map->used = 0;
}

void loci_idmap_fini(struct loci_idmap *map)
{
	free(map->slot);
	*map = (struct loci_idmap){ 0 };
}
