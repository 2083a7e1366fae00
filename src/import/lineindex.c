// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/lineindex.h"

#include <endian.h>
#include <string.h>

#define ONES 0x0101010101010101ull
#define LOWS 0x7f7f7f7f7f7f7f7full

size_t loci_line_index_scalar(
	const char *data, size_t from, size_t to, uint32_t *index, size_t cap, size_t *ret_scanned)
{
	size_t n = 0, at = from;

	for (; at < to && n + LOCI_LINE_INDEX_SLACK <= cap; at += 8) {
		uint64_t bytes, found;

		memcpy(&bytes, data + at, 8);
		bytes = le64toh(bytes) ^ ONES * '\n';
		/* The top bit of every byte that is zero, and of no other. */
		found = ~(((bytes & LOWS) + LOWS) | bytes | LOWS);
		if (to - at < 8)
			found &= (1ull << 8 * (to - at)) - 1;
		for (; found; found &= found - 1)
			index[n++] = (uint32_t)(at + (unsigned)__builtin_ctzll(found) / 8);
	}
	*ret_scanned = at < to ? at : to;
	return n;
}

size_t loci_line_index(
	const char *data, size_t from, size_t to, uint32_t *index, size_t cap, size_t *ret_scanned)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
		return loci_line_index_avx2(data, from, to, index, cap, ret_scanned);
#endif
	return loci_line_index_scalar(data, from, to, index, cap, ret_scanned);
}
