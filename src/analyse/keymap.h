/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map from keys of two words to small numbers: open addressing with linear probing, at most half
 * full. Nothing is ever removed. */
#ifndef LOCI_ANALYSE_KEYMAP_H
#define LOCI_ANALYSE_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

#define LOCI_KEYMAP_NONE UINT32_MAX

struct loci_keymap_slot {
	uint64_t a, b;
	uint32_t value; /* LOCI_KEYMAP_NONE: the slot is free */
};

struct loci_keymap {
	struct loci_keymap_slot *slot; /* NULL until the first put */
	size_t used;
	unsigned bits; /* of the table's size */
};

static inline size_t loci_keymap_home(const struct loci_keymap *map, uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15ull;

	h ^= h >> 32;
	h = (h + b) * 0xd6e8feb86659fd93ull;
	h ^= h >> 29;
	return (size_t)(h * 0x9e3779b97f4a7c15ull >> (64 - map->bits));
}

/* The key's value, or LOCI_KEYMAP_NONE. */
static inline uint32_t loci_keymap_get(const struct loci_keymap *map, uint64_t a, uint64_t b)
{
	size_t mask = ((size_t)1 << map->bits) - 1;

	if (!map->slot)
		return LOCI_KEYMAP_NONE;
	for (size_t i = loci_keymap_home(map, a, b);; i = (i + 1) & mask) {
		const struct loci_keymap_slot *slot = &map->slot[i];

		if (slot->value == LOCI_KEYMAP_NONE || (slot->a == a && slot->b == b))
			return slot->value;
	}
}

/* A key that is not there yet. 0 or -ENOMEM. */
int loci_keymap_put(struct loci_keymap *map, uint64_t a, uint64_t b, uint32_t value);
void loci_keymap_fini(struct loci_keymap *map);

#endif
