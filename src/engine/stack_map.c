// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine's map, off the hot path: its memory and growth in place. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "engine/stack_state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <sys/mman.h>

/* Growth by half at 72 % full: at worst 64 / 3 / 0.72 * 1.5 = 44.4 bytes a block, and two for
 * slots, two sets of which exist while they are renumbered. */
#define MAX_FILL_PERCENT 72

struct entry {
	uint64_t key, stamp;
	uint32_t slot;
};

uint64_t loci_stack_map_bytes(const struct loci_stack_map *map, uint64_t n_homes)
{
	uint64_t bytes = (n_homes + map->n_spare) * sizeof(struct loci_stack_bucket);

	return (bytes + map->page_bytes - 1) / map->page_bytes * map->page_bytes;
}

/* The map grows at the end of its own addresses, of which it reserves as many as it can ever need:
 * moving it would break up its huge pages. Where reserving so much is not allowed it gets less. */
static int reserve(struct loci_stack_map *map)
{
	uint64_t bytes = loci_stack_map_bytes(map, LOCI_STACK_MAX_HOMES);

	for (; bytes >= map->bytes; bytes = bytes / 4 / map->page_bytes * map->page_bytes) {
		char *memory = mmap(NULL, bytes + map->page_bytes, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (memory == MAP_FAILED)
			continue;
		map->reserved = memory;
		map->reserved_bytes = bytes + map->page_bytes;
		map->bucket =
			(struct loci_stack_bucket *)(memory + -(uintptr_t)memory % map->page_bytes);
		return 0;
	}
	return -ENOMEM;
}

static int use(struct loci_stack_map *map, uint64_t n_homes)
{
	uint64_t bytes = loci_stack_map_bytes(map, n_homes);

	if (bytes + map->page_bytes > map->reserved_bytes ||
		mprotect(map->bucket, bytes, PROT_READ | PROT_WRITE) < 0)
		return -ENOMEM;
	madvise(map->bucket, bytes, MADV_HUGEPAGE);
	map->bytes = bytes;
	map->n_homes = n_homes;
	return 0;
}

int loci_stack_map_init(struct loci_stack_map *map, const struct loci_stack_tuning *tuning)
{
	/* A chunk of blocks, all of them overflowing, two buckets that end a search, and one that
	 * growth may add by rounding. */
	*map = (struct loci_stack_map){
		.n_spare = 2 * (tuning->chunk / LOCI_STACK_WAYS + 1) + 3,
		.chunk = tuning->chunk,
		.page_bytes = tuning->page_bytes,
	};
	map->bytes = loci_stack_map_bytes(map, tuning->min_homes);
	if (reserve(map) < 0 || use(map, tuning->min_homes) < 0)
		return -ENOMEM;
	return 0;
}

void loci_stack_map_fini(struct loci_stack_map *map)
{
	if (map->reserved)
		munmap(map->reserved, map->reserved_bytes);
}

bool loci_stack_map_has_room(const struct loci_stack_map *map)
{
	/* Spare buckets fill in order, so all from the first empty one on are empty. */
	if (map->bucket[map->n_homes + map->n_spare / 2 - 1].slot[0])
		return false;
	return (map->n_entries + map->chunk) * 100 <=
		map->n_homes * LOCI_STACK_WAYS * MAX_FILL_PERCENT;
}

uint64_t loci_stack_map_next_homes(const struct loci_stack_map *map)
{
	uint64_t larger = map->n_homes + map->n_homes / 2;
	uint64_t enough =
		(map->n_entries + map->chunk) * 100 / (LOCI_STACK_WAYS * MAX_FILL_PERCENT) + 1;

	return larger > enough ? larger : enough;
}

static void put(struct loci_stack_map *map, const struct entry *entry, uint32_t **place)
{
	struct loci_stack_bucket *home = &map->bucket[loci_stack_home(entry->key, map->n_homes)];
	uint32_t *slot = loci_stack_bucket_add(home, entry->key, entry->stamp, entry->slot);

	if (entry->slot <= LOCI_STACK_TOP)
		place[entry->slot - 1] = slot;
}

/* Empties a bucket; returns how many entries it had. */
static unsigned take(struct loci_stack_bucket *b, struct entry *ret)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LOCI_STACK_WAYS; i++) {
		ret[i] = (struct entry){ b->key[i], b->stamp[i], b->slot[i] };
		n += b->slot[i] != 0;
		b->slot[i] = 0;
		b->key[i] = 0;
	}
	b->overflow = 0;
	return n;
}

struct waiting {
	struct entry *entry;
	size_t n, room;
};

static void waiting_fini(struct waiting *waiting)
{
	free(waiting->entry);
}

static int wait_for(struct waiting *waiting, const struct entry *entry)
{
	if (waiting->n == waiting->room) {
		size_t room = waiting->room ? 2 * waiting->room : 64;
		struct entry *larger = realloc(waiting->entry, room * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		waiting->entry = larger;
		waiting->room = room;
	}
	waiting->entry[waiting->n++] = *entry;
	return 0;
}

/* Homes only move up, but an entry that overflowed far may belong before where it is now: near the
 * start of the map, where homes hardly move. It waits until all buckets are done, since one that is
 * not done yet may be full now and not later. */
int loci_stack_map_grow(struct loci_stack_map *map, uint64_t n_homes, uint32_t **place)
{
	loci_cleanup(waiting_fini) struct waiting waiting = { NULL, 0, 0 };
	uint64_t n_old = map->n_homes + map->n_spare;
	struct entry entry[LOCI_STACK_WAYS];

	if (use(map, n_homes) < 0)
		return -ENOMEM;
	for (uint64_t b = n_old; b-- > 0;) {
		unsigned n = take(&map->bucket[b], entry);

		for (unsigned i = 0; i < n; i++) {
			if (loci_stack_home(entry[i].key, n_homes) >= b)
				put(map, &entry[i], place);
			else if (wait_for(&waiting, &entry[i]) < 0)
				return -ENOMEM;
		}
	}
	for (size_t i = 0; i < waiting.n; i++)
		put(map, &waiting.entry[i], place);
	return 0;
}

/* From the first bucket up: an entry put back finds its way free up to where it was, and buckets
 * before that are never emptied again. */
void loci_stack_map_filter(
	struct loci_stack_map *map, uint32_t **place, loci_stack_keep *keep, void *data)
{
	struct entry entry[LOCI_STACK_WAYS];

	for (uint64_t b = 0; b < map->n_homes + map->n_spare; b++) {
		unsigned n = take(&map->bucket[b], entry);

		for (unsigned i = 0; i < n; i++) {
			if (keep(data, entry[i].key, entry[i].stamp, entry[i].slot))
				put(map, &entry[i], place);
			else
				map->n_entries--;
		}
	}
}
