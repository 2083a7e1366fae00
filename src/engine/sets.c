// SPDX-License-Identifier: GPL-2.0-or-later
/* Per-set distances of every power-of-two set count: batches of touches sink through the groups
 * from coarse to fine until nothing changes any more (inclusion by set refinement: Mattson et al.
 * 1970, Hill and Smith 1989; dirty levels: Thompson and Smith 1989).
 *
 * Two facts bound the work. A finer set holds a subset of its coarser one, so positions, and with
 * them dirty levels, never grow with alpha. And a position of 0 is one at all finer levels. A touch
 * that goes on needlessly does no harm: it finds zeros and changes nothing. */
#include "engine/sets.h"
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
	unsigned n_groups;
	struct sets_group group[MAX_GROUPS];
	struct sets_head *head; /* of all groups, lazily backed */
	size_t head_bytes;
	struct sets_pool pool; /* clusters in order of need, lazily backed */
	size_t pool_bytes;
	struct sets_batch batch;
};

static sets_group_fn *const kernels[] = {
	[LOCI_ISA_SCALAR] = sets_group_scalar,
	[LOCI_ISA_AVX2] = sets_group_avx2,
	[LOCI_ISA_AVX512] = sets_group_avx512,
};

struct sets_cluster *sets_head_promote(struct sets_group *group, struct sets_head *head)
{
	struct sets_cluster *cluster = &group->pool->cluster[group->pool->n];
	unsigned used[SETS_LISTS] = { 0 };

	for (unsigned i = 0; i < SETS_HEAD_SLOTS; i++) {
		uint64_t block = head->block[i];
		unsigned list = sets_list_of(group, block), slot = used[list]++;

		cluster->stamp[list][slot] = head->stamp[i];
		cluster->high[list][slot] = (uint8_t)(block >> 56);
		cluster->next[list][slot] = (uint8_t)(block >> 48);
		cluster->block[list][slot] = block;
		cluster->dirty[list][slot] = head->dirty[i];
	}
	cluster->clock = head->clock;
	head->cluster = ++group->pool->n;
	return cluster;
}

static uint32_t renumber(uint16_t *stamp, unsigned n)
{
	uint16_t old[SETS_LISTS * LOCI_SETS_WAYS];
	uint32_t taken = 0;

	memcpy(old, stamp, n * sizeof(*old));
	for (unsigned i = 0; i < n; i++) {
		uint16_t rank = 0;

		for (unsigned k = 0; k < n; k++)
			rank = (uint16_t)(rank + (old[k] && old[k] <= old[i]));
		stamp[i] = rank;
		taken += rank != 0;
	}
	return taken;
}

void sets_head_renumber(struct sets_head *head)
{
	head->clock = renumber(head->stamp, SETS_HEAD_SLOTS);
}

void sets_cluster_renumber(struct sets_cluster *cluster)
{
	cluster->clock = renumber(cluster->stamp[0], SETS_LISTS * LOCI_SETS_WAYS);
}

/* Zero pages that exist once they are written. */
static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
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
	sets->pool_bytes = heads * sizeof(*sets->pool.cluster);
	sets->head = head = reserve(sets->head_bytes);
	sets->pool.cluster = reserve(sets->pool_bytes);
	if (!sets->head || !sets->pool.cluster) {
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
	if (sets->pool.cluster)
		munmap(sets->pool.cluster, sets->pool_bytes);
	if (sets->head)
		munmap(sets->head, sets->head_bytes);
	free(sets);
}

/* Takes touches until the batch is full; returns how many. Repetitions of the last block are left
 * out: their positions are 0, and a write among them changes and counts at every level what it
 * would if the touch it repeats had been the write. */
static size_t fill(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n)
{
	struct sets_batch *batch = &sets->batch;
	uint64_t last = sets->last, writes = 0;
	bool has_last = sets->has_last, clean = sets->last_is_clean;
	size_t taken = 0, kept = 0;

	for (; taken < n && kept < SETS_BATCH; taken++) {
		bool write = is_write && is_write[taken];
		bool same = has_last & (block[taken] == last);
		bool fold = same & (kept > 0);

		last = block[taken];
		batch->block[kept] = last * SETS_MULTIPLIER;
		batch->write[kept] = 0;
		batch->write[kept - fold] |= -(uint32_t)write;
		kept += !(fold | (same & (!write | clean)));
		clean = write | (same & clean);
		has_last = true;
		writes += write;
	}
	batch->n = kept;
	sets->last = last;
	sets->has_last = has_last;
	sets->last_is_clean = clean;
	sets->touches += taken;
	sets->writes += writes;
	return taken;
}

int loci_sets_feed(struct loci_sets *sets, const uint64_t *block, const uint8_t *is_write, size_t n,
	struct loci_err *err)
{
	while (n) {
		size_t taken = fill(sets, block, is_write, n);

		for (unsigned i = 0; sets->batch.n && i < sets->n_groups; i++)
			sets->run(&sets->group[i], &sets->batch);
		block += taken;
		is_write = is_write ? is_write + taken : NULL;
		n -= taken;
	}
	return 0;
}

/* A touch that stopped before has position 0 here, and a write dirty level 0: what is not counted
 * elsewhere. */
void loci_sets_counts(const struct loci_sets *sets, unsigned set_bits, struct loci_sets_counts *ret)
{
	const struct sets_group *group = &sets->group[set_bits / SETS_LEVELS];
	unsigned level = (unsigned)((int)set_bits - group->base);
	const uint64_t *position = group->position[level], *dirty = group->dirty[level] + 128;

	memcpy(ret->position, position, sizeof(ret->position));
	memcpy(ret->dirty, dirty, sizeof(ret->dirty));
	ret->absent = position[LOCI_SETS_WAYS];
	ret->dirty_absent = dirty[LOCI_SETS_WAYS];
	ret->position[0] = sets->touches - ret->absent;
	ret->dirty[0] = sets->writes - ret->dirty_absent;
	for (unsigned i = 1; i < LOCI_SETS_WAYS; i++) {
		ret->position[0] -= ret->position[i];
		ret->dirty[0] -= ret->dirty[i];
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
		resident(sets->pool.cluster, sets->pool_bytes);
}
