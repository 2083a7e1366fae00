// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel without instructions of any particular machine: 16-byte vectors as the
 * compiler offers them, which every baseline has or imitates. Little endian. */
#include "engine/sets_group.h"

#include <string.h>

#define SETS_GROUP sets_group_scalar

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int16_t words8 __attribute__((vector_size(16)));
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

static inline uint32_t list_newer(const uint16_t *stamp, uint16_t limit)
{
	const words8 *stamps = (const words8 *)stamp;
	words8 minus = { 0 };
	uint64_t half[2];

	for (unsigned i = 0; i < LOCI_SETS_WAYS / 8; i++)
		minus += stamps[i] > (int16_t)limit;
	minus = -minus;
	memcpy(half, &minus, sizeof(half));
	return (uint32_t)((half[0] + half[1]) * 0x0001000100010001u >> 48);
}

static inline unsigned list_oldest(const uint16_t *stamp)
{
	const words8 *stamps = (const words8 *)stamp;
	words8 least = stamps[0];
	int16_t oldest;

	for (unsigned i = 1; i < LOCI_SETS_WAYS / 8; i++) {
		words8 less = stamps[i] < least;

		least = (stamps[i] & less) | (least & ~less);
	}
	oldest = least[0];
	for (unsigned i = 1; i < 8; i++)
		oldest = least[i] < oldest ? least[i] : oldest;
	for (unsigned i = 0; i < LOCI_SETS_WAYS / 8; i++) {
		longs2 found = (longs2)(stamps[i] == oldest);

		if (found[0])
			return 8 * i + (unsigned)__builtin_ctzll(found[0]) / 16;
		if (found[1])
			return 8 * i + 4 + (unsigned)__builtin_ctzll(found[1]) / 16;
	}
	__builtin_unreachable();
}

static inline void list_stamp(uint16_t *stamp, unsigned slot, uint16_t value)
{
	static const words8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
	words8 *stamps = (words8 *)stamp + slot / 8;
	words8 at = lane == (int16_t)(slot % 8);

	*stamps = (*stamps & ~at) | (at & (int16_t)value);
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
