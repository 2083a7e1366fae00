// SPDX-License-Identifier: GPL-2.0-or-later
/* The per-set kernel in plain C. Searches take eight bytes at a time in one word; the loops over
 * stamps have no branches, so that a compiler can use whatever vectors the baseline has. Little
 * endian. */
#include "engine/sets_group.h"

#include <string.h>

#define SETS_GROUP sets_group_scalar

#define ONES  0x0101010101010101u
#define HIGHS 0x8080808080808080u

static inline uint64_t word_at(const uint8_t *plane, unsigned i)
{
	uint64_t word;

	memcpy(&word, plane + 8 * i, sizeof(word));
	return word;
}

/* Candidates: a byte equal to 1 above a match may be taken for one too. */
static inline uint64_t list_match(
	const struct sets_cluster *cluster, unsigned list, const uint8_t *bytes)
{
	uint64_t high = bytes[7] * ONES, next = bytes[6] * ONES, match = 0;

	for (unsigned i = 0; i < LOCI_SETS_WAYS / 8; i++) {
		uint64_t differ = (word_at(cluster->high[list], i) ^ high) |
			(word_at(cluster->next[list], i) ^ next);
		uint64_t zero = (differ - ONES) & ~differ & HIGHS;

		/* The high bits of the bytes, gathered in the top byte. */
		match |= (zero >> 7) * 0x0102040810204080u >> 56 << 8 * i;
	}
	return match;
}

static inline uint32_t list_newer(const uint16_t *stamp, uint16_t limit)
{
	int16_t newer = 0;

	for (unsigned i = 0; i < LOCI_SETS_WAYS; i++)
		newer = (int16_t)(newer + ((int16_t)stamp[i] > (int16_t)limit));
	return (uint32_t)newer;
}

static inline uint32_t cluster_newer(const struct sets_cluster *cluster, uint16_t stamp)
{
	return list_newer(cluster->stamp[0], stamp) | list_newer(cluster->stamp[1], stamp) << 8 |
		list_newer(cluster->stamp[2], stamp) << 16 |
		list_newer(cluster->stamp[3], stamp) << 24;
}

static inline unsigned list_oldest(const struct sets_cluster *cluster, unsigned list)
{
	const uint16_t *stamps = cluster->stamp[list];
	unsigned oldest = 0;

	for (unsigned i = 1; i < LOCI_SETS_WAYS; i++)
		if (stamps[i] < stamps[oldest])
			oldest = i;
	return oldest;
}

static inline void list_stamp(
	struct sets_cluster *cluster, unsigned list, unsigned slot, uint16_t stamp)
{
	cluster->stamp[list][slot] = stamp;
}

static inline void list_name(
	struct sets_cluster *cluster, unsigned list, unsigned slot, const uint8_t *bytes)
{
	cluster->high[list][slot] = bytes[7];
	cluster->next[list][slot] = bytes[6];
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

static inline uint64_t settle(uint32_t positions, uint32_t *dirty, uint32_t write)
{
	uint32_t capped = 0, level = 0;

	for (unsigned shift = 0; shift < 8 * SETS_LEVELS; shift += 8) {
		uint32_t position = positions >> shift & 0xff, was = *dirty >> shift & 0xff;

		position = position < LOCI_SETS_WAYS ? position : LOCI_SETS_WAYS;
		capped |= position << shift;
		level |= (was > position ? was : position) << shift;
	}
	*dirty = level & ~write;
	return capped | (uint64_t)level << 32;
}

#include "engine/sets_kernel.h"
