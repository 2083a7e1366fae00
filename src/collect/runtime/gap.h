/* SPDX-License-Identifier: BSD-2-Clause */
/* Gaps between samples: geometric, so that every reference is one with the same chance. In whole
 * numbers, for code that runs in users' programs must leave their floating-point state alone. */
#ifndef LOCI_COLLECT_RUNTIME_GAP_H
#define LOCI_COLLECT_RUNTIME_GAP_H

#include <stdint.h>

#define LOCI_GAP_LN2 2977044472u /* in 2^-32 */

/* splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t loci_gap_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* -ln(x / 2^64) in 2^-32; x not 0. The logarithm's bits by squaring. */
static inline uint64_t loci_gap_exponential(uint64_t x)
{
	unsigned zeros = (unsigned)__builtin_clzll(x);
	uint64_t y = x << zeros, log2 = (uint64_t)(63 - zeros) << 32; /* y: 2^63 is one */

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1) {
		unsigned __int128 square = (unsigned __int128)y * y;

		if (square >> 127) { /* two or more */
			log2 |= bit;
			y = (uint64_t)(square >> 64);
		} else {
			y = (uint64_t)(square >> 63);
		}
	}
	return (uint64_t)(((unsigned __int128)((64ull << 32) - log2) * LOCI_GAP_LN2) >> 32);
}

/* 1 + floor(E * m), E exponential: geometric with the mean `period` if m = -1 / ln(1 - 1 / period).
 * m as its series goes, in 2^-16. */
static inline uint64_t loci_gap_draw(uint64_t *state, uint64_t period)
{
	uint64_t m = (period << 16) - (1u << 15);

	if (period < 2)
		return 1;
	m -= ((1u << 16) / period) / 12 + ((1u << 16) / period / period) / 24;
	return 1 +
		(uint64_t)(((unsigned __int128)loci_gap_exponential(loci_gap_random(state) | 1) *
				   m) >>
			48);
}

#endif
