// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine's map, off the hot path: its memory, growth in place, and dropping blocks. */
#define _GNU_SOURCE /* mremap */
#include "engine/stack_state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <sys/mman.h>

/* Growth by 1.6 at 85 % full: at worst 64 / 3 / 0.85 * 1.6 = 40 bytes a block. */
#define MAX_FILL_PERCENT 85
/* Buckets that a chunk of new blocks can overflow into. */
#define CHUNK_BUCKETS    (LOCI_STACK_CHUNK / LOCI_STACK_WAYS + 1)

struct entry {
	uint64_t key, stamp;
	uint32_t slot;
};

uint64_t loci_stack_map_bytes(uint64_t n_homes)
{
	uint64_t bytes = (n_homes + LOCI_STACK_SPARE) * sizeof(struct loci_stack_bucket);

	return (bytes + 4095) & ~4095ull;
}

int loci_stack_map_init(struct loci_stack_map *map, uint64_t n_homes)
{
	uint64_t bytes = loci_stack_map_bytes(n_homes);
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	madvise(memory, bytes, MADV_HUGEPAGE);
	*map = (struct loci_stack_map){
		.bucket = memory, .n_homes = n_homes, .mapped_bytes = bytes
	};
	return 0;
}

void loci_stack_map_fini(struct loci_stack_map *map)
{
	if (map->bucket)
		munmap(map->bucket, map->mapped_bytes);
}

bool loci_stack_map_has_room(const struct loci_stack_map *map)
{
	/* Spare buckets fill in order, so all from the first empty one on are empty; enough of them
	 * for a chunk, and one more to end a search, must be left whatever the hashes. */
	if (map->bucket[map->n_homes + LOCI_STACK_SPARE - CHUNK_BUCKETS - 1].slot[0])
		return false;
	return (map->n_entries + LOCI_STACK_CHUNK) * 100 <=
		map->n_homes * LOCI_STACK_WAYS * MAX_FILL_PERCENT;
}

uint64_t loci_stack_map_next_homes(const struct loci_stack_map *map)
{
	uint64_t larger = map->n_homes + map->n_homes * 3 / 5;
	uint64_t enough =
		(map->n_entries + LOCI_STACK_CHUNK) * 100 / (LOCI_STACK_WAYS * MAX_FILL_PERCENT) +
		1;

	return larger > enough ? larger : enough;
}

static loci_stack_where insert(struct loci_stack_map *map, uint64_t home, const struct entry *entry)
{
	for (;; home++)
		for (unsigned i = 0; i < LOCI_STACK_WAYS; i++) {
			struct loci_stack_bucket *b = &map->bucket[home];

			if (b->slot[i])
				continue;
			b->key[i] = entry->key;
			b->stamp[i] = entry->stamp;
			b->slot[i] = entry->slot;
			return (loci_stack_where)home << 2 | i;
		}
}

static void put(struct loci_stack_map *map, const struct entry *entry, loci_stack_where *place)
{
	uint64_t home = loci_stack_home(entry->key, map->n_homes);
	loci_stack_where where = insert(map, home, entry);

	if (entry->slot <= LOCI_STACK_TOP)
		place[entry->slot - 1] = where;
}

/* Empties a bucket; returns how many entries it had. */
static unsigned take(struct loci_stack_bucket *b, struct entry *ret)
{
	unsigned n = 0;

	for (; n < LOCI_STACK_WAYS && b->slot[n]; n++) {
		ret[n] = (struct entry){ b->key[n], b->stamp[n], b->slot[n] };
		b->slot[n] = 0;
		b->key[n] = 0;
	}
	return n;
}

static int resize(struct loci_stack_map *map, uint64_t n_homes)
{
	uint64_t bytes = loci_stack_map_bytes(n_homes);
	void *memory = mremap(map->bucket, map->mapped_bytes, bytes, MREMAP_MAYMOVE);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	madvise(memory, bytes, MADV_HUGEPAGE);
	map->bucket = memory;
	map->mapped_bytes = bytes;
	return 0;
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
int loci_stack_map_grow(struct loci_stack_map *map, uint64_t n_homes, loci_stack_where *place)
{
	loci_cleanup(waiting_fini) struct waiting waiting = { NULL, 0, 0 };
	uint64_t n_old = map->n_homes + LOCI_STACK_SPARE;
	struct entry entry[LOCI_STACK_WAYS];

	if (resize(map, n_homes) < 0)
		return -ENOMEM;
	map->n_homes = n_homes;
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
