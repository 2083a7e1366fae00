// SPDX-License-Identifier: GPL-2.0-or-later
/* Newlines 64 bytes at a time. Eight entries are written whether there are so many or not: a loop
 * that ends after the last one is mispredicted about once a line. */
#ifdef __x86_64__
#include "import/lineindex.h"

#include <immintrin.h>

static uint64_t newlines(const char *data)
{
	const __m256i newline = _mm256_set1_epi8('\n');
	__m256i a = _mm256_loadu_si256((const __m256i *)data);
	__m256i b = _mm256_loadu_si256((const __m256i *)(data + 32));
	uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, newline));
	uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, newline));

	return low | (uint64_t)high << 32;
}

size_t loci_line_index_avx2(
	const char *data, size_t from, size_t to, uint32_t *index, size_t cap, size_t *ret_scanned)
{
	size_t n = 0, at = from;

	for (; at < to && n + LOCI_LINE_INDEX_SLACK <= cap; at += 64) {
		uint64_t found = newlines(data + at);
		uint32_t *out = index + n;

		if (to - at < 64)
			found &= (1ull << (to - at)) - 1;
		n += (unsigned)__builtin_popcountll(found);
		do {
			for (unsigned i = 0; i < 8; i++) {
				*out++ = (uint32_t)(at + _tzcnt_u64(found));
				found = _blsr_u64(found);
			}
		} while (found);
	}
	*ret_scanned = at < to ? at : to;
	return n;
}
#endif
