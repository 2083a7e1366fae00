// SPDX-License-Identifier: GPL-2.0-or-later
/* Per-set distances of every power-of-two set count: inclusion by set refinement (Mattson et al.
 * 1970, Hill and Smith 1989; dirty levels: Thompson and Smith 1989). sets_state.h says how they are
 * kept, sets_kernel.h what a touch does; this is the rest: memory, references in two halves, and
 * results.
 *
 * A finer set holds a subset of its coarser one, so positions, and with them dirty levels, never
 * grow with alpha: a position of 0 is one at all finer levels. Zeros are not counted but follow
 * from the number of touches. */
#include "engine/sets.h"
#include "engine/sets_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_SETS  ((size_t)1 << LOCI_SETS_MAX_BITS)
#define N_KNOTS 21760 /* 256, 1024, 4096 and 16384 */

#define PIECE       8192u /* touches */
#define EMPTY_AFTER (1u << 24)
#define FAR_PART    8
#define FAR_OPEN    64 /* sets of 2^8 with more than 64 blocks */

#define ONES(n) (0x0101010101010101u >> (64 - 8 * (n)))

const sets_row sets_ones[] = { { 0, 0 }, { ONES(1), 0 }, { ONES(2), 0 }, { ONES(3), 0 },
	{ ONES(4), 0 }, { ONES(5), 0 }, { ONES(6), 0 }, { ONES(7), 0 }, { ONES(8), 0 },
	{ ONES(8), ONES(1) }, { ONES(8), ONES(2) }, { ONES(8), ONES(3) }, { ONES(8), ONES(4) },
	{ ONES(8), ONES(5) }, { ONES(8), ONES(6) }, { ONES(8), ONES(7) }, { ONES(8), ONES(8) } };

static sets_run_fn *const kernels[] = {
	[LOCI_ISA_SCALAR] = sets_run_scalar,
	[LOCI_ISA_AVX2] = sets_run_avx2,
	[LOCI_ISA_AVX512] = sets_run_avx512,
};

void sets_directory_promote(struct sets_directory *directory, struct sets_head *head)
{
	struct sets_chunk *chunk = &directory->chunk[directory->n_chunks];

	for (unsigned i = 0; i < head->n; i++) {
		chunk->middle[i] = (uint32_t)(head->block[i] >> 16);
		chunk->high[i] = (uint16_t)(head->block[i] >> 48);
		chunk->dirty[i] = head->dirty[i];
	}
	head->chunk = ++directory->n_chunks;
}

#define HUGE_PAGE ((uintptr_t)2 << 20)
#define SMALL_USE ((uintptr_t)1 << 20)

/* Zero pages that exist once they are written. What fills up from the start has huge pages after
 * its first part, so that small use stays small. */
static void *reserve(size_t bytes, bool fills_up)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t start = ((uintptr_t)memory + SMALL_USE + HUGE_PAGE - 1) & -HUGE_PAGE;

	if (memory == MAP_FAILED)
		return NULL;
	if (fills_up && start < (uintptr_t)memory + bytes)
		(void)madvise((void *)start, (uintptr_t)memory + bytes - start, MADV_HUGEPAGE);
	return memory;
}

#define KNOT_BYTES  (N_KNOTS * sizeof(struct sets_knot))
#define LIST_BYTES  (((size_t)1 << SETS_SECOND_LIST) * sizeof(*((struct sets_tree *)0)->second))
#define HEAD_BYTES  (N_SETS * sizeof(struct sets_head))
#define CHUNK_BYTES (N_SETS * sizeof(struct sets_chunk))

int loci_sets_new(
	const struct loci_sets_options *options, struct loci_sets **ret, struct loci_err *err)
{
	struct loci_sets *sets;

	if (options->max_bits > LOCI_SETS_MAX_BITS)
		return loci_err_set(err, EINVAL, "2^%u sets asked for; 2^%d is the most",
			options->max_bits, LOCI_SETS_MAX_BITS);
	sets = aligned_alloc(64, (sizeof(*sets) + 63) & ~63ul);
	if (!sets)
		return loci_err_nomem(err);
	memset(sets, 0, sizeof(*sets));
	memset(sets->top.hint, SETS_NOBODY, sizeof(sets->top.hint));
	memset(sets->top.next, SETS_NOBODY, sizeof(sets->top.next));
	for (unsigned i = 0; i < SETS_TOP; i++)
		sets->top.rank[i] = (uint8_t)i;
	sets->run = kernels[loci_isa_resolve(options->isa)];
	sets->tree.knot = reserve(KNOT_BYTES, false);
	sets->tree.second = reserve(LIST_BYTES, false);
	sets->directory.head = reserve(HEAD_BYTES, false);
	sets->directory.chunk = reserve(CHUNK_BYTES, true);
	if (!sets->tree.knot || !sets->tree.second || !sets->directory.head ||
		!sets->directory.chunk) {
		loci_sets_free(sets);
		return loci_err_nomem(err);
	}
	*ret = sets;
	return 0;
}

void loci_sets_free(struct loci_sets *sets)
{
	if (!sets)
		return;
	if (sets->tree.knot)
		munmap(sets->tree.knot, KNOT_BYTES);
	if (sets->tree.second)
		munmap(sets->tree.second, LIST_BYTES);
	if (sets->directory.head)
		munmap(sets->directory.head, HEAD_BYTES);
	if (sets->directory.chunk)
		munmap(sets->directory.chunk, CHUNK_BYTES);
	free(sets);
}

/* A straddling reference, by the lower position of the last touch and the one before. */
static void count_both(struct loci_sets *sets, const sets_row *row, unsigned row0)
{
	uint8_t first[LOCI_SETS_MAX_BITS], second[LOCI_SETS_MAX_BITS];

	memcpy(first, row, sizeof(first));
	memcpy(second, &sets->row, sizeof(second));
	sets->halves++;
	sets->both[0][row0 < sets->row0 ? row0 : sets->row0]++;
	for (unsigned i = 0; i < LOCI_SETS_MAX_BITS; i++)
		sets->both[i + 1][first[i] < second[i] ? first[i] : second[i]]++;
}

/* From time to time: is looking ahead worth it? A touch of a block that is not in the top waits for
 * several cache lines, all others for none; but where blocks are few they are near enough. */
static void weigh(struct loci_sets *sets)
{
	uint64_t touches = sets->touches - sets->past_touches;
	uint64_t far = sets->position.single[LOCI_SETS_WAYS] - sets->past_far;

	if (touches < PIECE)
		return;
	sets->is_far = far >= touches / FAR_PART && sets->tree.n_open >= FAR_OPEN;
	sets->past_touches += touches;
	sets->past_far += far;
}

/* The counts of a level from 1 on. */
static void add_pairs(const struct sets_tally *tally, unsigned level, uint64_t *counts)
{
	const uint32_t *pairs = tally->pairs[(level - 1) / 2];

	for (unsigned i = 0; i < SETS_PAIRS; i++)
		if (pairs[i])
			counts[level % 2 ? i % SETS_PAIR : i / SETS_PAIR] += pairs[i];
}

/* Long before one of them could be more than 32 bits hold: each touch adds at most one. */
static void empty_pairs(struct sets_tally *tally)
{
	for (unsigned level = 1; level <= LOCI_SETS_MAX_BITS; level++)
		add_pairs(tally, level, tally->past[level]);
	memset(tally->pairs, 0, sizeof(tally->pairs));
}

static void feed(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write,
	size_t from, size_t to)
{
	static const uint8_t reads[PIECE];

	for (size_t take; from < to; from += take) {
		take = to - from < PIECE ? to - from : PIECE;
		sets->run(
			sets, block + from, is_write ? is_write + from : reads, take, sets->is_far);
		weigh(sets);
		if (sets->touches - sets->emptied > EMPTY_AFTER) {
			empty_pairs(&sets->position);
			empty_pairs(&sets->dirty);
			sets->emptied = sets->touches;
		}
	}
}

int loci_sets_feed_halves(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write,
	size_t n, const struct loci_sets_halves *halves, struct loci_err *err)
{
	size_t at = 0;

	(void)err;
	for (size_t i = 0; halves && i < halves->n; i++) {
		size_t second = halves->second[i];
		sets_row row;
		unsigned row0;

		feed(sets, block, is_write, at, second);
		row = sets->row;
		row0 = sets->row0;
		feed(sets, block, is_write, second, second + 1);
		count_both(sets, &row, row0);
		at = second + 1;
	}
	feed(sets, block, is_write, at, n);
	return 0;
}

int loci_sets_feed(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n,
	struct loci_err *err)
{
	return loci_sets_feed_halves(sets, block, is_write, n, NULL, err);
}

/* All of n that have no other position have 0. */
static uint64_t the_rest(const uint64_t *count, uint64_t absent, uint64_t n)
{
	n -= absent;
	for (unsigned i = 1; i < LOCI_SETS_WAYS; i++)
		n -= count[i];
	return n;
}

static void open_tally(
	const struct sets_tally *tally, unsigned level, uint64_t *ret_counts, uint64_t *ret_absent)
{
	uint64_t counts[LOCI_SETS_WAYS + 1];

	memcpy(counts, level ? tally->past[level] : tally->single, sizeof(counts));
	if (level)
		add_pairs(tally, level, counts);
	memcpy(ret_counts, counts, LOCI_SETS_WAYS * sizeof(*ret_counts));
	*ret_absent = counts[LOCI_SETS_WAYS];
}

void loci_sets_counts(const struct loci_sets *sets, unsigned set_bits, struct loci_sets_counts *ret)
{
	const uint64_t *both = sets->both[set_bits];

	open_tally(&sets->position, set_bits, ret->position, &ret->absent);
	open_tally(&sets->dirty, set_bits, ret->dirty, &ret->dirty_absent);
	memcpy(ret->both, both, sizeof(ret->both));
	ret->both_absent = both[LOCI_SETS_WAYS];
	for (unsigned i = set_bits; i <= LOCI_SETS_MAX_BITS; i++)
		ret->position[1] += sets->turns[i];
	ret->position[0] = the_rest(ret->position, ret->absent, sets->touches);
	ret->dirty[0] = the_rest(ret->dirty, ret->dirty_absent, sets->writes);
	ret->both[0] = the_rest(ret->both, ret->both_absent, sets->halves);
}

static uint64_t resident(void *memory, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page, n = 0;
	unsigned char *in = malloc(pages);

	if (!in || mincore(memory, bytes, in) < 0)
		n = pages;
	else
		for (size_t i = 0; i < pages; i++)
			n += in[i] & 1;
	free(in);
	return n * page;
}

uint64_t loci_sets_bytes(const struct loci_sets *sets)
{
	return sizeof(*sets) + resident(sets->tree.knot, KNOT_BYTES) +
		resident(sets->tree.second, LIST_BYTES) +
		resident(sets->directory.head, HEAD_BYTES) +
		resident(sets->directory.chunk, CHUNK_BYTES);
}
