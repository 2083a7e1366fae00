// SPDX-License-Identifier: GPL-2.0-or-later
/* Per-set distances of every power-of-two set count: batches of touches sink through the groups
 * from coarse to fine until nothing changes any more (inclusion by set refinement: Mattson et al.
 * 1970, Hill and Smith 1989; dirty levels: Thompson and Smith 1989).
 *
 * Two facts bound the work. A finer set holds a subset of its coarser one, so positions, and with
 * them dirty levels, never grow with alpha. And a position of 0 is one at all finer levels. A touch
 * that goes on needlessly does no harm: it finds zeros and changes nothing. */
#include "engine/sets.h"
#include "base/cleanup.h"
#include "engine/sets_group.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_GROUPS (LOCI_SETS_MAX_BITS / SETS_LEVELS + 1)

struct loci_sets {
	unsigned max_bits;
	sets_group_fn *run;
	uint64_t touches, writes;
	/* The touch before: its repetition changes nothing when it reads, or when the block has
	 * been written and since then touched by nothing but repetition. */
	uint64_t last;
	bool has_last, last_is_clean;
	/* Left out as two blocks in turn, by the finest level at which the two share a set; of
	 * them the second halves of a straddling reference. */
	uint64_t turns[LOCI_SETS_MAX_BITS + 1], rewrites[LOCI_SETS_MAX_BITS + 1];
	uint64_t turned_halves[LOCI_SETS_MAX_BITS + 1];
	uint64_t halves;
	bool last_repeats; /* the touch before was a repetition: its position was 0 everywhere */
	unsigned n_groups;
	struct sets_group group[MAX_GROUPS];
	struct sets_head *head; /* of all groups, lazily backed */
	size_t head_bytes;
	struct sets_pool pool; /* lazily backed too */
	size_t ranks_bytes, cluster_bytes;
	struct sets_batch batch;
};

static sets_group_fn *const kernels[] = {
	[LOCI_ISA_SCALAR] = sets_group_scalar,
	[LOCI_ISA_AVX2] = sets_group_avx2,
	[LOCI_ISA_AVX512] = sets_group_avx512,
};

/* How many of the head's stamps are newer. */
static unsigned head_rank(const struct sets_head *head, unsigned slot)
{
	unsigned rank = 0;

	for (unsigned i = 0; i < SETS_HEAD_SLOTS; i++)
		rank += head->stamp[i] > head->stamp[slot];
	return rank;
}

void sets_head_promote(const struct sets_group *group, struct sets_head *head)
{
	struct sets_pool *pool = group->pool;
	uint8_t *rank = pool->ranks[pool->n].of;
	struct sets_cluster *cluster = &pool->cluster[pool->n];
	bool taken[SETS_SLOTS] = { false };
	unsigned next = SETS_HEAD_SLOTS;

	for (unsigned i = 0; i < SETS_HEAD_SLOTS; i++) {
		uint64_t block = head->block[i];
		unsigned slot = sets_list_of(group->base, block);

		while (taken[slot])
			slot++;
		taken[slot] = true;
		rank[slot] = (uint8_t)head_rank(head, i);
		cluster->high[slot] = (uint8_t)(block >> 56);
		cluster->next[slot] = (uint8_t)(block >> 48);
		cluster->block[slot] = block;
		cluster->dirty[slot] = head->dirty[i];
	}
	for (unsigned slot = 0; slot < SETS_SLOTS; slot++)
		if (!taken[slot])
			rank[slot] = (uint8_t)next++;
	head->clock = SETS_HEAD_SLOTS;
	head->cluster = ++pool->n;
}

void sets_head_renumber(struct sets_head *head)
{
	uint16_t stamp[SETS_HEAD_SLOTS];
	unsigned used = 0;

	for (unsigned i = 0; i < SETS_HEAD_SLOTS; i++)
		used += head->stamp[i] > 0;
	for (unsigned i = 0; i < SETS_HEAD_SLOTS; i++)
		stamp[i] = head->stamp[i] ? (uint16_t)(used - head_rank(head, i)) : 0;
	memcpy(head->stamp, stamp, sizeof(stamp));
	head->clock = used;
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

/* Groups of three levels from 0 on; the last ends with the finest, where it may overlap the one
 * before: coarse groups see most touches, so these are the ones to fill. */
static size_t lay_out(struct loci_sets *sets)
{
	int last = (int)sets->max_bits + 1 - SETS_LEVELS;
	size_t heads = 0;

	sets->n_groups = sets->max_bits / SETS_LEVELS + 1;
	for (unsigned i = 0; i < sets->n_groups; i++) {
		struct sets_group *group = &sets->group[i];
		int base = (int)i * SETS_LEVELS < last ? (int)i * SETS_LEVELS : last;

		group->base = base;
		for (int level = 0; level < SETS_LEVELS; level++)
			group->level_mask[level] =
				base + level > 0 ? ((uint64_t)1 << (base + level)) - 1 : 0;
		group->cluster_mask = group->level_mask[0];
		group->pool = &sets->pool;
		heads += group->cluster_mask + 1;
	}
	return heads;
}

int loci_sets_new(
	const struct loci_sets_options *options, struct loci_sets **ret, struct loci_err *err)
{
	struct loci_sets *sets;
	struct sets_head *head;
	size_t heads;

	if (options->max_bits > LOCI_SETS_MAX_BITS)
		return loci_err_set(err, EINVAL, "2^%u sets asked for; 2^%d is the most",
			options->max_bits, LOCI_SETS_MAX_BITS);
	sets = calloc(1, sizeof(*sets));
	if (!sets)
		return loci_err_nomem(err);
	sets->max_bits = options->max_bits;
	sets->run = kernels[loci_isa_resolve(options->isa)];
	heads = lay_out(sets);
	sets->head_bytes = heads * sizeof(*sets->head);
	sets->ranks_bytes = heads * sizeof(*sets->pool.ranks);
	sets->cluster_bytes = heads * sizeof(*sets->pool.cluster);
	sets->head = head = reserve(sets->head_bytes, false);
	sets->pool.ranks = reserve(sets->ranks_bytes, true);
	sets->pool.cluster = reserve(sets->cluster_bytes, true);
	if (!sets->head || !sets->pool.ranks || !sets->pool.cluster) {
		loci_sets_free(sets);
		return loci_err_nomem(err);
	}
	for (unsigned i = 0; i < sets->n_groups; i++) {
		sets->group[i].head = head;
		head += sets->group[i].cluster_mask + 1;
	}
	*ret = sets;
	return 0;
}

void loci_sets_free(struct loci_sets *sets)
{
	if (!sets)
		return;
	if (sets->pool.ranks)
		munmap(sets->pool.ranks, sets->ranks_bytes);
	if (sets->pool.cluster)
		munmap(sets->pool.cluster, sets->cluster_bytes);
	if (sets->head)
		munmap(sets->head, sets->head_bytes);
	free(sets);
}

/* The last entries of a batch are X, Y and X' of two blocks in turn, X after an earlier Y, and now
 * comes Y'. The lists after X' and Y' are as they were after X and Y, so both may go. Their
 * positions are 1 in the sets that hold both blocks, else 0; those of X and Y are no smaller, so
 * dirty levels stay as they are or, where X was a read and X' is a write, come out as if X had been
 * the write. Not so where X was a write and X' is a read.
 *
 * Y' may be the second half of a reference: X' is the first then, and X' that of one whose first is
 * Y, which has such positions, too. What Y' is the first of finds Y in its place, with the same. */
static bool drop_turn(struct loci_sets *sets, size_t kept, bool write, bool half)
{
	struct sets_batch *batch = &sets->batch;
	uint32_t *first = &batch->write[kept - 3], *second = first + 1, again = first[2];
	uint64_t differ = batch->block[kept - 1] ^ batch->block[kept - 2];
	unsigned shared = (unsigned)__builtin_ctzll(differ | (uint64_t)1 << LOCI_SETS_MAX_BITS);

	if ((*first && !again) || (*second && !write))
		return false;
	sets->turns[shared] += 2;
	sets->rewrites[shared] += (*first != 0) + (*second != 0);
	*first |= again;
	*second |= -(uint32_t)write;
	sets->turned_halves[shared] += half;
	if (batch->n_halves && batch->half[batch->n_halves - 1] == kept - 1) {
		batch->n_halves--;
		sets->turned_halves[shared]++;
	}
	return true;
}

/* What is fed, and how far it has been taken. */
struct feed {
	const uint64_t *block;
	const uint8_t *is_write;
	size_t n, at;
	const uint32_t *second, *second_end;
};

static size_t next_half(const struct feed *feed, const uint32_t *second)
{
	return second < feed->second_end ? *second - feed->at : SIZE_MAX;
}

/* Takes touches until the batch is full. Repetitions of the last block are left
 * out: their positions are 0, and a write among them changes and counts at every level what it
 * would if the touch it repeats had been the write. So are two blocks in turn. */
static void fill(struct loci_sets *sets, struct feed *feed)
{
	const uint64_t *block = feed->block + feed->at;
	const uint8_t *is_write = feed->is_write ? feed->is_write + feed->at : NULL;
	const uint32_t *second = feed->second;
	size_t n = feed->n - feed->at, next = next_half(feed, second);
	struct sets_batch *batch = &sets->batch;
	uint64_t last = sets->last, before = sets->last, writes = 0;
	bool has_last = sets->has_last, clean = sets->last_is_clean;
	size_t taken = 0, kept = 0, turn = 0; /* turn: entries that equal the last but one */
	bool repeats = sets->last_repeats, any = false; /* any: the last entry is a write */

	batch->n_halves = 0;
	for (; taken < n && kept < SETS_BATCH; taken++) {
		bool write = is_write && is_write[taken];
		bool same = has_last & (block[taken] == last);
		bool back = !same & (block[taken] == before);
		bool fold = same & (kept > 0);

		bool half = false;

		writes += write;
		if (taken == next) {
			half = !same & !repeats;
			sets->halves++;
			next = next_half(feed, ++second);
		}
		repeats = same;
		if (back & (turn >= 2) && drop_turn(sets, kept, write, half)) {
			kept--;
			turn--;
			before = last;
			last = block[taken];
			clean = write;
			any = batch->write[kept - 1];
			continue;
		}
		turn = same ? turn : back ? turn + 1 : 0;
		before = same ? before : last;
		last = block[taken];
		batch->block[kept] = last * SETS_MULTIPLIER;
		any = write | (fold & any);
		batch->write[kept - fold] = -(uint32_t)any;
		if (half)
			batch->half[batch->n_halves++] = (uint16_t)kept;
		kept += !(fold | (same & (!write | clean)));
		clean = write | (same & clean);
		has_last = true;
	}
	batch->n = kept;
	batch->has_last = true;
	sets->last = last;
	sets->last_repeats = repeats;
	sets->has_last = has_last;
	sets->last_is_clean = clean;
	sets->touches += taken;
	sets->writes += writes;
	feed->at += taken;
	feed->second = second;
}

int loci_sets_feed_halves(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write,
	size_t n, const struct loci_sets_halves *halves, struct loci_err *err)
{
	struct feed feed = { .block = block, .is_write = is_write, .n = n };

	(void)err;
	if (halves && halves->n) {
		feed.second = halves->second;
		feed.second_end = halves->second + halves->n;
	}
	while (feed.at < n) {
		unsigned i = 0;

		fill(sets, &feed);
		for (; sets->batch.n && i < sets->n_groups; i++)
			sets->run(&sets->group[i], &sets->batch);
		for (; i < sets->n_groups; i++)
			sets->group[i].before = 0;
	}
	return 0;
}

int loci_sets_feed(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n,
	struct loci_err *err)
{
	return loci_sets_feed_halves(sets, block, is_write, n, NULL, err);
}

/* A touch that stopped before has position 0 here, a write dirty level 0, and a straddling
 * reference a half at 0: what is not counted elsewhere. */
void loci_sets_counts(const struct loci_sets *sets, unsigned set_bits, struct loci_sets_counts *ret)
{
	const struct sets_group *group = &sets->group[set_bits / SETS_LEVELS];
	unsigned level = (unsigned)((int)set_bits - group->base);
	const uint64_t *position = group->position[level], *dirty = group->dirty[level];
	const uint64_t *both = group->both[level];

	memcpy(ret->position, position, sizeof(ret->position));
	memcpy(ret->dirty, dirty, sizeof(ret->dirty));
	memcpy(ret->both, both, sizeof(ret->both));
	ret->absent = position[LOCI_SETS_WAYS];
	ret->dirty_absent = dirty[LOCI_SETS_WAYS];
	ret->both_absent = both[LOCI_SETS_WAYS];
	for (unsigned i = set_bits; i <= LOCI_SETS_MAX_BITS; i++) {
		ret->position[1] += sets->turns[i];
		ret->dirty[1] += sets->rewrites[i];
		ret->both[1] += sets->turned_halves[i];
	}
	ret->position[0] = sets->touches - ret->absent;
	ret->dirty[0] = sets->writes - ret->dirty_absent;
	ret->both[0] = sets->halves - ret->both_absent;
	for (unsigned i = 1; i < LOCI_SETS_WAYS; i++) {
		ret->position[0] -= ret->position[i];
		ret->dirty[0] -= ret->dirty[i];
		ret->both[0] -= ret->both[i];
	}
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
	return sizeof(*sets) + resident(sets->head, sets->head_bytes) +
		resident(sets->pool.ranks, sets->ranks_bytes) +
		resident(sets->pool.cluster, sets->cluster_bytes);
}
