// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel without instructions of any particular machine: 16-byte vectors as the
 * compiler offers them, which every baseline has or imitates. Little endian. */
#include "engine/sets_group.h"

#include <string.h>

#define SETS_GROUP sets_group_scalar

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint64_t longs2 __attribute__((vector_size(16)));

#define ONES 0x0101010101010101u

static inline uint64_t list_match(
	const struct sets_cluster *cluster, unsigned list, const uint8_t *bytes)
{
	static const bytes16 bit = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	const bytes16 *high = (const bytes16 *)(cluster->high + list);
	const bytes16 *next = (const bytes16 *)(cluster->next + list);
	uint64_t match = 0;

	for (unsigned i = 0; i < LOCI_SETS_WAYS / 16; i++) {
		longs2 found = (longs2)((bytes16)(high[i] == bytes[7]) &
			(bytes16)(next[i] == bytes[6]) & bit);

		/* The sum of a word's bytes is the byte of its bits. */
		match |= (found[0] * ONES >> 56 | found[1] * ONES >> 56 << 8) << 16 * i;
	}
	return match;
}

static inline unsigned list_oldest(const uint8_t *rank)
{
	const bytes16 *ranks = (const bytes16 *)rank;
	bytes16 most = ranks[0];
	uint8_t oldest;

	for (unsigned i = 1; i < LOCI_SETS_WAYS / 16; i++) {
		bytes16 more = (bytes16)(ranks[i] > most);

		most = (ranks[i] & more) | (most & ~more);
	}
	oldest = most[0];
	for (unsigned i = 1; i < 16; i++)
		oldest = most[i] > oldest ? most[i] : oldest;
	for (unsigned i = 0; i < LOCI_SETS_WAYS / 16; i++) {
		longs2 found = (longs2)(ranks[i] == oldest);

		if (found[0])
			return 16 * i + (unsigned)__builtin_ctzll(found[0]) / 8;
		if (found[1])
			return 16 * i + 8 + (unsigned)__builtin_ctzll(found[1]) / 8;
	}
	__builtin_unreachable();
}

/* Adds one to the lower of 64 ranks; returns how many there are. */
static inline uint32_t raise(uint8_t *rank, uint8_t than)
{
	bytes16 *ranks = (bytes16 *)rank, minus = { 0 };
	longs2 sum;

	for (unsigned i = 0; i < LOCI_SETS_WAYS / 16; i++) {
		bytes16 lower = (bytes16)(ranks[i] < than);

		ranks[i] -= lower;
		minus += lower;
	}
	sum = (longs2)-minus;
	return (uint32_t)((sum[0] + sum[1]) * ONES >> 56);
}

static inline uint32_t cluster_renew(uint8_t *rank, unsigned list, unsigned slot)
{
	static const bytes16 lane = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	bytes16 *own = (bytes16 *)(rank + list) + slot / 16;
	uint8_t coarse = rank[list + slot];
	uint32_t fine = raise(rank + list, coarse);
	uint32_t middle = fine + raise(rank + (list ^ 128), coarse);

	raise(rank + (list ^ 64), coarse);
	raise(rank + (list ^ 192), coarse);
	*own &= (bytes16)(lane != (uint8_t)(slot % 16));
	return fine << 16 | middle << 8 | coarse;
}

static inline unsigned cluster_replace(uint8_t *rank, unsigned list, uint32_t *ret_rank)
{
	unsigned slot = list_oldest(rank + list);

	*ret_rank = rank[list + slot];
	cluster_renew(rank, list, slot);
	return slot;
}

static inline void list_name(
	struct sets_cluster *cluster, unsigned list, unsigned slot, const uint8_t *bytes)
{
	cluster->high[list + slot] = bytes[7];
	cluster->next[list + slot] = bytes[6];
}

static inline unsigned head_same(const struct sets_head *head, uint64_t block, uint64_t mask)
{
	unsigned same = 0;

	for (unsigned i = 0; i < SETS_HEAD_SLOTS; i++)
		same |= (unsigned)!((head->block[i] ^ block) & mask) << i;
	return same;
}

static inline unsigned head_match(const struct sets_head *head, uint64_t block)
{
	return head_same(head, block, UINT64_MAX);
}

static inline unsigned head_newer(const struct sets_head *head, uint16_t stamp)
{
	unsigned newer = 0;

	for (unsigned i = 0; i < SETS_HEAD_SLOTS; i++)
		newer |= (unsigned)(head->stamp[i] > stamp) << i;
	return newer;
}

static inline void head_stamp(struct sets_head *head, unsigned slot, uint16_t stamp)
{
	head->stamp[slot] = stamp;
}

/* The larger of each byte; none is above 255 - 128. */
static inline uint32_t larger(uint32_t a, uint32_t b)
{
	uint32_t not_less = ((a | 0x808080) - b) & 0x808080;
	uint32_t mask = (not_less << 1) - (not_less >> 7);

	return b ^ ((a ^ b) & mask);
}

static inline uint64_t settle(uint32_t positions, uint32_t *dirty, uint32_t write)
{
	/* Bytes of 64 or more have one of the two top bits. */
	uint32_t over = ((positions >> 7 | positions >> 6) & 0x010101) * 0xff;
	uint32_t position = (positions & ~over) | (SETS_ABSENT & over);
	uint32_t level = larger(position, *dirty);

	*dirty = level & ~write;
	return position | (uint64_t)level << 32;
}

#include "engine/sets_kernel.h"
