/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Touches without repetitions, for the kernels of the per-set engine: a repetition moves nothing,
 * and whether one comes is hard to predict. A kernel may define SETS_GATHER and
 *
 *	gather_64(visits, block, is_write)	adds 64 touches; the block before the first of them
 *						is that of the last visit */
#ifndef LOCI_ENGINE_SETS_VISITS_H
#define LOCI_ENGINE_SETS_VISITS_H

#include "engine/sets_state.h"

#include <string.h>

/* Without branches. */
static inline void gather_each(
	struct sets_visits *visits, const uint64_t *block, const uint8_t *is_write, size_t n)
{
	unsigned last = visits->n - 1;
	uint64_t before = visits->block[last];
	uint8_t write = visits->is_write[last];

	for (size_t i = 0; i < n; i++) {
		unsigned other = block[i] != before;

		before = block[i];
		last += other;
		write = (uint8_t)((write & (other - 1)) | is_write[i]);
		visits->block[last] = before;
		visits->is_write[last] = write;
	}
	visits->n = last + 1;
}

static inline void gather(struct sets_visits *visits, uint64_t last, const uint64_t *block,
	const uint8_t *is_write, size_t n)
{
	size_t at = 0;

	visits->block[0] = last;
	visits->is_write[0] = 0;
	visits->n = 1;
#if defined(SETS_GATHER)
	if (n > 64) {
		gather_each(visits, block, is_write, 1);
		for (at = 1; at + 64 <= n; at += 64)
			gather_64(visits, block + at, is_write + at);
	}
#endif
	gather_each(visits, block + at, is_write + at, n - at);
}

/* How many of n are set, eight at once. */
static inline uint64_t count_writes(const uint8_t *is_write, size_t n)
{
	uint64_t writes = 0, eight;

	for (; n % 8; n--)
		writes += is_write[n - 1];
	for (size_t i = 0; i < n; i += 8) {
		memcpy(&eight, is_write + i, 8);
		writes += eight * 0x0101010101010101u >> 56;
	}
	return writes;
}

#endif
