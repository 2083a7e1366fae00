/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in text, without a call or a branch per digit. All functions read up to 16 bytes before
 * the end of the digits, whatever stands there: loci_input's buffer allows it. */
#ifndef LOCI_IMPORT_DIGITS_H
#define LOCI_IMPORT_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LOCI_BYTES_OF(b) (0x0101010101010101ull * (b))

/* Eight hexadecimal digits, the first in the lowest byte, as their value; *bad collects a set bit
 * for anything else. In ASCII a letter has bit 6 and its low nibble counts from 1, a digit has bits
 * 5 and 4. */
static inline uint64_t loci_hex8(uint64_t text, uint64_t *bad)
{
	uint64_t letter = text >> 6 & LOCI_BYTES_OF(1);
	uint64_t value = (text & LOCI_BYTES_OF(0x0f)) + letter * 9;

	*bad |= text & LOCI_BYTES_OF(0x80);
	*bad |= value & LOCI_BYTES_OF(0x10);                                   /* g.. */
	*bad |= ((value + LOCI_BYTES_OF(6)) >> 4 ^ letter) & LOCI_BYTES_OF(1); /* @ ` :.. */
	*bad |= ~(text >> 4 ^ letter) & LOCI_BYTES_OF(1);                      /* wrong column */
	*bad |= ~(text >> 5 | letter) & LOCI_BYTES_OF(1);
	value = (value << 4 | value >> 8) & 0x00ff00ff00ff00ffull;
	value = (value << 8 | value >> 16) & 0x0000ffff0000ffffull;
	return (value << 16 | value >> 32) & 0xffffffffull;
}

/* The eight bytes that end before end, all but the last n_digits replaced by '0'. */
static inline uint64_t loci_digits8(const char *end, size_t n_digits)
{
	uint64_t text, keep = n_digits >= 8 ? ~0ull : ~(~0ull >> 8 * n_digits);

	memcpy(&text, end - 8, 8);
	return (le64toh(text) & keep) | (LOCI_BYTES_OF('0') & ~keep);
}

/* begin..end is 1 to 16 hexadecimal digits and nothing else. */
static inline bool loci_hex(const char *begin, const char *end, uint64_t *ret)
{
	size_t n = (size_t)(end - begin);
	uint64_t low, high, bad = 0;

	if (__builtin_expect(n - 1 >= 16, 0))
		return false;
	low = loci_hex8(loci_digits8(end, n), &bad);
	high = loci_hex8(loci_digits8(end - 8, n > 8 ? n - 8 : 0), &bad);
	*ret = high << 32 | low;
	return !bad;
}

/* The same with leading zeros beyond 16 digits, and with 0x before them where there is one. False
 * for what is no number and for what 64 bits do not hold: *ret_over tells which. */
static inline bool loci_hex_long(const char *begin, const char *end, uint64_t *ret, bool *ret_over)
{
	*ret_over = false;
	if (end - begin > 2 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X'))
		begin += 2;
	while (end - begin > 16) {
		uint64_t ignored;

		if (!loci_hex(begin, begin + 1, &ignored))
			break;
		if (*begin++ != '0')
			*ret_over = true;
	}
	if (loci_hex(begin, end, ret))
		return !*ret_over;
	return *ret_over = false;
}

/* Decimal digits and nothing else, with the same distinction. */
static inline bool loci_decimal(const char *begin, const char *end, uint64_t *ret, bool *ret_over)
{
	uint64_t value = 0;

	*ret_over = false;
	if (begin == end)
		return false;
	for (; begin < end; begin++) {
		unsigned digit = (unsigned char)*begin - '0';

		if (digit > 9)
			return *ret_over = false;
		*ret_over |= __builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, digit, &value);
	}
	*ret = value;
	return !*ret_over;
}

#endif
