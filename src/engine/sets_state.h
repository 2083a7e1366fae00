/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the per-set engine keeps. Private to sets*.c.
 *
 * The 64 most recent blocks are the *top*; all others are in the *tree* and the *directory*. A
 * block's position among 2^k sets is the number of top blocks in its set that were touched later,
 * and if it is not in the top itself, the number of all of them and of the more recent blocks of
 * that set in the tree.
 *
 * The top has a rank a place for the order, and for every address bit below 16 the places whose
 * block has it, as a word: those of one set of 2^k are an intersection of k such words.
 *
 * The tree has for every set of 2^k, k from 1 to 15, a word of the up to 64 most recent blocks that
 * are not in the top, the most recent lowest: which of them have bit k of the address, and a second
 * one of those that have not. Bit k says to which of the two sets of 2^(k+1) a block belongs; so
 * the n-th bit set in a word is the n-th block of one of these, and nothing else need be kept.
 * Going up from the finest sets, a block's bit in a word is the one above as many as there are
 * blocks before it in the finer set, and its position is the place of that bit. The directory,
 * which has the blocks themselves in order for each set of 2^16, says where to begin. Sets that
 * never held more than 64 blocks are lists of these, from which the positions in all finer ones are
 * counted.
 *
 * Where a list drops a block for 64 more recent ones, top blocks of its set among them, its
 * position is 64 or more, which is all that is asked. */
#ifndef LOCI_ENGINE_SETS_STATE_H
#define LOCI_ENGINE_SETS_STATE_H

#include "engine/sets.h"

#include <stdbool.h>

#define SETS_TOP                                                                        \
	64 /* no less than the ways: what is not in the top is absent from a single set \
	    */
#define SETS_NOBODY    SETS_TOP /* no place */
#define SETS_VISITS    1025     /* touches at once: one, and the others by 64 */
#define SETS_BATCH     128 /* of those without repetitions, up to which writes are not counted */
#define SETS_HINT_BITS 12

/* A byte for each of the levels 1 to 16, the coarsest first. None is larger than one of a coarser
 * level; those of a block that is absent are 64. */
typedef uint64_t sets_row __attribute__((vector_size(16)));

#define SETS_ABSENT (LOCI_SETS_WAYS * 0x0101010101010101u)

/* A row, and after it one byte of level 0. */
struct sets_wide {
	_Alignas(32) sets_row levels;
	sets_row single;
};

struct sets_top {
	_Alignas(64) uint64_t
		plane[2][LOCI_SETS_MAX_BITS]; /* places whose block has this bit clear, or set */
	_Alignas(64) uint8_t rank[SETS_TOP];  /* more recent ones */
	struct sets_wide dirty[SETS_TOP];     /* the largest positions since the last write */
	uint64_t block[SETS_TOP + 1];         /* and nobody's */
	uint8_t hint[1 << SETS_HINT_BITS];    /* the first place whose block has this hash */
	uint8_t next[SETS_TOP + 1];           /* after this one */
	unsigned n;
	unsigned last, before; /* the two most recent places */
};

/* Three sets: one of 2^k, k being 8, 10, 12 or 14, and the two of twice as many that it consists
 * of. The few coarser ones stand in a row. */
#define SETS_KNOT_LEVELS 2
#define SETS_KNOTS       4 /* from coarsest to finest */
#define SETS_FIRST_KNOT  8

struct sets_knot {
	_Alignas(64) uint64_t coarse[2]; /* blocks that have the next bit clear, or set */
	uint64_t fine[2][2];
};

/* Until it has held more than 64 blocks at once a set of 2^8 is a list, which stands for its knot
 * and all below it: of each block the bits 8 to 15, a word for each bit, the most recent lowest.
 * Of one that has, the sets of 2^12 are such lists. */
#define SETS_FIRST_LIST  8
#define SETS_SECOND_LIST 12
#define SETS_LIST_MOST   64
#define SETS_OPEN        255 /* no list: its knots are in use */

struct sets_tree {
	_Alignas(64) uint64_t coarse[1 << SETS_FIRST_KNOT][2]; /* a set of 2^k after 2^k others */
	_Alignas(64) uint64_t first[1 << SETS_FIRST_LIST][LOCI_SETS_MAX_BITS - SETS_FIRST_LIST];
	uint8_t n_first[1 << SETS_FIRST_LIST]; /* blocks of each list */
	uint8_t n_second[1 << SETS_SECOND_LIST];
	unsigned n_open;        /* sets of 2^8 that are no list */
	struct sets_knot *knot; /* both lazily backed */
	uint64_t (*second)[LOCI_SETS_MAX_BITS - SETS_SECOND_LIST];
};

/* A set of 2^16: two blocks, the more recent one last, or a chunk of the pool, where they are in a
 * ring. */
#define SETS_HEAD_BLOCKS 2

struct sets_head {
	_Alignas(64) uint64_t block[SETS_HEAD_BLOCKS];
	sets_row dirty[SETS_HEAD_BLOCKS];
	uint32_t chunk; /* 1 + its number; 0: none */
	uint8_t n;
	uint8_t start; /* the oldest of the ring */
};

struct sets_chunk {
	_Alignas(64) uint32_t middle[LOCI_SETS_WAYS]; /* of the block: bits 16 to 47 */
	uint16_t high[LOCI_SETS_WAYS];                /* and from 48 */
	sets_row dirty[LOCI_SETS_WAYS];
};

struct sets_directory {
	struct sets_head *head; /* both lazily backed */
	struct sets_chunk *chunk;
	uint32_t n_chunks;
};

/* Touches without repetitions: one after another of the same block are one, a write if any of them
 * is. The first is of the block that was touched last before. Room for 64 is written beyond. */
struct sets_visits {
	uint64_t block[1 + SETS_VISITS + 64];
	uint8_t is_write[1 + SETS_VISITS + 64];
	unsigned n;
};

typedef uint64_t sets_counts[LOCI_SETS_MAX_BITS + 1][LOCI_SETS_WAYS + 1];

/* Rows of positions or dirty levels, all but 0: what is not counted is there. Levels 1 and 2, 3 and
 * 4, ... both at once: the first one's, and so many times the other's. */
#define SETS_PAIR  (LOCI_SETS_WAYS + 1)
#define SETS_PAIRS (SETS_PAIR * SETS_PAIR)

struct sets_tally {
	uint64_t single[LOCI_SETS_WAYS + 1]; /* at level 0 */
	uint32_t pairs[LOCI_SETS_MAX_BITS / 2][SETS_PAIRS];
	sets_counts past; /* what was in pairs when they were last emptied */
};

/* 1 at so many levels. */
extern const sets_row sets_ones[LOCI_SETS_MAX_BITS + 1];

struct loci_sets;
/* far: it is worth to look ahead. */
typedef void sets_run_fn(
	struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n, bool far);
sets_run_fn sets_run_scalar;
sets_run_fn sets_run_avx2;
sets_run_fn sets_run_avx512;

struct loci_sets {
	struct sets_top top;
	sets_row row;  /* positions of the last touch */
	unsigned row0; /* and at level 0 */
	struct sets_tree tree;
	struct sets_directory directory;
	sets_run_fn *run;
	/* Whether many touches are of blocks not in the top, as counted up to these. */
	bool is_far;
	uint64_t past_touches, past_far;
	uint64_t touches, writes, halves;
	struct sets_tally position, dirty;
	uint64_t emptied; /* touches up to when their pairs were */
	sets_counts both;
	/* Dirty levels of writes not counted yet. */
	struct sets_wide written[SETS_BATCH + 1];
	/* Touches of the last block but one, by the finest level at which it shares a set with the
	 * last. */
	uint64_t turns[LOCI_SETS_MAX_BITS + 1];
};

/* The blocks of a full head in a chunk. */
void sets_directory_promote(struct sets_directory *directory, struct sets_head *head);

#endif
