/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and strings of debug information, which may be damaged: nothing is read beyond the end,
 * and once that was tried all further numbers are 0. */
#ifndef LOCI_SYMBOL_DEBUG_BYTES_H
#define LOCI_SYMBOL_DEBUG_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct loci_debug_bytes {
	const uint8_t *at, *end;
	bool is_short;
};

static inline void loci_debug_skip(struct loci_debug_bytes *bytes, uint64_t n)
{
	if (n > (size_t)(bytes->end - bytes->at)) {
		bytes->is_short = true;
		bytes->at = bytes->end;
	} else {
		bytes->at += n;
	}
}

/* Of 1, 2, 4 or 8 bytes, the lowest first. */
static inline uint64_t loci_debug_fixed(struct loci_debug_bytes *bytes, unsigned n)
{
	const uint8_t *from = bytes->at;
	uint64_t value = 0;

	loci_debug_skip(bytes, n);
	if (!bytes->is_short)
		memcpy(&value, from, n);
	return value;
}

static inline uint64_t loci_debug_leb(struct loci_debug_bytes *bytes, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)loci_debug_fixed(bytes, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~(uint64_t)0 << shift;
	return value;
}

/* NULL: it does not end here. */
static inline const char *loci_debug_string(struct loci_debug_bytes *bytes)
{
	const char *text = (const char *)bytes->at;
	const uint8_t *end = memchr(bytes->at, 0, (size_t)(bytes->end - bytes->at));

	if (!end) {
		bytes->is_short = true;
		bytes->at = bytes->end;
		return NULL;
	}
	bytes->at = end + 1;
	return text;
}

#endif
