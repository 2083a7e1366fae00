// SPDX-License-Identifier: GPL-2.0-or-later
/* The slots of a member of the coherent stacks, off the hot path: memory, holes, renumbering, and
 * whole stacks at once. */
#include "engine/coherent_state.h"

#include "engine/stack_line.h"

#include <errno.h>
#include <stdlib.h>

/* Slots for each block in use after a renumbering, and for so many in the directory, which is
 * gone through for it: what is left over pays for that. */
#define SLOTS_PER_BLOCK  6
#define ENTRIES_PER_SLOT 4
#define MAX_SLOTS        (UINT32_MAX / 512 * LOCI_STACK_LINE_BITS - 2 * LOCI_STACK_LINE_BITS)
#define HUGE_PAGE        ((uint64_t)2 << 20)

static uint64_t n_slots_for(const struct loci_coherent *coherent, uint64_t n_live)
{
	uint64_t n = n_live * SLOTS_PER_BLOCK;

	if (n < coherent->map.n_entries / ENTRIES_PER_SLOT)
		n = coherent->map.n_entries / ENTRIES_PER_SLOT;
	if (n < coherent->tuning.stack.min_slots)
		n = coherent->tuning.stack.min_slots;
	return n < MAX_SLOTS ? n : MAX_SLOTS;
}

static uint64_t page_bytes(const struct loci_coherent *coherent, uint64_t n_slots)
{
	uint64_t small = coherent->tuning.stack.page_bytes;

	return loci_stack_slots_bytes(n_slots, false, small) < 2 * HUGE_PAGE ? small : HUGE_PAGE;
}

/* Words of all levels over so many bits. */
static uint64_t words_for(uint64_t bits)
{
	uint64_t words = 0;

	do {
		bits = (bits + 63) / 64;
		words += bits;
	} while (bits > 1);
	return words;
}

uint64_t loci_coherent_slots_bytes(const struct loci_coherent *coherent, uint64_t n_live)
{
	uint64_t n_slots = n_slots_for(coherent, n_live);
	uint64_t lines = n_slots / LOCI_STACK_LINE_BITS + 1;

	return loci_stack_slots_bytes(n_slots, false, page_bytes(coherent, n_slots)) +
		words_for(lines * 512) * sizeof(uint64_t);
}

static int init_holes(struct loci_coherent_holes *holes, uint32_t n_lines)
{
	uint64_t bits = (uint64_t)n_lines * 512;
	uint64_t *word;

	*holes = (struct loci_coherent_holes){ .bytes = words_for(bits) * sizeof(*word) };
	word = calloc(1, holes->bytes);
	if (!word)
		return -ENOMEM;
	do {
		bits = (bits + 63) / 64;
		holes->word[holes->n_levels++] = word;
		word += bits;
	} while (bits > 1);
	return 0;
}

void loci_coherent_add_hole(struct loci_coherent_holes *holes, uint32_t slot)
{
	uint64_t bit = slot;

	if (slot > holes->highest)
		holes->highest = slot;
	for (unsigned level = 0; level < holes->n_levels; level++, bit /= 64) {
		uint64_t *word = &holes->word[level][bit / 64], had = *word;

		*word |= 1ull << bit % 64;
		if (had)
			return;
	}
}

void loci_coherent_fill_highest(struct loci_coherent_holes *holes)
{
	uint64_t bit = holes->highest;

	for (unsigned level = 0; level < holes->n_levels; level++, bit /= 64) {
		uint64_t *word = &holes->word[level][bit / 64];

		*word &= ~(1ull << bit % 64);
		if (*word)
			break;
	}
	if (!holes->word[holes->n_levels - 1][0]) {
		holes->highest = 0;
		return;
	}
	bit = 0;
	for (unsigned level = holes->n_levels; level-- > 0;)
		bit = bit * 64 + 63 - (unsigned)__builtin_clzll(holes->word[level][bit]);
	holes->highest = (uint32_t)bit;
}

int loci_coherent_slots_init(
	struct loci_coherent *coherent, struct loci_coherent_member *member, uint64_t n_live)
{
	uint64_t n_slots = n_slots_for(coherent, n_live);

	if (loci_stack_slots_init(
		    &member->slots, n_slots, n_live, false, page_bytes(coherent, n_slots)) < 0) {
		member->slots.line = NULL;
		return -ENOMEM;
	}
	if (init_holes(&member->deep, member->slots.n_lines) < 0) {
		loci_stack_slots_fini(&member->slots);
		member->slots.line = NULL;
		return -ENOMEM;
	}
	member->n_deep = n_live;
	coherent->slots_bytes += member->slots.bytes + member->deep.bytes;
	return 0;
}

void loci_coherent_slots_fini(struct loci_coherent *coherent, struct loci_coherent_member *member)
{
	if (!member->slots.line)
		return;
	coherent->slots_bytes -= member->slots.bytes + member->deep.bytes;
	loci_stack_slots_fini(&member->slots);
	free(member->deep.word[0]);
	member->slots.line = NULL;
	member->deep.word[0] = NULL;
}

/* Calls see for every hole, from the lowest on. */
static void each_hole(const struct loci_coherent_member *member,
	void (*see)(void *data, uint32_t slot), void *data)
{
	for (uint32_t i = 0; i < member->slots.n_lines * 8; i++)
		for (uint64_t word = member->deep.word[0][i]; word; word &= word - 1)
			see(data, i * 64 + (uint32_t)__builtin_ctzll(word));
}

/* How many blocks and holes have older slots. */
static uint64_t rank_of(const struct loci_coherent_member *member, uint32_t slot)
{
	return member->n_deep - 1 - loci_stack_slots_after(&member->slots, slot);
}

struct renumbering {
	const struct loci_coherent_member *from;
	struct loci_coherent_member *to;
};

static void renumber_hole(void *data, uint32_t slot)
{
	struct renumbering *renumbering = data;

	loci_coherent_add_hole(
		&renumbering->to->deep, loci_stack_slots_number(rank_of(renumbering->from, slot)));
}

int loci_coherent_renumber(struct loci_coherent *coherent, struct loci_coherent_member *member)
{
	const struct loci_stack_map *map = &coherent->map;
	struct loci_coherent_member *old = malloc(sizeof(*old));
	struct renumbering renumbering = { old, member };

	if (!old)
		return -ENOMEM;
	old->slots = member->slots;
	old->deep = member->deep;
	old->n_deep = member->n_deep;
	if (loci_coherent_slots_init(coherent, member, old->n_deep) < 0) {
		member->slots = old->slots;
		member->deep = old->deep;
		free(old);
		return -ENOMEM;
	}
	for (uint64_t b = 0; b < map->n_homes + map->n_spare; b++)
		for (unsigned i = 0; i < LOCI_STACK_WAYS && map->bucket[b].slot[i]; i++) {
			struct loci_stack_bucket *bucket = &map->bucket[b];
			uint32_t at = loci_coherent_at(
				coherent, bucket->stamp[i], bucket->slot[i], member->number);

			if (at >= LOCI_STACK_TOP && at < LOCI_COHERENT_LOST)
				loci_coherent_put(coherent, &bucket->slot[i], member->number,
					loci_stack_slots_number(rank_of(old, at)));
		}
	each_hole(old, renumber_hole, &renumbering);
	loci_coherent_slots_fini(coherent, old);
	free(old);
	return 0;
}

uint32_t *loci_coherent_entry(struct loci_coherent *coherent, uint64_t hash)
{
	return kernel_find(
		coherent->map.bucket + loci_stack_home(hash, coherent->map.n_homes), hash);
}

static void set_place(struct loci_coherent *coherent, struct loci_coherent_member *member,
	unsigned place, uint64_t hash, bool is_hole)
{
	member->rank[place] = (uint8_t)place;
	member->entry[place] = NULL;
	if (is_hole) {
		member->holes |= 1ull << place;
		return;
	}
	/* No bits: the next touch asks the directory. */
	member->entry[place] = loci_coherent_entry(coherent, hash);
	member->key[place] = hash;
	loci_coherent_put(coherent, member->entry[place], member->number, place);
}

int loci_coherent_set_stack(struct loci_coherent *coherent, struct loci_coherent_member *member,
	const uint64_t *hash, const uint8_t *is_hole, size_t n)
{
	size_t n_deep = n > LOCI_STACK_TOP ? n - LOCI_STACK_TOP : 0;

	loci_coherent_slots_fini(coherent, member);
	if (loci_coherent_slots_init(coherent, member, n_deep) < 0)
		return -ENOMEM;
	member->mine = member->free = member->holes = 0;
	for (unsigned place = 0; place < LOCI_STACK_TOP; place++) {
		member->rank[place] = (uint8_t)place;
		member->entry[place] = NULL;
		if (place < n)
			set_place(coherent, member, place, hash[n - 1 - place],
				is_hole && is_hole[n - 1 - place]);
	}
	for (size_t i = 0; i < n_deep; i++) {
		uint32_t slot = loci_stack_slots_number(i);

		if (is_hole && is_hole[i])
			loci_coherent_add_hole(&member->deep, slot);
		else
			loci_coherent_put(coherent, loci_coherent_entry(coherent, hash[i]),
				member->number, slot);
	}
	return 0;
}

struct getting {
	const struct loci_coherent_member *member;
	uint8_t *is_hole;
};

static void get_hole(void *data, uint32_t slot)
{
	struct getting *getting = data;

	getting->is_hole[rank_of(getting->member, slot)] = 1;
}

size_t loci_coherent_get_stack(const struct loci_coherent *coherent,
	const struct loci_coherent_member *member, uint64_t *hash, uint8_t *is_hole)
{
	const struct loci_stack_map *map = &coherent->map;
	struct getting getting = { member, is_hole };
	uint8_t place_of[LOCI_STACK_TOP];
	size_t n = member->n_deep;

	memset(is_hole, 0, n + LOCI_STACK_TOP);
	for (uint64_t b = 0; b < map->n_homes + map->n_spare; b++)
		for (unsigned i = 0; i < LOCI_STACK_WAYS && map->bucket[b].slot[i]; i++) {
			const struct loci_stack_bucket *bucket = &map->bucket[b];
			uint32_t at = loci_coherent_at(
				coherent, bucket->stamp[i], bucket->slot[i], member->number);

			if (at >= LOCI_STACK_TOP && at < LOCI_COHERENT_LOST)
				hash[rank_of(member, at)] = bucket->key[i];
		}
	each_hole(member, get_hole, &getting);
	for (unsigned place = 0; place < LOCI_STACK_TOP; place++)
		place_of[member->rank[place]] = (uint8_t)place;
	for (unsigned rank = LOCI_STACK_TOP; rank-- > 0;) {
		unsigned place = place_of[rank];

		if (!member->entry[place] && !(member->holes >> place & 1))
			continue; /* not taken yet */
		is_hole[n] = member->holes >> place & 1;
		hash[n++] = member->key[place];
	}
	return n;
}
