/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel of the per-set engine, included once per instruction set by a file that defines
 * SETS_GROUP, the function's name, and
 *
 *	list_match(cluster, list, bytes)	bits of the list's slots with these two top bytes
 *	list_name(cluster, list, slot, bytes)	sets the two bytes
 *	cluster_renew(rank, list, slot)		makes the slot the newest; returns where it was
 *	cluster_replace(rank, list, ret_rank)	the same of the list's oldest; returns which it was,
 *						and its rank
 *	head_match(head, block)			bits of the slots that hold block,
 *	head_newer(head, stamp)			that have a larger stamp,
 *	head_same(head, block, mask)		that agree with block under mask
 *	head_stamp(head, slot, stamp)		sets it
 *	settle(positions, dirty, write)		positions, at most 64, and above them the dirty
 *						levels; sets the block's new dirty bytes
 *
 * Ranks and stamps are stored by whole vectors where they are loaded by whole vectors: a load waits
 * long for a narrower store. */
#include "engine/sets_group.h"

#include <stdbool.h>

#define always_inline inline __attribute__((always_inline))

/* What a search needs of a group, where the compiler sees that it does not change. */
struct view {
	int base;
	uint64_t cluster_mask;
	struct sets_head *head;
	struct sets_ranks *ranks;
	struct sets_cluster *cluster;
	struct sets_group *group;
};

static always_inline uint64_t cluster_touch(
	const struct view *view, struct sets_head *head, const uint64_t *block, uint32_t write)
{
	struct sets_cluster *cluster = &view->cluster[head->cluster - 1];
	unsigned list = sets_list_of(view->base, *block), slot;
	uint8_t *rank = view->ranks[head->cluster - 1].of;
	uint64_t match = list_match(cluster, list, (const uint8_t *)block);
	uint32_t last;

	for (; match; match &= match - 1) {
		uint32_t positions;

		slot = (unsigned)__builtin_ctzll(match);
		if (__builtin_expect((cluster->block[list + slot] != *block) |
				    (rank[list + slot] >= head->clock),
			    0))
			continue;
		positions = cluster_renew(rank, list, slot);
		return settle(positions, &cluster->dirty[list + slot], write);
	}
	slot = cluster_replace(rank, list, &last);
	head->clock += last >= head->clock;
	list_name(cluster, list, slot, (const uint8_t *)block);
	cluster->block[list + slot] = *block;
	return settle(SETS_ABSENT, &cluster->dirty[list + slot], write);
}

static always_inline uint64_t head_touch(
	const struct view *view, struct sets_head *head, const uint64_t *block, uint32_t write)
{
	unsigned taken = head_newer(head, 0);
	unsigned match = head_match(head, *block) & taken, newer, slot;
	uint32_t positions = SETS_ABSENT;

	if (match) {
		slot = (unsigned)__builtin_ctz(match);
		newer = head_newer(head, head->stamp[slot]);
		positions = (uint32_t)__builtin_popcount(newer);
		newer &= head_same(head, *block, view->group->level_mask[1]);
		positions |= (uint32_t)__builtin_popcount(newer) << 8;
		newer &= head_same(head, *block, view->group->level_mask[2]);
		positions |= (uint32_t)__builtin_popcount(newer) << 16;
	} else if (taken == (1 << SETS_HEAD_SLOTS) - 1) {
		sets_head_promote(view->group, head);
		return cluster_touch(view, head, block, write);
	} else {
		slot = (unsigned)__builtin_ctz(~taken);
		head->block[slot] = *block;
	}
	if (__builtin_expect(head->clock == SETS_LAST_STAMP, 0))
		sets_head_renumber(head);
	head_stamp(head, slot, (uint16_t)++head->clock);
	return settle(positions, &head->dirty[slot], write);
}

static always_inline void look_ahead(const struct view *view, const uint64_t *block)
{
	uint64_t later = block[SETS_AHEAD_HEAD] & view->cluster_mask;
	uint64_t soon = block[SETS_AHEAD_CLUSTER];
	uint32_t number = view->head[soon & view->cluster_mask].cluster;
	unsigned list = sets_list_of(view->base, soon);

	__builtin_prefetch(&view->head[later].block, 1);
	__builtin_prefetch(&view->head[later].dirty, 1);
	if (!number)
		return;
	for (unsigned i = 0; i < SETS_SLOTS; i += LOCI_SETS_WAYS)
		__builtin_prefetch(&view->ranks[number - 1].of[i], 1);
	__builtin_prefetch(&view->cluster[number - 1].high[list], 1);
	__builtin_prefetch(&view->cluster[number - 1].next[list], 1);
}

static always_inline void search(struct sets_group *group, struct sets_batch *batch, bool far)
{
	const struct view view = { group->base, group->cluster_mask, group->head,
		group->pool->ranks, group->pool->cluster, group };

	for (size_t i = 0, n = batch->n; i < n; i++) {
		const uint64_t *block = &batch->block[i];
		struct sets_head *head = &view.head[*block & view.cluster_mask];

		if (far)
			look_ahead(&view, block);
		if (head->cluster)
			batch->found[i] = cluster_touch(&view, head, block, batch->write[i]);
		else
			batch->found[i] = head_touch(&view, head, block, batch->write[i]);
	}
}

/* Never a branch: it would be mispredicted too often. */
static always_inline uint32_t choose(uint32_t mask, uint32_t yes, uint32_t no)
{
	return no ^ ((yes ^ no) & mask);
}

/* Each byte the lower of the two; none is above 127. */
static inline uint32_t lower(uint32_t a, uint32_t b)
{
	uint32_t not_less = ((a | 0x808080) - b) & 0x808080;
	uint32_t mask = (not_less << 1) - (not_less >> 7);

	return a ^ ((a ^ b) & mask);
}

/* Straddling references, of whom both halves are in the batch or at its edge. */
static void count_halves(struct sets_group *group, const struct sets_batch *batch)
{
	for (size_t i = 0; i < batch->n_halves; i++) {
		size_t at = batch->half[i];
		uint32_t first = at ? (uint32_t)batch->found[at - 1] : group->before;
		uint32_t position = lower(first, (uint32_t)batch->found[at]);

		group->both[0][position & 0xff]++;
		group->both[1][position >> 8 & 0xff]++;
		group->both[2][position >> 16]++;
	}
}

/* Keeps the halves that stay together, where they have gone. */
static void keep_halves(struct sets_batch *batch)
{
	const uint16_t *place = batch->place;
	size_t kept = 0;

	for (size_t i = 0; i < batch->n_halves; i++) {
		size_t at = batch->half[i];
		bool first = !at || place[at - 1] != place[at];

		batch->half[kept] = place[at];
		kept += first && place[at] != place[at + 1];
	}
	batch->n_halves = kept;
}

/* Counts what was found, and keeps the touches that change something at finer levels: not those
 * whose block is the most recent of its set and, if written, clean at this size and so at all. */
static always_inline void record(struct sets_group *group, struct sets_batch *batch)
{
	size_t kept = 0, written = 0, n = batch->n;

	if (batch->n_halves)
		count_halves(group, batch);
	group->before = batch->has_last ? (uint32_t)batch->found[n - 1] : 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t position = (uint32_t)batch->found[i], write = batch->write[i];
		uint32_t dirty = (uint32_t)(batch->found[i] >> 32);

		group->position[0][position & 0xff]++;
		group->position[1][position >> 8 & 0xff]++;
		group->position[2][position >> 16]++;
		batch->written[written] = dirty;
		written += write & 1;
		batch->place[i] = (uint16_t)kept;
		batch->block[kept] = batch->block[i];
		batch->write[kept] = write;
		kept += choose(write, dirty, position) >= SETS_FINE;
	}
	for (size_t i = 0; i < written; i++) {
		group->dirty[0][batch->written[i] & 0xff]++;
		group->dirty[1][batch->written[i] >> 8 & 0xff]++;
		group->dirty[2][batch->written[i] >> 16]++;
	}
	batch->place[n] = (uint16_t)kept;
	if (batch->n_halves)
		keep_halves(batch);
	batch->has_last &= batch->place[n - 1] != kept;
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
