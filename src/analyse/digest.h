/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two words that stand for bytes as the key of a map. With some 10^6 keys the odds of two alike are
 * 10^-26: they are taken for the bytes themselves. */
#ifndef LOCI_ANALYSE_DIGEST_H
#define LOCI_ANALYSE_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct loci_digest {
	uint64_t a, b;
};

static inline struct loci_digest loci_digest_word(struct loci_digest d, uint64_t word)
{
	d.a = (d.a ^ word) * 0x9e3779b97f4a7c15ull;
	d.a ^= d.a >> 32;
	d.b = (d.b + word) * 0xd6e8feb86659fd93ull;
	d.b ^= d.b >> 29;
	return d;
}

static inline struct loci_digest loci_digest_text(struct loci_digest d, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	d = loci_digest_word(d, text ? n : UINT64_MAX);
	for (size_t i = 0; i < n; i += 8) {
		uint64_t word = 0;

		memcpy(&word, text + i, n - i < 8 ? n - i : 8);
		d = loci_digest_word(d, word);
	}
	return d;
}

#endif
