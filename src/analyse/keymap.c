// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/keymap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BITS 6

static void place(struct loci_keymap *map, uint64_t a, uint64_t b, uint32_t value)
{
	size_t mask = ((size_t)1 << map->bits) - 1, i = loci_keymap_home(map, a, b);

	while (map->slot[i].value != LOCI_KEYMAP_NONE)
		i = (i + 1) & mask;
	map->slot[i] = (struct loci_keymap_slot){ .a = a, .b = b, .value = value };
}

static int enlarge(struct loci_keymap *map)
{
	struct loci_keymap old = *map;
	size_t size;

	map->bits = old.slot ? old.bits + 1 : FIRST_BITS;
	size = (size_t)1 << map->bits;
	map->slot = malloc(size * sizeof(*map->slot));
	if (!map->slot) {
		*map = old;
		return -ENOMEM;
	}
	memset(map->slot, 0xff, size * sizeof(*map->slot)); /* LOCI_KEYMAP_NONE everywhere */
	for (size_t i = 0; old.slot && i < (size_t)1 << old.bits; i++)
		if (old.slot[i].value != LOCI_KEYMAP_NONE)
			place(map, old.slot[i].a, old.slot[i].b, old.slot[i].value);
	free(old.slot);
	return 0;
}

int loci_keymap_put(struct loci_keymap *map, uint64_t a, uint64_t b, uint32_t value)
{
	if ((!map->slot || 2 * (map->used + 1) > (size_t)1 << map->bits) && enlarge(map) < 0)
		return -ENOMEM;
	place(map, a, b, value);
	map->used++;
	return 0;
}

void loci_keymap_fini(struct loci_keymap *map)
{
	free(map->slot);
	*map = (struct loci_keymap){ 0 };
}
