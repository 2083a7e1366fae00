/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the coherent stacks share.
 *
 * Each member's stack is cut in two as the stack engine's is (stack_state.h): places with ranks,
 * and below them slots. Both may hold holes. Blocks are pushed from the places into slots only when
 * no place is a hole, so all holes among the places are above all slots; the highest of the slots'
 * is known from a bitmap with summaries.
 *
 * One map for all members, the stack engine's, is the directory. Where one member has a block, or
 * had it last, its entry holds the member and where in its stack the block is. Where several do, or
 * did and may want to know why not any more, it leads to a record: who touched it last, the list
 * of these members, and, as long as one of them has lost the block and not come back, the writes
 * since, with the bytes that each was the last to write.
 *
 * Two bits for each place keep touches from the directory. *Mine*: nobody else has touched the
 * block since. *Free*: and nobody else has it or has lost it, so that nobody minds a write, which
 * would not change what is known of the block either. */
#ifndef LOCI_ENGINE_COHERENT_STATE_H
#define LOCI_ENGINE_COHERENT_STATE_H

#include "engine/coherent.h"
#include "engine/stack_state.h"

/* Of an entry's slot: one member has the block, which nobody else ever touched, or only read, or
 * someone wrote after another had touched it; from RECORD on a record. */
enum {
	LOCI_COHERENT_ALONE = LOCI_STACK_DEEP,
	LOCI_COHERENT_READ,
	LOCI_COHERENT_WRITTEN,
	LOCI_COHERENT_RECORD
};

/* Where a block is in a stack: a place, or the number of a slot, which is above all places. */
#define LOCI_COHERENT_NOWHERE UINT32_MAX       /* it never was there */
#define LOCI_COHERENT_LOST    (UINT32_MAX - 1) /* it was taken away */

static inline uint64_t loci_coherent_stamp(uint32_t member, uint32_t at)
{
	return (uint64_t)member << 32 | at;
}

/* Of a block that several members know. Numbers of items; 0: none. */
struct loci_coherent_record {
	uint32_t sharers;
	uint32_t state; /* READ or WRITTEN */
	uint32_t log;
	uint32_t last;  /* toucher */
	uint64_t taken; /* times that a write took it away */
	uint32_t alone; /* 1: no other member has it; known while the last toucher stays the same */
};

/* The same of a block that one has, of which the entry knows, and one has lost, since when all that
 * matters was written with one use: what one thread makes and another goes on with. */
#define LOCI_COHERENT_PAIR 0x80000000u /* or'ed to the state */
struct loci_coherent_pair {
	uint32_t loser;
	uint32_t state;
	uint64_t lost_to; /* the write that took it */
	uint64_t bytes, use;
};

struct loci_coherent_sharer {
	uint32_t next, member, at;
	uint64_t use, taken; /* if LOST: the write that took it, and the record's taken then */
};

/* Writes one after the other with the same use, from the newest on. */
struct loci_coherent_log {
	uint32_t next;
	uint64_t bytes; /* that nobody has written since */
	uint64_t use, taken;
};

union loci_coherent_item {
	struct loci_coherent_record record;
	struct loci_coherent_pair pair;
	struct loci_coherent_sharer sharer;
	struct loci_coherent_log log;
	uint32_t next; /* free one */
};

struct loci_coherent_pool {
	union loci_coherent_item *item; /* 0 is none */
	uint32_t n, free, n_free, room; /* n: that ever were in use; n_free: of these */
};

/* A bit for each slot number; above it, for each word below that is not 0. */
#define LOCI_COHERENT_HOLE_LEVELS 6

struct loci_coherent_holes {
	uint64_t *word[LOCI_COHERENT_HOLE_LEVELS]; /* [0]: the memory */
	unsigned n_levels;
	uint64_t bytes;
	uint32_t highest; /* 0: none */
};

/* What is counted of touches besides their distances. */
enum loci_coherent_event {
	LOCI_COHERENT_N_COLD,
	LOCI_COHERENT_N_TRUE,
	LOCI_COHERENT_N_FALSE,
	LOCI_COHERENT_N_REMOTE,
	LOCI_COHERENT_N_TAKEN,
	LOCI_COHERENT_EVENTS
};

/* Distances by fine bins, and those counted at former rates with their weights. */
struct loci_coherent_bins {
	uint64_t *count; /* NULL: not wanted */
	uint32_t n;
	double *weight, *square; /* NULL: there are none */
};

struct loci_coherent_tally {
	uint64_t touches, writes; /* all */
	unsigned shift;           /* what is counted in the following weighs 2^shift */
	uint64_t event[LOCI_COHERENT_EVENTS];
	struct loci_coherent_bins stack, remote;
	double event_weight[LOCI_COHERENT_EVENTS]; /* at former rates */
};

struct loci_coherent_member {
	uint8_t rank[LOCI_STACK_TOP] __attribute__((aligned(64)));
	uint64_t mine, free, holes;      /* a bit for each place */
	uint64_t key[LOCI_STACK_TOP];    /* of places: the key of its entry */
	uint32_t *entry[LOCI_STACK_TOP]; /* its slot; NULL: not taken yet, or a hole */
	uint8_t hint[1 << (64 - LOCI_STACK_HINT_SHIFT)]; /* by hash: the place it may be in */
	struct loci_stack_slots slots;
	struct loci_coherent_holes deep; /* holes */
	uint64_t n_deep;                 /* slots in use, holes included */
	uint32_t number;
	struct loci_coherent_tally *tally; /* borrowed */
};

/* Thresholds that tests lower, so that small streams meet every path. */
struct loci_coherent_tuning {
	struct loci_stack_tuning stack; /* of the directory, and of a member's slots */
	uint32_t min_items;
};

struct loci_coherent_touch {
	uint64_t hash, bytes, use;
	bool is_write, takes;
	/* found */
	uint64_t lost_to;
	uint32_t at; /* where it was: a place, a slot, or NOWHERE */
	uint8_t kind;
	bool is_free;
};

/* Processes touches of one member, for which there is room. */
struct loci_coherent_piece {
	const uint64_t *block, *bytes, *use;
	const uint8_t *is_write;
	size_t n;
	uint64_t *ret_distance, *ret_lost_to;
	uint8_t *ret_kind;
};
typedef void loci_coherent_kernel(struct loci_coherent *coherent,
	struct loci_coherent_member *member, const struct loci_coherent_piece *piece);
loci_coherent_kernel loci_coherent_run_scalar, loci_coherent_run_avx2, loci_coherent_run_avx512;

struct loci_coherent {
	struct loci_stack_map map;
	struct loci_coherent_pool pool;
	struct loci_coherent_member **member; /* NULL: has not begun, or has ended */
	struct loci_coherent_tally **tally;   /* of members; NULL: has not begun */
	uint32_t n_members;
	loci_coherent_kernel *kernel;
	struct loci_coherent_tuning tuning;
	uint64_t max_bytes, slots_bytes; /* slots_bytes: of all members, with their holes */
	enum loci_coherent_taking taken_by;
	unsigned shift;                           /* of blocks one in 2^shift is followed */
	uint64_t blocks[3];                       /* followed: ALONE, READ, WRITTEN */
	uint64_t hash[LOCI_STACK_MAX_CHUNK + 64]; /* of the piece at hand */
};

int loci_coherent_new_tuned(const struct loci_coherent_options *options,
	const struct loci_coherent_tuning *tuning, struct loci_coherent **ret,
	struct loci_err *err);

/* coherent_directory.c. What a touch finds that no place's bits answer, and what it does to others:
 * entry is its block's, or the empty one where that belongs. Afterwards the member has it, and its
 * place is set by loci_coherent_put. */
void loci_coherent_look(struct loci_coherent *coherent, struct loci_coherent_member *member,
	uint32_t *entry, struct loci_coherent_touch *touch);
/* Where a block is in a member's stack now. */
void loci_coherent_put(
	struct loci_coherent *coherent, uint32_t *entry, uint32_t member, uint32_t at);
/* Where it is, or NOWHERE, or LOST. */
uint32_t loci_coherent_at(
	const struct loci_coherent *coherent, uint64_t stamp, uint32_t slot, uint32_t member);
/* The record of a block that is not followed any more. Returns its state. */
uint32_t loci_coherent_forget(struct loci_coherent *coherent, uint32_t record);

/* A free item; there is room. */
static inline uint32_t loci_coherent_take_item(struct loci_coherent_pool *pool)
{
	uint32_t item = pool->free;

	if (!item)
		return ++pool->n;
	pool->free = pool->item[item].next;
	pool->n_free--;
	return item;
}

static inline void loci_coherent_free_item(struct loci_coherent_pool *pool, uint32_t item)
{
	pool->item[item].next = pool->free;
	pool->free = item;
	pool->n_free++;
}

static inline struct loci_coherent_record *loci_coherent_record_of(
	const struct loci_coherent *coherent, uint32_t slot)
{
	return &coherent->pool.item[slot - LOCI_COHERENT_RECORD].record;
}

/* NULL: it is no pair. */
static inline struct loci_coherent_pair *loci_coherent_pair_of(
	const struct loci_coherent *coherent, uint32_t slot)
{
	struct loci_coherent_pair *pair = &coherent->pool.item[slot - LOCI_COHERENT_RECORD].pair;

	return pair->state & LOCI_COHERENT_PAIR ? pair : NULL;
}

/* coherent_log.c. Was what it touches written since it lost the block, and by which write? */
void loci_coherent_judge(const struct loci_coherent_pool *pool, uint32_t log,
	const struct loci_coherent_sharer *own, struct loci_coherent_touch *touch);
void loci_coherent_log_write(struct loci_coherent_pool *pool, struct loci_coherent_record *record,
	const struct loci_coherent_touch *touch);
/* Writes before the first that anyone who is gone lost the block to matter to nobody. */
void loci_coherent_log_prune(
	struct loci_coherent_pool *pool, struct loci_coherent_record *record, uint64_t oldest);
/* The member that has the block of a pair touches it: is it a pair still, and all done? */
bool loci_coherent_pair_touch(
	struct loci_coherent *coherent, uint32_t *entry, struct loci_coherent_touch *touch);
/* A pair becomes a record, and a record that can be one a pair. */
void loci_coherent_pair_expand(struct loci_coherent *coherent, uint32_t *entry);
void loci_coherent_pair_up(struct loci_coherent *coherent, uint32_t *entry, uint32_t member);

/* coherent_slots.c */
int loci_coherent_slots_init(
	struct loci_coherent *coherent, struct loci_coherent_member *member, uint64_t n_live);
void loci_coherent_slots_fini(struct loci_coherent *coherent, struct loci_coherent_member *member);
uint64_t loci_coherent_slots_bytes(const struct loci_coherent *coherent, uint64_t n_live);
int loci_coherent_renumber(struct loci_coherent *coherent, struct loci_coherent_member *member);
void loci_coherent_add_hole(struct loci_coherent_holes *holes, uint32_t slot);
void loci_coherent_fill_highest(struct loci_coherent_holes *holes);
/* A stack from its oldest to its newest block, by hash; NULL is_hole: none is. */
int loci_coherent_set_stack(struct loci_coherent *coherent, struct loci_coherent_member *member,
	const uint64_t *hash, const uint8_t *is_hole, size_t n);
/* The same, of what there is; room for all blocks and holes. Returns how many. */
size_t loci_coherent_get_stack(const struct loci_coherent *coherent,
	const struct loci_coherent_member *member, uint64_t *hash, uint8_t *is_hole);
/* The entry of a hash, or the empty one where it belongs. */
uint32_t *loci_coherent_entry(struct loci_coherent *coherent, uint64_t hash);

/* coherent_sample.c. Follows half as many blocks from now on. */
int loci_coherent_sample_less(struct loci_coherent *coherent, struct loci_err *err);
static inline bool loci_coherent_follows(const struct loci_coherent *coherent, uint64_t hash)
{
	return !coherent->shift || loci_stack_sampled(hash, coherent->shift);
}

/* coherent_tally.c. NULL: out of memory. */
struct loci_coherent_tally *loci_coherent_tally_new(const struct loci_coherent *coherent);
void loci_coherent_tally_free(struct loci_coherent_tally *tally); /* NULL allowed */
uint64_t loci_coherent_tally_bytes(const struct loci_coherent_tally *tally);
/* Nothing more will be counted: what is not needed any more is given back. */
void loci_coherent_tally_shrink(struct loci_coherent_tally *tally);
/* Half as many blocks are followed from here on: what was counted gets its weight. 0 or -ENOMEM. */
int loci_coherent_tally_settle(struct loci_coherent_tally *tally);
/* 0 or -ENOMEM. */
int loci_coherent_tally_result(
	const struct loci_coherent_tally *tally, struct loci_coherent_result *ret);

#endif
