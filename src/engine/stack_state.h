/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the stack engine share.
 *
 * The LRU stack is cut in two. Its TOP most recent blocks have a *place* each, and a byte per place
 * holds the place's rank, 0 the most recent: a touch updates all ranks with a few vector
 * instructions and moves nothing. A byte per hash value, cut short, hints at the place where such a
 * block may be, so that the map is asked for deeper blocks only. Every deeper block has a *slot*,
 * numbered in the order in which blocks left the top; a bit per slot says whether it is still some
 * block's (Bennett and Kruskal 1975). The distance of a deep block is the blocks in the top plus
 * the set bits after its slot.
 *
 * Slots. A line of bits is one cache line: 7 words of bits, preceded by a word of 7 counts of 9
 * bits, each saying how many bits are set in the words after one word. The number of a slot is its
 * bit address, so numbers whose word would be the line's first do not occur. Above the lines stand
 * levels of counts, each of which says how many bits are set in its later siblings within one cache
 * line: 32 siblings of 16 bits at the first level, 16 of 32 bits above. So a query reads one number
 * a level, and a change is one vector addition a level. The line being filled is not counted in the
 * levels until it is full: else every touch would change the counts its successor reads.
 *
 * Map. Buckets of one cache line hold three blocks; the home of a block is the top bits of its hash
 * scaled to the number of buckets, whatever number that is, and a full bucket overflows into the
 * next. Nothing is removed one by one, so the first empty entry ends a search. Scaling keeps the
 * order of homes, so the map grows in place, from the last bucket down. */
#ifndef LOCI_ENGINE_STACK_STATE_H
#define LOCI_ENGINE_STACK_STATE_H

#include "engine/stack.h"

#include <string.h>

#define LOCI_STACK_TOP        64 /* places */
/* Where who feeds the engine keeps the most recent blocks, these have the last places, which have
 * no rank, and the others so many less; none, while all blocks are followed (stack_recent.h). */
#define LOCI_STACK_RANKED     (LOCI_STACK_TOP - LOCI_RECENT)
#define LOCI_STACK_NO_RANK    127
#define LOCI_STACK_HINT_SHIFT 52 /* of a hash: its hint */

/* Entry.slot: 0 empty, 1..TOP a place in the top, and above that a slot. */
#define LOCI_STACK_DEEP (LOCI_STACK_TOP + 1)
#define LOCI_STACK_DEAD UINT32_MAX /* of a block not followed that has left the top */

/* A stamp is the time of the last touch and, in its low bits, the largest bin of the block's
 * distances since its last write. Distances matter for the dirty level by their bin only, since
 * bins keep the order of distances. */
#define LOCI_STACK_BIN_BITS    13
#define LOCI_STACK_BINS        (1u << LOCI_STACK_BIN_BITS)
#define LOCI_STACK_BIN_COLD    (LOCI_STACK_BINS - 1) /* above all bins of finite distances */
#define LOCI_STACK_BIN_UNKNOWN (LOCI_STACK_BINS - 2) /* while sampling: not counted */
#define LOCI_STACK_MAX_TIME    (1ull << (64 - LOCI_STACK_BIN_BITS))

#define LOCI_STACK_WAYS      3 /* entries of a bucket */
/* Beyond this, slots of 32 bits would be renumbered too often. */
#define LOCI_STACK_MAX_HOMES (1ull << 29)

struct loci_stack_bucket {
	uint64_t key[LOCI_STACK_WAYS]; /* the block's hash, which loses nothing; 0 when empty */
	uint32_t slot[LOCI_STACK_WAYS];
	uint32_t overflow; /* of blocks at home here that are not here: by hash, how far on */
	uint64_t stamp[LOCI_STACK_WAYS];
};

/* An entry is known by its slot; the rest of it is found from the slot's place in the bucket. */
static inline uint64_t *loci_stack_stamp(uint32_t *slot)
{
	return (uint64_t *)((char *)slot + ((uintptr_t)slot & 63) - 8);
}

static inline uint64_t *loci_stack_key(uint32_t *slot)
{
	return (uint64_t *)((char *)slot + ((uintptr_t)slot & 63) - 48);
}

static inline struct loci_stack_bucket *loci_stack_bucket_of(uint32_t *slot)
{
	return (struct loci_stack_bucket *)((char *)slot - ((uintptr_t)slot & 63));
}

/* The last entry if none is empty: they fill in order. */
static inline uint32_t *loci_stack_first_empty(struct loci_stack_bucket *b)
{
	return &b->slot[(unsigned)(b->slot[0] != 0) + (unsigned)(b->slot[1] != 0)];
}

/* Blocks that a full home has no room for are in one of the next buckets. By their low bits hashes
 * have 4 bits each in their home that say in which the first such block is, so that it is found
 * without a look at those between; the others of these bits are not before it. 0: there is none, or
 * it is too far away to say. */
static inline unsigned loci_stack_away(const struct loci_stack_bucket *home, uint64_t hash)
{
	return home->overflow >> (hash & 7) * 4 & 15;
}

static inline void loci_stack_set_away(
	struct loci_stack_bucket *home, const struct loci_stack_bucket *at, uint64_t hash)
{
	uint64_t away = (uint64_t)(at - home);

	if (away < 16 && !loci_stack_away(home, hash))
		home->overflow |= (uint32_t)away << (hash & 7) * 4;
}

struct loci_stack_map {
	struct loci_stack_bucket *bucket;
	uint64_t n_homes; /* buckets that are homes */
	uint64_t n_spare; /* buckets after them, to overflow into */
	uint64_t n_entries;
	uint64_t chunk; /* new blocks it must have room for */
	uint64_t bytes; /* in use of the addresses reserved */
	void *reserved;
	uint64_t reserved_bytes;
	uint64_t page_bytes;
};

#define LOCI_STACK_LINE_BITS 448 /* slots a line */
#define LOCI_STACK_NEAR      32  /* siblings at the first level of counts */
#define LOCI_STACK_FAR       16  /* siblings at the levels above */
#define LOCI_STACK_LEVELS    6   /* of FAR: enough for 2^32 slots */

struct loci_stack_line {
	uint64_t word[8]; /* 0: counts, 9 bits a word of bits; 1..7: bits */
};

/* Blocks often come back in the order in which they left the top, so that most slots that are taken
 * are of the line of the one before. What is taken of that line, the finger is on it, is told to
 * the levels when the finger leaves: at the end of a chunk at the latest. Where it would move too
 * often, which costs more than it spares, chunks do without, but for one in REST + 1. */
#define LOCI_STACK_NO_LINE      UINT32_MAX
#define LOCI_STACK_FINGER_TAKES 5 /* that a move must bring */
#define LOCI_STACK_FINGER_REST  63

struct loci_stack_finger {
	uint32_t line;
	uint32_t n_taken;          /* of the line, that the levels do not know of */
	uint64_t after;            /* set bits in the lines after it, but for the open one */
	uint32_t n_moves, n_takes; /* in this chunk; takes but for n_taken */
	uint32_t rest;             /* chunks to go without it */
};

struct loci_stack_slots {
	struct loci_stack_line *line; /* and the memory all arrays stand in */
	uint16_t *near;
	uint32_t *far[LOCI_STACK_LEVELS];
	unsigned n_far;
	uint32_t n_lines;
	uint32_t open;      /* the line being filled */
	uint32_t next;      /* the next slot's number */
	uint32_t open_live; /* set bits in the open line */
	struct loci_stack_finger finger;
	uint64_t *use; /* of slots, without the gaps in their numbers; NULL: not kept */
	uint64_t bytes;
	void *spare; /* as many bytes, for the next renumbering; NULL: none */
};

/* Where the word of a slot's last use stands. */
static inline uint32_t loci_stack_use_index(uint32_t slot)
{
	return slot - 64 - (slot >> 9) * 64;
}

struct loci_stack_counts {
	uint64_t stack[LOCI_STACK_BINS];
	uint64_t time[LOCI_STACK_BINS];
	uint64_t dirty[LOCI_STACK_BINS];
};

/* Sampling (see stack_sample.c). Of the blocks outside the top one in 2^shift is followed. */
#define LOCI_STACK_FRONT_CHUNK 512 /* touches between cleanings of the front map */
#define LOCI_STACK_FRONT_HOMES 256
/* All blocks of a chunk and of the top may have the same home. */
#define LOCI_STACK_FRONT_BUCKETS \
	(LOCI_STACK_FRONT_HOMES + (LOCI_STACK_FRONT_CHUNK + LOCI_STACK_TOP) / LOCI_STACK_WAYS + 2)
#define LOCI_STACK_FRONT_BYTES (LOCI_STACK_FRONT_BUCKETS * sizeof(struct loci_stack_bucket))
#define LOCI_STACK_GROUPS      16 /* of followed blocks, whose spread tells the error */
#define LOCI_STACK_CLASSES     66 /* of distances: 0, powers of two, infinite */

struct loci_stack_sample {
	struct loci_stack_bucket *front;
	unsigned shift;
	uint64_t from;                  /* the first touch sampled */
	uint64_t writes;                /* all, exactly */
	uint64_t time[LOCI_STACK_BINS]; /* of touches outside the top: they weigh 2^shift */
	uint64_t group[LOCI_STACK_GROUPS][LOCI_STACK_CLASSES];
	/* What was counted at former rates, with its weights; stack, time, dirty. */
	double weight[3][LOCI_STACK_BINS], square[3][LOCI_STACK_BINS];
	double group_weight[LOCI_STACK_GROUPS][LOCI_STACK_CLASSES];
	double exact[LOCI_STACK_BINS]; /* stack distances before sampling */
};

/* As loci_stack_feed_uses takes and gives; NULL: all but block; use and ret_last_use both or none.
 * If more is given they are runs, as loci_stack_feed_runs has them, use being what they leave. */
struct loci_stack_touches {
	const uint64_t *block;
	const uint8_t *is_write;
	const uint32_t *more, *more_writes;
	const uint64_t *use;
	struct loci_stack_recent recent; /* if place is given they are these; use is left */
	size_t n;
	uint64_t *ret_distance;
	uint64_t *ret_last_use;
};

/* Processes n <= chunk touches, for which map and slots have room. */
typedef void loci_stack_kernel(struct loci_stack *stack, const struct loci_stack_touches *touches);
loci_stack_kernel loci_stack_run_scalar, loci_stack_run_avx2, loci_stack_run_avx512;

/* The runs of touches of one block in a chunk (stack_runs.h). Vectors may write a few too many. */
#define LOCI_STACK_MAX_CHUNK 4096
#define LOCI_STACK_BATCH     16 /* runs that a stage of the kernel takes at once */

struct loci_stack_chunk {
	uint64_t hash[LOCI_STACK_MAX_CHUNK + 4 * LOCI_STACK_BATCH + 64]
		__attribute__((aligned(64)));
	uint32_t
		start[LOCI_STACK_MAX_CHUNK + 64]; /* of run i; of the one after the last: the end */
	uint8_t is_write[LOCI_STACK_MAX_CHUNK + 64]; /* 0 or 1: any in the run */
};

/* Thresholds that tests lower, so that small streams meet every path. */
struct loci_stack_tuning {
	uint64_t min_homes;  /* buckets of a new map */
	uint64_t min_slots;  /* slots of a new bitmap */
	uint64_t chunk;      /* touches between checks for room in map and slots: MAX_CHUNK */
	uint64_t page_bytes; /* of memory: that of huge pages */
	uint64_t near_homes; /* up to which a map stays in the machine's caches anyhow */
};

struct loci_stack {
	uint8_t rank[LOCI_STACK_TOP] __attribute__((aligned(64)));
	uint32_t *place[LOCI_STACK_TOP]; /* the slot of its entry; NULL: not taken yet */
	uint64_t use[LOCI_STACK_TOP];    /* of places: the word of the last use, if kept */
	uint64_t key[LOCI_STACK_TOP];    /* of places: the key of its entry */
	uint64_t stamp[LOCI_STACK_TOP];  /* of places, while a chunk is processed */
	uint8_t hint[1 << (64 - LOCI_STACK_HINT_SHIFT)]; /* by hash: the place it may be in */
	uint64_t now; /* the time of the next touch; the first is 1 */
	struct loci_stack_map map;
	struct loci_stack_slots slots;
	loci_stack_kernel *kernel;
	struct loci_stack_counts *counts;
	struct loci_stack_tuning tuning;
	uint64_t max_bytes;
	bool recent;
	struct loci_stack_sample *sample; /* NULL while exact */
	struct loci_stack_chunk runs;     /* of the chunk at hand */
};

int loci_stack_new_tuned(const struct loci_stack_options *options,
	const struct loci_stack_tuning *tuning, struct loci_stack **ret, struct loci_err *err);

/* Every step can be undone (multiplications by odd numbers, xor with own high bits), so distinct
 * blocks have distinct hashes. The top bits, which choose the home, depend on all bits. */
#define LOCI_STACK_HASH_1   0x9e3779b97f4a7c15u
#define LOCI_STACK_HASH_2   0xd6e8feb86659fd93u
/* Times these they are 1. */
#define LOCI_STACK_UNHASH_1 0xf1de83e19937733du
#define LOCI_STACK_UNHASH_2 0xcfee444d8b59a89bu

static inline uint64_t loci_stack_hash(uint64_t block)
{
	block *= LOCI_STACK_HASH_1;
	block ^= block >> 32;
	block *= LOCI_STACK_HASH_2;
	return block;
}

static inline uint64_t loci_stack_block_of(uint64_t hash)
{
	hash *= LOCI_STACK_UNHASH_2;
	hash ^= hash >> 32;
	return hash * LOCI_STACK_UNHASH_1;
}

static inline uint64_t loci_stack_home(uint64_t hash, uint64_t n_homes)
{
	return (hash >> 32) * n_homes >> 32;
}

/* Bits that have nothing to do with the home. */
static inline uint64_t loci_stack_sample_bits(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * 0xff51afd7ed558ccdu;
	return (hash ^ hash >> 29) * 0xc4ceb9fe1a85ec53u;
}

static inline bool loci_stack_sampled(uint64_t hash, unsigned shift)
{
	return !(loci_stack_sample_bits(hash) >> (64 - shift));
}

/* Is an entry one of a block that is not followed? */
static inline bool loci_stack_in_front(
	const struct loci_stack_sample *sample, const uint32_t *entry)
{
	return sample && (uintptr_t)entry - (uintptr_t)sample->front < LOCI_STACK_FRONT_BYTES;
}

/* distance: LOCI_INFINITE for a block that is new */
static inline void loci_stack_sample_count(
	struct loci_stack_sample *sample, uint64_t hash, uint64_t distance)
{
	unsigned group = loci_stack_sample_bits(hash) >> 16 & (LOCI_STACK_GROUPS - 1);
	unsigned class = distance == LOCI_INFINITE ? LOCI_STACK_CLASSES - 1
		: distance                         ? 64u - (unsigned)__builtin_clzll(distance)
						   : 0;

	sample->group[group][class]++;
}

int loci_stack_map_init(struct loci_stack_map *map, const struct loci_stack_tuning *tuning);
void loci_stack_map_fini(struct loci_stack_map *map);
/* What the map uses with so many homes. */
uint64_t loci_stack_map_bytes(const struct loci_stack_map *map, uint64_t n_homes);
/* Can it take a chunk of new blocks? */
bool loci_stack_map_has_room(const struct loci_stack_map *map);
/* How many homes the next growth makes. */
uint64_t loci_stack_map_next_homes(const struct loci_stack_map *map);
/* Grows in place, and tells the places of the top where their entries went. After -ENOMEM the map
 * can only be freed. */
int loci_stack_map_grow(struct loci_stack_map *map, uint64_t n_homes, uint32_t **place);

/* Calls keep for every entry, and leaves out those for which it returns false. */
typedef bool loci_stack_keep(void *data, uint64_t key, uint64_t stamp, uint32_t slot);
void loci_stack_map_filter(
	struct loci_stack_map *map, uint32_t **place, loci_stack_keep *keep, void *data);
/* Adds an entry, whose key must be new, to a bucket or the next that is not full. */
static inline uint32_t *loci_stack_bucket_add(
	struct loci_stack_bucket *home, uint64_t key, uint64_t stamp, uint32_t slot)
{
	struct loci_stack_bucket *at = home;
	uint32_t *entry;

	while (at->slot[LOCI_STACK_WAYS - 1])
		at++;
	loci_stack_set_away(home, at, key);
	entry = loci_stack_first_empty(at);
	*entry = slot;
	*loci_stack_key(entry) = key;
	*loci_stack_stamp(entry) = stamp;
	return entry;
}

/* n_live slots in use, numbered from the first on. */
int loci_stack_slots_init(struct loci_stack_slots *slots, uint64_t n_slots, uint64_t n_live,
	bool keep_uses, uint64_t page_bytes);
void loci_stack_slots_fini(struct loci_stack_slots *slots);
uint64_t loci_stack_slots_bytes(uint64_t n_slots, bool keep_uses, uint64_t page_bytes);
/* Can they take a chunk of new blocks? */
bool loci_stack_slots_have_room(const struct loci_stack_slots *slots, uint64_t chunk);
/* The set bits after a slot. */
uint64_t loci_stack_slots_after(const struct loci_stack_slots *slots, uint32_t slot);
void loci_stack_slots_clear(struct loci_stack_slots *slots, uint32_t slot);
/* The number of the slot with so many before it: numbers skip the word of counts of each line. */
uint32_t loci_stack_slots_number(uint64_t rank);
/* The open line is full: counts it in the levels and opens the next. */
void loci_stack_slots_close_line(struct loci_stack_slots *slots);
/* Renumbers the slots of all entries of the map, in order and without gaps, in a bitmap of n_slots.
 * 0 or -ENOMEM, nothing having changed. */
int loci_stack_slots_renumber(struct loci_stack_slots *slots, struct loci_stack_map *map,
	uint64_t n_live, uint64_t n_slots);

/* Of an engine whose most recent blocks others keep, and that has no others in its top: the next
 * ones get their places and ranks. */
void loci_stack_rank_top(struct loci_stack *stack);

/* Follows half as many blocks from now on; the first time, half of all. */
int loci_stack_sample_less(struct loci_stack *stack, struct loci_err *err);
/* Forgets the blocks not followed that have left the top: before every FRONT_CHUNK touches. */
void loci_stack_sample_clean(struct loci_stack *stack);
/* 0 or -ENOMEM. */
int loci_stack_sample_result(const struct loci_stack *stack, struct loci_stack_result *ret);
void loci_stack_sample_free(struct loci_stack_sample *sample);

/* How many blocks have slots, and how many slots they should get. */
uint64_t loci_stack_n_deep(const struct loci_stack *stack);
uint64_t loci_stack_slots_for(const struct loci_stack *stack, uint64_t n_deep);

#endif
