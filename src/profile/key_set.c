// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/key_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64 /* half as many keys */

static uint64_t hash(const uint64_t *key, unsigned width)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < width; i++) {
		h = (h ^ key[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h ^ h >> 32;
}

/* The slot of the key, or the free one where it belongs. */
static size_t *find_slot(const struct key_set *set, const uint64_t *key)
{
	size_t mask = set->n_slots - 1, at = hash(key, set->width) & mask;

	while (set->slot[at] &&
		memcmp(set->word + (set->slot[at] - 1) * set->width, key,
			set->width * sizeof(*key)))
		at = (at + 1) & mask;
	return &set->slot[at];
}

/* Slots are twice as many as there can be keys. */
static int grow(struct key_set *set)
{
	struct key_set larger = *set;
	uint64_t *moved;

	larger.n_slots = set->n_slots ? 2 * set->n_slots : FIRST_SLOTS;
	moved = realloc(set->word, larger.n_slots / 2 * set->width * sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	set->word = larger.word = moved;
	larger.slot = calloc(larger.n_slots, sizeof(*larger.slot));
	if (!larger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < set->n; i++)
		*find_slot(&larger, set->word + i * set->width) = i + 1;
	free(set->slot);
	*set = larger;
	return 0;
}

int loci_key_set_add(struct key_set *set, const uint64_t *key, size_t *ret, bool *ret_new)
{
	size_t *slot;

	if (set->n >= set->n_slots / 2 && grow(set) < 0)
		return -ENOMEM;
	slot = find_slot(set, key);
	*ret_new = *slot == 0;
	if (*ret_new) {
		memcpy(set->word + set->n * set->width, key, set->width * sizeof(*key));
		*slot = ++set->n;
	}
	*ret = *slot - 1;
	return 0;
}

void loci_key_set_fini(struct key_set *set)
{
	free(set->word);
	free(set->slot);
	*set = (struct key_set){ 0 };
}
