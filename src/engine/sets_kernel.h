/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel of the per-set engine, included once per instruction set by a file that defines
 *   list_match(cluster, list, bytes)   bits of the slots whose top bytes are bytes[7] and bytes[6]
 *   list_oldest(cluster, list)         the slot with the smallest stamp
 *   list_stamp(cluster, list, slot, stamp)   set it
 *   list_name(cluster, list, slot, bytes)    set the top bytes
 *   cluster_newer(cluster, stamp)      how many slots of each list have a larger stamp, a byte each
 *   head_match(head, block), head_newer(head, stamp), head_same(head, block, mask)
 *                                      bits of the slots that hold block, that have a larger
 *                                      stamp, that agree with block under mask
 *   head_stamp(head, slot, stamp)      set it
 *   settle(positions, dirty, write)    positions, at most 64, and above them the dirty levels; sets
 *                                      the block's new dirty bytes
 * and SETS_GROUP, the function's name. Stamps are stored by whole vectors where they are loaded by
 * whole vectors: a load waits long for a narrower store. */
#include "engine/sets_group.h"

#include <stdbool.h>

#define always_inline inline __attribute__((always_inline))

static always_inline uint64_t cluster_touch(const struct sets_group *group,
	struct sets_cluster *cluster, const uint64_t *block, uint32_t write)
{
	unsigned list = sets_list_of(group, *block);
	uint64_t match = list_match(cluster, list, (const uint8_t *)block);
	uint32_t clock = ++cluster->clock;
	unsigned slot;

	if (__builtin_expect(clock > SETS_LAST_STAMP, 0)) {
		sets_cluster_renumber(cluster);
		clock = ++cluster->clock;
	}
	for (; match; match &= match - 1) {
		uint32_t newer, fine, middle, coarse;
		uint16_t stamp;

		slot = (unsigned)__builtin_ctzll(match);
		stamp = cluster->stamp[list][slot];
		if (__builtin_expect((cluster->block[list][slot] != *block) | !stamp, 0))
			continue;
		newer = cluster_newer(cluster, stamp);
		coarse = newer * 0x01010101 >> 24;
		newer = newer >> 8 * list | newer << (-(8 * list) & 31);
		fine = newer & 0xff;
		middle = (newer >> 16 & 0xff) + fine;
		list_stamp(cluster, list, slot, (uint16_t)clock);
		return settle(
			fine << 16 | middle << 8 | coarse, &cluster->dirty[list][slot], write);
	}
	slot = list_oldest(cluster, list);
	cluster->block[list][slot] = *block;
	cluster->dirty[list][slot] = 0;
	list_name(cluster, list, slot, (const uint8_t *)block);
	list_stamp(cluster, list, slot, (uint16_t)clock);
	return settle(SETS_ABSENT, &cluster->dirty[list][slot], write);
}

static always_inline uint64_t head_touch(
	struct sets_group *group, struct sets_head *head, const uint64_t *block, uint32_t write)
{
	unsigned taken = head_newer(head, 0);
	unsigned match = head_match(head, *block) & taken, newer, slot;
	uint32_t positions = SETS_ABSENT;

	if (match) {
		slot = (unsigned)__builtin_ctz(match);
		newer = head_newer(head, head->stamp[slot]);
		positions = (uint32_t)__builtin_popcount(newer);
		newer &= head_same(head, *block, group->level_mask[1]);
		positions |= (uint32_t)__builtin_popcount(newer) << 8;
		newer &= head_same(head, *block, group->level_mask[2]);
		positions |= (uint32_t)__builtin_popcount(newer) << 16;
	} else if (taken == (1 << SETS_HEAD_SLOTS) - 1) {
		return cluster_touch(group, sets_head_promote(group, head), block, write);
	} else {
		slot = (unsigned)__builtin_ctz(~taken);
		head->block[slot] = *block;
	}
	if (__builtin_expect(head->clock == SETS_LAST_STAMP, 0))
		sets_head_renumber(head);
	head_stamp(head, slot, (uint16_t)++head->clock);
	return settle(positions, &head->dirty[slot], write);
}

static always_inline void look_ahead(const struct sets_group *group, const uint64_t *block)
{
	uint64_t later = block[SETS_AHEAD_HEAD] & group->cluster_mask;
	uint64_t soon = block[SETS_AHEAD_CLUSTER];
	uint32_t number = group->head[soon & group->cluster_mask].cluster;
	const struct sets_cluster *cluster;
	unsigned list = sets_list_of(group, soon);

	__builtin_prefetch(&group->head[later].block, 1);
	__builtin_prefetch(&group->head[later].dirty, 1);
	if (!number)
		return;
	cluster = &group->pool->cluster[number - 1];
	for (unsigned i = 0; i < SETS_LISTS; i++) {
		__builtin_prefetch(&cluster->stamp[i][0], 1);
		__builtin_prefetch(&cluster->stamp[i][LOCI_SETS_WAYS / 2], 1);
	}
	__builtin_prefetch(cluster->high[list], 1);
	__builtin_prefetch(cluster->next[list], 1);
	__builtin_prefetch(&cluster->clock, 1);
}

static always_inline void search(struct sets_group *group, struct sets_batch *batch, bool far)
{
	struct sets_cluster *clusters = group->pool->cluster;

	for (size_t i = 0; i < batch->n; i++) {
		const uint64_t *block = &batch->block[i];
		struct sets_head *head = &group->head[*block & group->cluster_mask];

		if (far)
			look_ahead(group, block);
		if (head->cluster)
			batch->found[i] = cluster_touch(
				group, &clusters[head->cluster - 1], block, batch->write[i]);
		else
			batch->found[i] = head_touch(group, head, block, batch->write[i]);
	}
}

/* Never a branch: it would be mispredicted too often. */
static always_inline uint32_t choose(uint32_t mask, uint32_t yes, uint32_t no)
{
	return no ^ ((yes ^ no) & mask);
}

/* Counts what was found, and keeps the touches that change something at finer levels: not those
 * whose block is the most recent of its set and, if written, clean at this size and so at all. */
static always_inline void record(struct sets_group *group, struct sets_batch *batch)
{
	size_t kept = 0, n = batch->n;

	for (size_t i = 0; i < n; i++) {
		uint32_t position = (uint32_t)batch->found[i], write = batch->write[i];
		uint32_t dirty = (uint32_t)(batch->found[i] >> 32),
			 marked = dirty | (write & 0x808080);

		group->position[0][position & 0xff]++;
		group->position[1][position >> 8 & 0xff]++;
		group->position[2][position >> 16]++;
		group->dirty[0][marked & 0xff]++;
		group->dirty[1][marked >> 8 & 0xff]++;
		group->dirty[2][marked >> 16]++;
		batch->block[kept] = batch->block[i];
		batch->write[kept] = write;
		kept += choose(write, dirty, position) >= SETS_FINE;
	}
	batch->n = kept;
}

/* Fetching ahead pays once a group outgrows the machine's caches. */
#define SETS_NEAR_BITS 6

void SETS_GROUP(struct sets_group *group, struct sets_batch *batch)
{
	if (group->base > SETS_NEAR_BITS)
		search(group, batch, true);
	else
		search(group, batch, false);
	record(group, batch);
}
